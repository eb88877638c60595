/** `soda fleet advice` beside a whole master, by tasks that real executors have run. */
import { createExecutor, type Executor } from '@soda-scheduler/executor-sdk';
import { createClient } from '@soda-scheduler/client';
import { expect } from 'chai';
import { commandSuite } from '../../helpers/soda/command-suite.ts';

const TASK_COUNT = 24;

describe('soda fleet advice', () => {
  const executors: Executor[] = [];
  afterEach(() => Promise.all(executors.splice(0).map((executor) => executor.stop())));
  const { run, url, restart } = commandSuite();
  const advice = (...args: string[]) => run(['fleet', 'advice', ...args]);

  async function join(id: string): Promise<void> {
    const executor = createExecutor({ url: url(), id, handleSignals: false }).handle(
      'encode',
      () => ({}),
    );
    await executor.start();
    executors.push(executor);
  }

  it('goes by what came and what was run, and says what is connected', async () => {
    const client = createClient({ url: url() });
    await Promise.all([join('one'), join('two')]);
    const tasks = Array.from({ length: TASK_COUNT }, (_, n) => ({ id: `t-${n}`, type: 'encode' }));
    for (const task of tasks) await client.submit(task, { group: 'g' });
    await client.submit({ id: 'nobody', type: 'probe' }, { group: 'g' });
    for (const { id } of tasks) expect((await client.wait(id)).state).to.equal('succeeded');
    await Promise.all(executors.splice(0).map((executor) => executor.stop()));
    // The minute is written by the end of the master, too.
    await restart();
    await join('three');

    const told = await advice('--wait', '30s', '--json');
    expect(told.code, told.err).to.equal(0);
    const rows = told.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(rows).to.have.length(2);
    const [encode, probe] = rows;
    const counted = { type: 'encode', arrivals: TASK_COUNT, runs: TASK_COUNT, connected: 1 };
    expect(encode).to.include({ ...counted, executors: 1, low: 1, high: 1 });
    expect(encode?.['load']).to.be.within(0, 1);
    // Nothing of it has ever ended: nobody knows how long it takes.
    expect(probe).to.deep.equal({ type: 'probe', connected: 0, arrivals: 1, runs: 0 });
    const table = await advice('--type', 'encode', 'probe');
    expect(table.out).to.match(
      /^encode\t24\t24\t\S+\t1\t1\t1\t1\nprobe\t1\t0\t\?\t0\t\?\t\?\t\?\n$/,
    );
  });

  it('says that nothing has come, and what it does not take', async () => {
    const nothing = await advice();
    expect([nothing.code, nothing.err]).to.deep.equal([
      1,
      'soda: nothing has come in the last hour: name types by --type\n',
    ]);
    for (const [args, word] of [
      [['--wait', '5'], '30s, 5min or 1h'],
      [['--percentile', '100'], 'from 50 to 99.999'],
    ] as const) {
      const { code, err } = await advice(...args);
      expect(code, err).to.equal(2);
      expect(err).to.include(word);
    }
  });
});
