/** Which log frames of executors are taken, and what becomes of the others. */
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { CloseCode } from '@soda-scheduler/protocol';
import type { LogTaker } from '../../../master/access/executors/log-intake.ts';
import { type Connection, ExecutorSessions } from '../../../master/access/executors/sessions.ts';
import type { HeldAttempt } from '../../../master/application/master-handle.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { NOW, sampleTask } from '../../helpers/task.ts';

const SECRET = 'c2VjcmV0';

/** As the master gave it with the offer. */
function macOf(seq: number, attempt: number, incarnation = 'one'): string {
  const named = JSON.stringify(['default', seq, attempt, 'x', incarnation]);
  const mac = createHmac('sha256', Buffer.from(SECRET, 'base64url')).update(named).digest();
  return mac.subarray(0, 16).toString('base64url');
}

describe('log frames', () => {
  const clock = new ManualClock();
  let taken: string[];
  let isFull: boolean;
  let closed: (readonly [number, string])[];
  let frames: { readonly features?: readonly string[] }[];
  let connection: Connection;
  let sessions: ExecutorSessions;
  const held = { state: 'running', attempt: 2, executorId: 'x', incarnation: 'one' } as const;
  let memory: HeldAttempt | null;

  function open(isTaken = true, running: readonly object[] = []): void {
    const logs: LogTaker = {
      isTaken,
      get isFull() {
        return isFull;
      },
      take: ({ taskId, taskSeq, attempt }, lines) =>
        void taken.push(...lines.map(({ text }) => `${taskId} ${taskSeq}.${attempt} ${text}`)),
      fills: () => [],
    };
    const times = { heartbeatMs: 5_000, leaseMs: 30_000 };
    sessions = new ExecutorSessions({
      ...{ namespace: 'default', clock, logs, createId: () => 's', ...times },
    });
    sessions.useSecrets([SECRET]);
    sessions.attach({
      ...{ term: 1, isFull: false, post: () => undefined },
      attemptOf: () => memory,
      executorOf: () => null,
      silentMs: () => Infinity,
    });
    connection = sessions.open({
      send: (text) => void frames.push(JSON.parse(text)),
      close: (code, reason) => void closed.push([code, reason]),
    });
    const about = { executor_id: 'x', incarnation: 'one', types: ['t'], features: ['mac'] };
    say({ type: 'hello', ...about, running });
  }

  const say = (frame: object): void => sessions.receive(connection, JSON.stringify(frame));
  const line = { at: NOW, level: 'info', text: 'said' };
  const log = (fields: object = {}) => {
    const about = { task_id: 'a', attempt: 2, mac: macOf(7, 2) };
    say({ type: 'log', ...about, n: 1, lines: [line], ...fields });
  };

  beforeEach(() => {
    [taken, closed, frames] = [[], [], []];
    isFull = false;
    memory = { seq: 7, offeredAt: NOW, ...held };
    open();
  });

  it('are asked for where they are taken, and are kept with their numbers', () => {
    expect(frames[0]?.features).to.include('log');
    const more = { ...line, stream: 'stderr', level: 'warn', fields: { a: 1 } };
    log({ n: 5, lines: [line, more] });
    expect(taken).to.deep.equal([
      `a 7.2 [5,${NOW},"info","log","said"]`,
      `a 7.2 [6,${NOW},"warn","stderr","said",{"a":1}]`,
    ]);
    open(false);
    expect(frames.at(-1)?.features).not.to.include('log');
    log();
    expect(taken).to.have.length(2);
    expect(closed).to.deep.equal([]);
  });

  it('need the proof of the very attempt, also after it has ended', () => {
    log({ mac: macOf(7, 1) });
    log({ mac: macOf(8, 2) });
    log({ mac: macOf(7, 2, 'two') });
    log({ mac: 'x' });
    log({ attempt: 3 });
    expect(taken).to.deep.equal([]);
    memory = { ...memory!, attempt: 3 };
    log();
    expect(taken, 'of an attempt that is over').to.have.length(1);
    memory = null;
    log();
    expect(taken, 'of a task that nobody knows').to.have.length(1);
    const task = sampleTask({ id: 'a', seq: 7, attempt: 2 });
    sessions.send('s', { type: 'assign', task }, 1);
    log();
    expect(taken, 'of one that was offered here').to.have.length(2);
    memory = { seq: 7, offeredAt: NOW, ...held };
    open(true, [{ task_id: 'a', attempt: 2, state: 'finished', mac: macOf(7, 2) }]);
    memory = null;
    log();
    expect(taken, 'of one that was named by whoever came back').to.have.length(3);
    expect(closed, 'none of it ends the connection').to.deep.equal([]);
  });

  it('end the connection where they are none, as any bad frame', () => {
    log({ lines: [{ ...line, level: 'loud' }] });
    log({ lines: [{ ...line, text: 'x'.repeat(66_000) }] });
    log({ mac: undefined });
    expect(closed.map(([code]) => code)).to.deep.equal(Array(3).fill(CloseCode.badFrame));
    expect(closed.map(([, reason]) => reason.split(':', 2).join(':'))).to.deep.equal([
      ...['log: lines', 'log: 66133 bytes, and 65536 are allowed', 'mac: Invalid input'],
    ]);
    expect(taken).to.deep.equal([]);
  });

  it('have their lines cut where an executor has not done it', () => {
    log({ lines: [{ ...line, text: '\u0001'.repeat(10_000), fields: { a: 1 } }] });
    log({ n: 2, lines: [{ ...line, fields: { a: 'x'.repeat(60_000) } }] });
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    const about = JSON.stringify({ type: 'log', task_id: 'a', attempt: 2, mac: macOf(7, 2), n: 3 });
    const said = JSON.stringify(line).slice(0, -1);
    const text = `${about.slice(0, -1)},"lines":[${said},"fields":{"a":${deep}}}]}`;
    sessions.receive(connection, text);
    expect(closed).to.deep.equal([]);
    expect(taken).to.have.length(3);
    for (const one of taken) expect(one.length).to.be.below(13_000);
    expect(taken[0]).to.include('[8635 more characters were cut]').and.to.include('left_out');
    expect(taken[2]).to.include('"said",{"left_out":"the line was too long"}');
  });

  it('are dropped beyond the rate of an executor, and while there is no room', () => {
    const lines = [{ ...line, text: 'x'.repeat(60_000) }];
    for (let count = 0; count < 40; count++) log({ lines });
    expect(taken).to.have.length.within(17, 22);
    const before = taken.length;
    clock.advance(1_000);
    for (let count = 0; count < 40; count++) log({ lines });
    expect(taken.length - before).to.be.within(4, 6);
    clock.advance(10_000);
    isFull = true;
    log();
    expect(taken).to.have.length.below(before + 7);
    expect(closed).to.deep.equal([]);
  });
});
