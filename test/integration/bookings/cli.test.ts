/** `soda booking`, against a whole master: what is typed, what is said, and what is typed next. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createExecutor, type Executor } from '@soda-scheduler/executor-sdk';
import { commandSuite } from '../../helpers/soda/command-suite.ts';
import { eventually } from '../../helpers/system/wait.ts';

describe('soda booking', function () {
  this.timeout(60_000);
  const executors: Executor[] = [];
  afterEach(() => Promise.all(executors.splice(0).map((executor) => executor.stop())));
  const { run, url } = commandSuite();

  const ZONE = 'Asia/Shanghai';
  const soda = (args: readonly string[]) => run(['booking', ...args]);
  /** By the clock of this machine, so many hours after eight in the evening a month from now. */
  const local = (hours: number): string => {
    const at = new Date();
    at.setDate(at.getDate() + 30);
    at.setHours(20, 0, 0, 0);
    at.setTime(at.getTime() + hours * 3_600_000);
    const two = (n: number) => `${n}`.padStart(2, '0');
    const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
    return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
  };
  const atLocal = (text: string): number => new Date(text.replace(' ', 'T')).getTime();
  const create = (...args: string[]) =>
    soda(['create', '--type', 'push', '--group', 'class-7', ...args]);
  const idOf = async (...args: string[]) => (await create(...args)).out.trim();
  const fields = async (id: string) => {
    const { out } = await soda(['get', id]);
    return new Map(
      out
        .trim()
        .split('\n')
        .map((line) => {
          const [, name = '', value = ''] = /^([a-z ]+): *(.*)$/.exec(line) ?? [];
          return [name, value] as const;
        }),
    );
  };

  async function join(id: string, ready: () => true | string = () => true): Promise<Executor> {
    const options = { url: url(), id, ready, handleSignals: false, drainTimeoutMs: 0 };
    const executor = createExecutor({ ...options, onEvent: () => undefined });
    executor.handle('push', () => 'done');
    executors.push(executor);
    await executor.start();
    await eventually(`${id} is ready`, async () =>
      (await run(['executor', 'list'])).out.includes('idle'),
    );
    return executor;
  }

  it('says what is wrong with what is typed, and how it is typed', async () => {
    const from = ['--from', '2030-12-01 20:00'];
    expect(await create(...from)).to.deep.include({
      code: 2,
      err: 'soda: say when it ends: --to, or --for\n',
    });
    expect((await create(...from, '--for', '1h', '--to', '+2h')).err).to.match(/, not both$/m);
    const nobody = await create(...from, '--for', '1h', '--count', '3');
    expect(nobody.code).to.equal(4);
    expect(nobody.err).to.include('soda executor list --selector type=push\n');
    expect(nobody.err).to.include('soda type set push capacity=N\n');
    const gpu = await create(...from, '--for', '1h', '--requires', 'gpu');
    expect(gpu.err).to.match(/^soda: no executor of type push is free from .*: none has gpu$/m);
    expect(gpu.err).to.include('soda executor list').and.not.include('capacity=N');
    await run(['type', 'set', 'push', 'capacity=2', 'limits.max_running=0']);
    const limited = await create(...from, '--for', '1h', '--count', '2');
    expect(limited.err).to.include(
      ': max_running of type push is 0\nsoda: no such window was found free',
    );
    expect(limited.err).to.not.include('executor list');
    const { out } = await create(...from, '--for', '1h', '--count', '2', '--json');
    expect(JSON.parse(out)).to.deep.equal({ code: 409, free: [], limit: 'limits.max_running' });
    await run(['type', 'set', 'push', 'capacity=', 'limits.max_running=']);
    const token = (await run(['token', 'create', 'cms', '--role', 'submit'])).out.trim();
    const asked = ['booking', 'create', '--type', 'push', '--group', 'class-7', ...from];
    const seen = await run([...asked, '--for', '1h'], { SODA_TOKEN: token });
    expect(seen.err).to.include('no such window was found free').and.not.include('executor list');
    expect((await create(...from, '--for', 'long')).err).to.match(
      /^soda: --for long: expected such as 90s, 90min, 2h or 7d$/m,
    );
    expect((await create('--from', 'noon', '--for', '1h')).err).to.match(
      /^soda: noon: expected such as "2026-12-01 20:00" here/m,
    );
    expect((await create(...from, '--for', '1h', '--count', '0')).code).to.equal(2);
    expect((await create(...from, '--for', '1h', '--overrun', 'stop')).err).to.match(/end, allow/);
    expect((await soda(['get', 'class-7'])).err).to.match(/bk- and 16 hexadecimal digits/);
    expect((await soda(['get', `bk-${'0'.repeat(16)}`])).code).to.equal(3);
    for (const verb of ['create', 'list', 'get', 'cancel', 'skip']) {
      const { code, out } = await soda([verb, '--help']);
      expect([code, out.split('\n')[0]?.startsWith(`Usage: soda booking ${verb}`)]).to.deep.equal([
        0,
        true,
      ]);
    }
    expect((await soda(['list'])).out).to.equal('');
  });

  it('makes, lists, shows and skips one that recurs, by the clock of its zone', async () => {
    const atZone = (text: string): number => Date.parse(`${text.replace(' ', 'T')}+08:00`);
    await join('push-1');
    const week = ['--for', '2h', '--every', '7d', '--zone', ZONE];
    const made = await create('--from', local(0), ...week, '--label', 'live');
    expect(made, made.err).to.include({ code: 0 });
    const id = made.out.trim();
    const [row = '', rest] = (await soda(['list'])).out.split('\n');
    expect(rest).to.equal('');
    const [name, state, type, group, from = '', to = '', count, every] = row.split('\t');
    expect([name, state, type, group]).to.deep.equal([id, 'planned', 'push', 'class-7']);
    expect(from).to.equal(`${local(0).replace(' ', 'T')}:00+08:00`);
    expect(Date.parse(from)).to.equal(atZone(local(0)));
    expect(Date.parse(to)).to.equal(atZone(local(2)));
    expect([count, every]).to.deep.equal(['1', `7d ${ZONE}`]);
    const skipped = await soda(['skip', id, local(7 * 24)]);
    expect(skipped.out).to.equal(`skipped: ${id} at ${local(7 * 24)}\n`);
    const wrong = await soda(['skip', id, local(8 * 24)]);
    expect(wrong.err).to.match(/^soda: <from>: expected when a window of it begins/);
    const shown = await fields(id);
    expect(shown.get('then')).to.match(
      /^20\d\d-\S+T20:00:00\+08:00 to 20\d\d-\S+T22:00:00\+08:00$/,
    );
    expect(Date.parse(shown.get('left out') ?? '')).to.equal(atZone(local(7 * 24)));
    expect(Object.fromEntries(shown)).to.include({
      booking: id,
      state: 'planned',
      labels: 'live',
      every: `7d ${ZONE}`,
      executors: '1',
      tasks: '0',
      'bound before': '30 s',
      'held before': '900 s',
      'past its end': 'ended',
    });
    const nowhere = await create('--from', local(0), '--for', '2h', '--zone', 'Nowhere');
    expect(nowhere).to.include({
      code: 2,
      err: 'soda: --zone Nowhere: expected a zone as Europe/Berlin\n',
    });
    expect((await soda(['list', '--type', 'other'])).out).to.equal('');
    expect((await soda(['cancel', id])).out).to.equal(`canceled: ${id}\n`);
    expect((await fields(id)).get('state')).to.equal('canceled');
  });

  it('types what is free in place of what is not, and says so in JSON', async () => {
    await join('push-1');
    const from = ['--from', local(0), '--for', '2h'];
    await idOf(...from);
    const taken = await create(...from, '--lead', '60');
    expect(taken.code).to.equal(4);
    expect(taken.err).to.match(/^soda: no executor of type push is free from 20/);
    const [, begin = '', options] =
      /^soda: {3}soda booking create --type push --group class-7 --from (\S+) --to \S+ (.*)$/m.exec(
        taken.err,
      ) ?? [];
    expect([atLocal(local(-2)), atLocal(local(2))]).to.include(Date.parse(begin));
    expect(options).to.equal('--count 1 --lead 60');
    const wanted = ['--from', local(1), '--for', '1h', '--label', "it's", 'live'];
    const wrong = await create(...wanted);
    expect([wrong.code, wrong.err.split('\n')[0]]).to.deep.equal([
      2,
      'soda: --label: expected 1 to 64 characters of A-Z a-z 0-9 _ . : = / -',
    ]);
    const { out } = await create(...from, '--json');
    expect(JSON.parse(out)).to.have.nested.property('free[0].count', 1);
  });

  it('says what may help also where the master had no time to look for what is free', async () => {
    const busy = createServer(({ method, url: path = '' }, answer) => {
      if (method === 'POST') {
        answer.writeHead(409, { 'content-type': 'application/problem+json' });
        answer.end(JSON.stringify({ title: 'conflict', status: 409, detail: 'none', code: 409 }));
        return;
      }
      void fetch(`${url()}${path}`)
        .then((found) => found.text())
        .then((text) => answer.end(text));
    });
    await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = busy.address() as AddressInfo;
      const at = ['--url', `http://127.0.0.1:${port}`];
      const { code, err } = await create('--from', local(0), '--for', '2h', ...at);
      expect(code).to.equal(4);
      expect(err).to.include('soda: the master is too busy to look for what is free: ask again;');
      expect(err).to.include('soda executor list --selector type=push\n');
    } finally {
      busy.close();
      busy.closeAllConnections();
    }
  });

  it('says of a task of it what cannot be another by the options that were typed', async () => {
    await run(['type', 'set', 'push', 'capacity=1']);
    const id = await idOf('--from', local(0), '--for', '2h');
    const task = ['--type', 'push', '--group', 'class-7', '--booking', id, '--id', 'lesson'];
    expect((await run(['task', 'submit', ...task])).out).to.equal('lesson\n');
    const change = (...args: string[]) => run(['task', 'change', 'lesson', ...args]);
    const other = `soda: --group: booking ${id} is for tasks of group class-7\n`;
    expect(await change('--group', 'class-8')).to.include({ code: 2, err: other });
    const late = await change('--deadline', new Date(atLocal(local(-1))).toISOString());
    const due = 'soda: --deadline: the task is not due before that\n';
    expect(late).to.include({ code: 4, err: due });
    await soda(['cancel', id]);
    await run(['type', 'set', 'push', 'capacity=']);
  });

  it('says that there may be too few executors, until there are enough', async () => {
    await run(['type', 'set', 'push', 'capacity=2']);
    const id = await idOf('--from', local(0), '--for', '2h', '--count', '2');
    await run(['type', 'set', 'push', 'capacity=1']);
    await eventually('it is at risk', async () => (await fields(id)).get('state') === 'at_risk');
    expect((await fields(id)).get('at risk')).to.equal('the capacity of its type is less');
    await run(['type', 'set', 'push', 'capacity=2']);
    await eventually('it fits', async () => (await fields(id)).get('state') === 'planned');
    expect((await fields(id)).has('at risk')).to.equal(false);
    expect((await run(['type', 'set', 'push', 'capacity='])).code).to.equal(0);
    expect((await run(['type', 'get', 'push'])).out).to.not.include('capacity');
  });

  it('says who is bound, and who of these is of no use', async () => {
    let answer: true | string = true;
    const executor = await join('push-1', () => answer);
    const id = await idOf('--from', '+60s', '--for', '1h', '--lead', '120');
    await eventually('it is bound', async () => (await fields(id)).get('bound') === 'push-1');
    answer = 'no encoder here';
    executor.checkReady();
    await eventually('it is seen', async () => (await fields(id)).has('cannot serve'));
    expect(Object.fromEntries(await fields(id))).to.include({
      state: 'bound',
      executors: '0 of 1',
      'cannot serve': 'push-1: no encoder here',
      short: '1 that should be bound by now',
    });
    const ops = await idOf(
      '--from',
      '+2d',
      '--for',
      '1h',
      '--maintenance',
      '--requires',
      'executor:push-1',
    );
    expect((await fields(ops)).get('tasks')).to.equal('none: it is for maintenance');
  });
});
