/** A database that crashes under load, and a master that another one has deposed. */
import type { HealthView } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { describeSystem } from '../helpers/system/system.ts';
import { submitAllTheTime } from '../helpers/system/load.ts';
import { eventually } from '../helpers/system/wait.ts';

describeSystem(
  'a database',
  ({ start, mariadb }) => {
    it('that is killed under load loses no accepted task and no attempt, and the master goes on', async function () {
      const server = mariadb();
      if (server?.kill === null || server?.restart === null || server === null) return this.skip();
      const system = await start();
      const executor = await system.executor({ id: 'a' });
      const running = await system.submit([[{ hold: true }]]);
      await system.started(running);
      const load = submitAllTheTime(system, { type: 'nobody' });
      await eventually('a hundred tasks', () => load.accepted.length >= 100);

      await server.kill();
      const killedAt = Date.now();
      await eventually('submits are refused', () => load.refused.length > 0);
      await eventually('the outage outlasts the lease', () => Date.now() - killedAt > 6_500);
      const statusOf = async (path: string) => (await fetch(system.url + path)).status;
      expect(await statusOf('/livez')).to.equal(200);
      expect(await statusOf(`/scheduler/v2/task/${running}`)).to.equal(503);
      const lists = Array.from({ length: 50 }, () => statusOf('/scheduler/v2/tasks'));
      expect(new Set(await Promise.all(lists))).to.deep.equal(new Set([503]));
      await server.restart();
      const count = load.accepted.length;
      await eventually('submits are accepted again', () => load.accepted.length > count + 50);
      await load.stop();

      expect(new Set(load.refused.map(({ status }) => status))).to.deep.equal(new Set([503]));
      expect(load.refused.every(({ retryAfter }) => Number(retryAfter) >= 1)).to.equal(true);
      expect(load.unanswered).to.deep.equal([]);
      const linesOf = (what: string) =>
        system.master.lines.filter(({ fields }) => fields['msg'] === what);
      expect(linesOf('request put off').length, 'not one for each').to.be.at.most(2);
      const back = linesOf('the store answers again').map(({ fields }) => fields);
      const longest = back.find(({ away_ms }) => Number(away_ms) >= 6_000);
      expect(longest?.['refused_count']).to.be.at.least(50);
      const stored = new Set<string>();
      for await (const { task_id } of system.client.list({ limit: 200 })) stored.add(task_id);
      expect(load.accepted.filter((taskId) => !stored.has(taskId))).to.deep.equal([]);
      executor.write(running);
      expect(await system.ended(running)).to.include({ state: 'succeeded', attempt: 1 });
      expect(system.runs(running)).to.have.length(1);
    });

    it('that is frozen is noticed, and everything goes on by itself once it answers', async function () {
      const { freeze, thaw } = mariadb() ?? {};
      if (!freeze || !thaw) return this.skip();
      const system = await start();
      const executor = await system.executor({ id: 'a' });
      const running = await system.submit([[{ hold: true }]]);
      await system.started(running);
      const load = submitAllTheTime(system, { type: 'nobody' });
      await eventually('a hundred tasks', () => load.accepted.length >= 100);

      await freeze();
      try {
        await eventually('it is not ready', async () => {
          return (await fetch(`${system.url}/readyz`)).status === 503;
        });
        const unknown = await eventually('a submit is answered', () =>
          load.refused.find(({ body }) => String(body['detail']).includes('unknown')),
        );
        expect(unknown.status).to.equal(503);
        expect(unknown.body['detail']).to.include('with the same id');
        const read = await fetch(`${system.url}/scheduler/v2/task/${running}`);
        expect(read.status).to.equal(503);
        const health = await fetch(`${system.url}/scheduler/v2/health`);
        const said = (await health.json()) as HealthView;
        expect([health.status, said.status, said.findings[0]?.kind]).to.deep.equal([
          200,
          'stopped',
          'store_away',
        ]);
        expect(said.figures.fresh).to.equal(false);
      } finally {
        thaw();
      }
      const count = load.accepted.length;
      await eventually('submits are accepted again', () => load.accepted.length > count + 50);
      await load.stop();

      const stored = new Set<string>();
      for await (const { task_id } of system.client.list({ limit: 200 })) stored.add(task_id);
      expect(load.accepted.filter((taskId) => !stored.has(taskId))).to.deep.equal([]);
      expect(load.unanswered).to.deep.equal([]);
      const rebuilt = system.master.lines.filter(({ fields }) => fields['event'] === 'rebuild');
      expect(rebuilt, 'its commit was waited for').to.deep.equal([]);
      executor.write(running);
      expect(await system.ended(running)).to.include({ state: 'succeeded', attempt: 1 });
    });

    it('that was away does not keep a master from stopping in order', async function () {
      const server = mariadb();
      if (server?.kill === null || server?.restart === null || server === null) return this.skip();
      const system = await start();
      const load = submitAllTheTime(system, { type: 'nobody' });
      await eventually('a hundred tasks', () => load.accepted.length >= 100);
      await server.kill();
      await eventually('submits are refused', () => load.refused.length > 0);
      await server.restart();
      const count = load.accepted.length;
      await eventually('submits are accepted again', () => load.accepted.length > count);
      await load.stop();

      const { master } = system;
      expect((await master.end('SIGTERM')).code).to.equal(0);
      expect(master.tail()).not.to.include('stopped without it');
    });

    for (const [what, freezesBefore] of [
      ['works', false],
      ['begins', true],
    ] as const) {
      it(`that is frozen keeps a master that ${what} no longer than seconds from stopping`, async function () {
        const { freeze, thaw } = mariadb() ?? {};
        if (!freeze || !thaw) return this.skip();
        const system = await start();
        await system.executor({ id: 'a' });
        const running = await system.submit([[{ hold: true }]]);
        await system.started(running);
        const submit = () =>
          system.post('/task/submit', { task: { type: 'nobody' }, user: { group: 'tests' } });
        if (freezesBefore) await system.master.end();
        await freeze();
        try {
          const master = freezesBefore ? system.spawnMaster({ SODA_PORT: '0' }) : system.master;
          const begun = freezesBefore
            ? master.said('that it starts', ({ fields }) => fields['event'] === 'starting')
            : submit();
          if (freezesBefore) await begun;
          const { code } = await master.end('SIGTERM');
          // By its own clock, which begins when it hears of it.
          expect(master.tail()).not.to.include('the stop takes too long');
          if (!freezesBefore) expect(await begun).to.include({ status: 503 });
          const ended = master.lines.filter(({ fields }) => fields['event'] === 'ended');
          expect(ended.map(({ fields }) => fields['reason'])).to.deep.equal([
            'the database does not answer: stopped without it',
          ]);
          expect(code).to.equal(1);
          expect(master.tail()).to.include(
            'soda: the database does not answer: stopped without it',
          );
          expect(master.tail()).not.to.include('"event":"stopped"');
        } finally {
          thaw();
        }
        await system.startMaster();
        expect((await system.task(running)).task_id).to.equal(running);
      });
    }

    it('that another master has taken over is not written by the deposed one, which ends', async () => {
      const system = await start();
      await system.submit([[]], { id: 'before', type: 'nobody' });
      const deposed = system.master;
      const { url } = system;
      const second = system.spawnMaster({ SODA_PORT: '0' });
      const { fields } = await second.said('its term', (line) => line.fields['event'] === 'term');
      expect(fields).to.include({ term: 2, waiting_count: 1 });

      const late = { task: { id: 'late', type: 'nobody' }, user: { group: 'tests' } };
      // It may have ended already, and then nothing listens.
      const said = await system.post('/task/submit', late, url).catch(() => null);
      expect(said?.status ?? 503).to.equal(503);
      expect((await deposed.exited).code).to.equal(1);
      const end = deposed.lines.find((line) => line.fields['event'] === 'ended');
      expect(end?.fields).to.include({ level: 'error' });
      expect(end?.fields['reason']).to.match(/^term 1 is over/);
      expect(deposed.tail()).to.match(/soda: term 1 is over/);

      const at = second.lines.find((line) => 'url' in line.fields)?.fields['url'];
      const answer = await fetch(`${String(at)}/scheduler/v2/tasks`);
      const { tasks } = (await answer.json()) as { tasks: { task_id: string }[] };
      expect(tasks.map(({ task_id }) => task_id)).to.deep.equal(['before']);
    });
  },
  { stores: ['MariaDB'], harms: true },
);
