/**
 * The guard as a process, whose orders the test writes: when it ends groups, and when it must not.
 * Every group here is a process that says when it is up.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { GuardOrder } from '../../../executor-sdk/children/countdown.ts';
import { monotonicClock as clock } from '../../../executor-sdk/session/clock.ts';

const SCRIPT = fileURLToPath(
  new URL('../../../executor-sdk/dist/children/guard-process.js', import.meta.url),
);
const DEAF = "process.on('SIGTERM', () => {})";

describe('the guard of process groups', () => {
  const started: ChildProcessWithoutNullStreams[] = [];

  afterEach(async () => {
    for (const child of started.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });

  function start(args: readonly string[]): ChildProcessWithoutNullStreams {
    const child = spawn(process.execPath, args, { detached: true });
    started.push(child);
    return child;
  }

  async function group(script = ''): Promise<{ pid: number; ended: Promise<unknown> }> {
    const child = start(['-e', `setInterval(() => {}, 1e6); ${script}; console.log('up')`]);
    await once(child.stdout, 'data');
    return { pid: child.pid!, ended: once(child, 'exit').then(([, signal]) => signal as unknown) };
  }

  function guard() {
    const child = start([SCRIPT]);
    const tell = (order: GuardOrder) => child.stdin.write(`${JSON.stringify(order)}\n`);
    return { child, tell };
  }

  async function guardThatIsUp() {
    const { pid, ended } = await group();
    const up = guard();
    up.tell({ groups: [pid], endAt: clock.now() });
    await ended;
    return up;
  }

  it('ends those that nobody has renewed in time, and kills what does not end', async () => {
    const [mild, deaf] = [await group(), await group(DEAF)];
    const { tell } = await guardThatIsUp();
    const now = clock.now();
    const killAt = now + 4_000;
    tell({ groups: [mild.pid, deaf.pid], endAt: now, killAt });
    expect(await mild.ended).to.equal('SIGTERM');
    expect(await deaf.ended).to.equal('SIGKILL');
    expect(clock.now()).to.be.at.least(killAt);
  });

  it('kills all when its owner is gone, and goes on until then, whoever tells it to end', async () => {
    const [first, other] = [await group(), await group()];
    const { child, tell } = guard();
    const exited = once(child, 'exit');
    tell({ groups: [first.pid], endAt: clock.now() });
    await first.ended;
    tell({ groups: [other.pid] });
    child.kill('SIGTERM');
    child.stdin.end();
    expect(await other.ended).to.equal('SIGKILL');
    expect(await exited).to.deep.equal([0, null]);
  });

  it('that stood still itself goes by what it was told meanwhile', async () => {
    const [kept, witness] = [await group(DEAF), await group(DEAF)];
    const read = await group();
    const [stopped, running] = [await guardThatIsUp(), await guardThatIsUp()];
    const end = { endAt: clock.now(), killAt: clock.now() + 4_000 };
    stopped.tell({ groups: [kept.pid, read.pid], ...end });
    await read.ended;
    stopped.child.kill('SIGSTOP');
    stopped.tell({ groups: [kept.pid] });
    running.tell({ groups: [witness.pid], ...end });
    await witness.ended;
    const judged = await group();
    stopped.child.kill('SIGCONT');
    stopped.tell({ groups: [kept.pid, judged.pid], endAt: clock.now() });
    await judged.ended;
    process.kill(kept.pid, 'SIGINT');
    expect(await kept.ended, 'by the test').to.equal('SIGINT');
  });
});
