/** What sessions hold: of frames to take and of frames that were sent. */
import { expect } from 'chai';
import { CloseCode } from '@soda-scheduler/protocol';
import { type Connection, ExecutorSessions } from '../../../master/access/executors/sessions.ts';
import type { Event } from '../../../master/domain/events.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { sampleTask } from '../../helpers/task.ts';

class Executor {
  readonly frames: Record<string, unknown>[] = [];
  code: number | null = null;
  readonly connection: Connection;
  readonly #sessions: ExecutorSessions;

  constructor(sessions: ExecutorSessions, id: string, session?: string) {
    this.#sessions = sessions;
    this.connection = sessions.open({
      send: (text) => this.frames.push(JSON.parse(text) as Record<string, unknown>),
      close: (code) => (this.code = code),
    });
    this.say({
      type: 'hello',
      executor_id: id,
      incarnation: `of ${id}`,
      types: ['video.push'],
      labels: [],
      reserve: [],
      slots: 1,
      received: 0,
      running: [],
      features: ['booking'],
      sdk: 'test',
      host: 'h',
      pid: 1,
      ...(session !== undefined && { session }),
    });
  }

  get session(): string {
    return String(this.frames[0]?.['session']);
  }

  say(frame: object): void {
    this.#sessions.receive(this.connection, JSON.stringify(frame));
  }
}

describe('executor sessions', () => {
  let posted: { event: Event; bytes: number | undefined }[];
  let master: {
    term: number;
    isFull: boolean;
    post: (event: Event, bytes?: number) => void;
  };
  let sessions: ExecutorSessions;
  let clock: ManualClock;
  beforeEach(() => {
    posted = [];
    clock = new ManualClock();
    master = { term: 1, isFull: false, post: (event, bytes) => posted.push({ event, bytes }) };
    sessions = begin();
  });

  function begin(more: { readonly keepsEvents?: boolean } = {}): ExecutorSessions {
    let lastId = 0;
    const begun = new ExecutorSessions({
      namespace: 'default',
      clock,
      heartbeatMs: 5_000,
      leaseMs: 30_000,
      createId: () => `s${++lastId}`,
      sentBytesMax: 10_000,
      ...more,
    });
    // Read at every frame: a test changes it.
    begun.attach(
      Object.assign(master, {
        attemptOf: () => null,
        executorOf: () => null,
        silentMs: () => Infinity,
      }),
    );
    return begun;
  }

  const sentBytes = () => sessions.fills()[0]?.used;
  const types = () => posted.map(({ event }) => event.type);
  const accept = (seq: number) => ({ type: 'accept', seq, ack: 0, task_id: 'a', attempt: 1 });
  const assign = (executor: Executor, bytes: number) =>
    sessions.send(
      executor.session,
      { type: 'assign', task: sampleTask({ params: JSON.stringify('p'.repeat(bytes)) }) },
      1,
    );

  it('take no frame that the master has no room for, and take it when it comes again', () => {
    const first = new Executor(sessions, 'x');
    first.say(accept(1));
    expect(posted.at(-1)?.bytes, 'its size goes with it').to.equal(
      JSON.stringify(accept(1)).length,
    );
    master.isFull = true;
    first.say({ type: 'heartbeat', n: 1, ack: 0, state: 'idle', running: [] });
    expect(first.code, 'heartbeats are answered all the same').to.equal(null);
    first.say(accept(2));
    expect(first.code).to.equal(CloseCode.overflow);
    sessions.closed(first.connection, CloseCode.overflow);
    expect(types().filter((type) => type === 'attemptAccepted')).to.have.length(1);

    master.isFull = false;
    const again = new Executor(sessions, 'x', first.session);
    expect(again.frames[0]).to.include({ resumed: true, received: 1 });
    again.say(accept(2));
    expect(again.code).to.equal(null);
    expect(types().filter((type) => type === 'attemptAccepted')).to.have.length(2);
  });

  it('ask for events where these are kept', () => {
    const asked = (keepsEvents: boolean) =>
      new Executor(begin({ keepsEvents }), 'x').frames[0]?.['features'];
    expect(asked(true)).to.deep.equal(['mac', 'fenced', 'timeouts', 'alert', 'parts', 'event']);
    expect(asked(false)).to.deep.equal(['mac', 'fenced', 'timeouts', 'alert', 'parts']);
  });

  it('hold what was sent to all of them up to a bound; beyond it one has to begin anew', () => {
    const [x, y, z] = ['x', 'y', 'z'].map((id) => new Executor(sessions, id)) as [
      Executor,
      Executor,
      Executor,
    ];
    assign(x, 4_000);
    assign(y, 4_000);
    expect([x.code, y.code]).to.deep.equal([null, null]);
    expect(sentBytes()).to.be.within(8_000, 9_000);
    assign(z, 4_000);
    expect(z.code).to.equal(CloseCode.overflow);
    x.say({ type: 'ack', ack: 1 });
    expect(sentBytes()).to.be.within(4_000, 4_500);
    const again = new Executor(sessions, 'z');
    expect(again.frames[0]).to.include({ resumed: false });
    assign(again, 4_000);
    expect(again.code).to.equal(null);
    sessions.reattachAll();
    expect(sentBytes(), 'nothing is held of sessions that are over').to.equal(0);
  });

  it('hold nobody for silent who said what the master could not hear while it stood still', () => {
    const idle = new Executor(sessions, 'x');
    const gone = new Executor(sessions, 'y');
    sessions.closed(gone.connection, 1006);
    clock.standStill(40_000);
    expect(idle.code).to.equal(null);
    expect(new Executor(sessions, 'y', gone.session).frames[0]).to.include({ resumed: true });
    clock.advance(28_000);
    expect(idle.code).to.equal(null);
    clock.advance(2_000);
    expect(idle.code).to.equal(CloseCode.silent);
  });

  it('name no tasks of a booking where they would fill what may be unacknowledged', () => {
    const executor = new Executor(sessions, 'x');
    const task = { id: 't', type: 'video.push', params: JSON.stringify('p'.repeat(200)) };
    for (let count = 1; count <= 20; count++) {
      const booking = { id: `b${count}`, type: 'video.push', from: 0, to: 1, tasks: [task] };
      sessions.send(executor.session, { type: 'booking', booking }, 1);
    }
    expect(executor.code).to.equal(null);
    const told = executor.frames.filter(({ type }) => type === 'booking');
    const counts = told.map(({ booking }) => (booking as { tasks: [] }).tasks.length);
    expect(counts).to.have.length(20).and.to.include(1);
    expect(counts.at(-1)).to.equal(0);
  });
});
