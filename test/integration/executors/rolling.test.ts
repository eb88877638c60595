/** A new version of all executors, one after another, with real processes: whoever is killed meanwhile. */
import { expect } from 'chai';
import type { DrainStep } from '@soda-scheduler/client';
import { describeSystem, type System } from '../../helpers/system/system.ts';
import { SodaCommand } from '../../helpers/soda/command.ts';
import { eventually } from '../../helpers/system/wait.ts';

const HOLD = [[{ hold: true }], [{ hold: true }]] as const;

describeSystem(
  'a rolling drain',
  ({ start }) => {
    const versionsOf = async (system: System) =>
      (await system.client.executors()).map(({ version, draining }) => `${version} ${draining}`);

    // A master takes its time to start where the machine is busy.
    const LEASE = { SODA_LEASE: '120' };
    const over = new AbortController();
    after(() => over.abort());

    it('replaces one at a time, also while the master is killed, and disturbs no task', async () => {
      const system = await start(LEASE);
      const old = new Map(
        await Promise.all(
          ['a', 'b'].map(
            async (id) => [id, await system.executor({ id, version: '1.4' })] as const,
          ),
        ),
      );
      for (const id of ['one', 'two']) await system.submit(HOLD, { id });
      const runs = [await system.started('one'), await system.started('two')];
      const steps: DrainStep[] = [];
      const said = (step: string, id: string) =>
        eventually(`${id} is ${step}`, async () => {
          if (steps.some((other) => other.step === step && other.executorId === id)) return true;
          const fleet = JSON.stringify(await system.client.executors());
          throw new Error(`so far ${JSON.stringify(steps)}, of ${fleet}`);
        });
      const drain = system.client.drainExecutors('version=1.4', {
        maxUnavailable: 1,
        until: 'replaced',
        signal: over.signal,
        onStep: (step) => void steps.push(step),
      });
      await said('draining', 'a');
      await system.master.end('SIGKILL');
      await system.startMaster();
      for (const id of ['a', 'b']) {
        await said('draining', id);
        const executor = old.get(id);
        const task = runs.find((mark) => mark.executor === id)?.task ?? '';
        executor?.write(task);
        expect(await system.ended(task)).to.deep.include({ state: 'succeeded', attempt: 1 });
        await said('empty', id);
        const other = id === 'a' ? 'b' : 'a';
        expect((await system.client.executor(other)).draining, 'the other one').to.equal(false);
        await executor?.end('SIGTERM');
        await system.executor({ id, version: '1.5' });
        await said('back', id);
      }
      expect(await drain).to.deep.include({ total: 2, done: 2 });
      expect(await versionsOf(system)).to.deep.equal(['1.5 false', '1.5 false']);
      await system.ended(await system.submit());
    });

    it('leaves what is drained when it is interrupted, and says what remains', async () => {
      const system = await start();
      await system.executor({ id: 'a', version: '1.4' });
      await system.submit(HOLD, { id: 'one' });
      await system.started('one');
      const command = new SodaCommand(system.folder);
      const args = ['executor', 'drain', '--selector', 'version=1.4', '--wait'];
      const child = command.start(args, { SODA_URL: system.url });
      let err = '';
      child.stderr.on('data', (text: Buffer) => (err += text.toString()));
      child.stdout.once('data', () => child.kill('SIGINT'));
      const code = await new Promise((resolve) => child.once('close', resolve));
      expect(code).to.equal(130);
      expect(err).to.match(/Of 1 executors 1 are drained and stay so; 1 still at work \(a\)/);
      expect((await system.client.executor('a')).draining).to.equal(true);
    });
  },
  { stores: ['SQLite'] },
);
