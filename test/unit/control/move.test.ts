/** Tasks are put first and last of their type, whatever lane, window or state they are in. */
import { expect } from 'chai';
import type { NewTask } from '../../../master/domain/events.ts';
import type { BulkAction } from '../../../master/domain/long-work/work.ts';
import type { QueueEnd } from '../../../master/domain/queue/window.ts';
import { violations } from '../../../master/domain/state/invariants.ts';
import type { Policy } from '../../../master/domain/state/policy.ts';
import { HOUR, MINUTE, SECOND } from '../../helpers/domain.ts';
import { createEngine } from '../../helpers/engine.ts';
import { settled } from '../../helpers/manual-clock.ts';
import { hello, newTask } from '../../helpers/task.ts';

const user = (group: string) => ({ group, project: null, env: null, user: null });

describe('putting a task first or last', () => {
  let harness: ReturnType<typeof createEngine>;

  async function begin(policy: Partial<Policy> = {}, store?: typeof harness.store) {
    harness = createEngine(policy, store);
    (await harness.engine.start()).ended.catch(() => undefined);
  }
  beforeEach(() => begin());
  afterEach(() => harness.engine.stop());

  /** Each a second after the one before. */
  async function submit(...tasks: (string | (Partial<NewTask> & { id: string }))[]) {
    for (const task of tasks) {
      const fields = typeof task === 'string' ? { id: task } : task;
      await harness.master.submit([newTask({ requestHash: '', ...fields })]);
      harness.clock.advance(SECOND);
    }
  }
  async function move(to: QueueEnd, ...ids: string[]) {
    for (const id of ids) {
      expect(await harness.master.move(id, to), id).to.deep.equal({ kind: 'done' });
    }
  }
  const find = async (id: string) => (await harness.master.find(id, 'all'))!.task;
  const connect = (types = ['echo'], labels: string[] = []) =>
    harness.engine.post({ type: 'executorConnected', ...hello({ types, labels }) });

  /** In which order one executor gets all that is due. */
  async function runAll(types?: string[], labels?: string[]): Promise<string[]> {
    const { engine, recorder } = harness;
    connect(types, labels);
    const order: string[] = [];
    for (let frameSeq = 1; ; frameSeq += 2) {
      await settled();
      expect(violations(engine.state!)).to.deep.equal([]);
      const assigned = recorder.sent.at(-1)?.command;
      if (assigned?.type !== 'assign' || order.includes(assigned.task.id)) return order;
      const { id: taskId, attempt } = assigned.task;
      order.push(taskId);
      const about = { executorId: 'x', sessionId: 'x/1', taskId, attempt };
      engine.post({ type: 'attemptAccepted', ...about, frameSeq });
      const end = { result: '1', error: null, retryable: true, retryAfterMs: null };
      const ended = { ...about, ...end, frameSeq: frameSeq + 1, outcome: 'succeeded' } as const;
      engine.post({ type: 'attemptEnded', ...ended });
    }
  }

  it('passes all of its type, whatever lanes they wait in; the last that was put there is at the end', async () => {
    await submit('a', { id: 'gpu', labels: ['gpu'] }, { id: 'b', user: user('h') }, 'c', 'd', 'e');
    await move('first', 'd', 'b');
    await move('last', 'a', 'gpu');
    expect(await find('d')).to.include({ queueTime: (await find('a')).orderTime - 1 });
    expect(await runAll()).to.deep.equal(['b', 'd', 'c', 'e', 'a', 'gpu']);
  });

  it('leaves its time as it was, and nothing is written of one that is there', async () => {
    await submit('a', 'b');
    const { orderTime } = await find('b');
    await move('first', 'b');
    expect(await find('b')).to.include({ orderTime, version: 2 });
    await move('first', 'b');
    await move('last', 'a');
    expect(await find('b')).to.include({ version: 2 });
    expect(await find('a')).to.include({ version: 1 });
  });

  it('passes those of other types no further than the first of its own does', async () => {
    await submit({ id: 'other', type: 'mix' }, 'a', { id: 'later', type: 'mix' }, 'b', 'c');
    await move('first', 'c');
    await move('last', 'a');
    expect(await runAll(['echo', 'mix'])).to.deep.equal(['other', 'c', 'later', 'b', 'a']);
  });

  it('finds those that are in the store only, and is read by those that are there', async () => {
    await harness.engine.stop();
    await begin({ laneWindowCount: 2, pageCount: 1 });
    const others = Array.from({ length: 6 }, (_, n) => `t${n}`);
    await submit(...others, 'z');
    expect(harness.engine.state?.tasks.has('z')).to.equal(false);
    await move('first', 'z');
    expect(harness.engine.state?.tasks.has('z')).to.equal(true);
    await move('last', 't0', 't4');
    expect(harness.engine.state?.tasks.has('t0')).to.equal(false);
    expect(await runAll()).to.deep.equal(['z', 't1', 't2', 't3', 't5', 't0', 't4']);
  });

  it('outlives a restart, after which nothing of the lane is in memory', async () => {
    await submit('a', 'b', 'c');
    await move('first', 'c');
    await move('last', 'a');
    const { store } = harness;
    await harness.engine.stop();
    await begin({}, store);
    await move('first', 'b');
    expect(await runAll()).to.deep.equal(['b', 'c', 'a']);
  });

  it('starts nothing before its time: it is first of those that were due when it was put there', async () => {
    const runAt = harness.clock.now() + 5 * MINUTE;
    await submit('a', { id: 'later', runAt }, 'b');
    await move('first', 'later');
    await move('last', 'a');
    expect(await runAll()).to.deep.equal(['b', 'a']);
    const session = { executorId: 'x', sessionId: 'x/1' };
    harness.engine.post({ type: 'executorDisconnected', ...session, left: true });
    await harness.clock.pass(5 * MINUTE);
    await submit({ id: 'other', priority: 60 });
    expect(await runAll()).to.deep.equal(['later', 'other']);
  });

  it('is behind what is due, not behind what comes to be due', async () => {
    const runAt = harness.clock.now() + 24 * HOUR;
    const delayed = Array.from({ length: 9 }, (_, n) => ({ id: `d${n}`, runAt: runAt + n }));
    await submit('a', { id: 'low', priority: -3_600 }, ...delayed);
    await move('last', 'a');
    expect((await find('a')).queueTime).to.be.within((await find('low')).queueTime, runAt);
    await submit({ id: 'new', priority: -3_600 });
    expect(await runAll()).to.deep.equal(['low', 'a', 'new']);
  });

  it('passes those that are held, and comes out of them first itself', async () => {
    const { master } = harness;
    const definition = { limits: { concurrency: { pointer: '/k', max: 1 } } };
    const text = JSON.stringify(definition);
    await master.changeType({ type: 'typeSet', name: 'echo', text, expect: null });
    const keyed = (id: string, k: number) => ({ id, params: `{"k":${k}}` });
    await submit(keyed('a', 1), keyed('b', 1), keyed('c', 1), keyed('d', 2));
    expect(await find('b')).to.include({ state: 'held' });
    await move('last', 'a');
    await settled();
    expect([(await find('a')).state, (await find('b')).state]).to.deep.equal(['held', 'waiting']);
    await move('first', 'd', 'c');
    expect(await find('c')).to.include({ state: 'waiting' });
    expect(await runAll()).to.deep.equal(['c', 'd', 'b', 'a']);
  });

  it('keeps its place while it is suspended, and after what is no fault of it', async () => {
    await submit('a', 'b', 'c');
    await move('first', 'c');
    await harness.master.suspend('c');
    await harness.master.suspend('b');
    await move('first', 'b');
    expect((await find('b')).queueTime, 'before those that wait').to.be.below(
      (await find('a')).queueTime,
    );
    await harness.master.resume('c');
    await harness.master.resume('b');
    connect();
    await settled();
    const about = { executorId: 'x', sessionId: 'x/1', frameSeq: 1, taskId: 'c', attempt: 1 };
    harness.engine.post({ type: 'attemptRejected', ...about, code: 409, message: 'not now' });
    await settled();
    const { orderTime, queueTime } = await find('c');
    expect(queueTime).to.be.below(orderTime);
  });

  it('gives its place up for another priority, or after a failure, and not for other fields', async () => {
    await submit('a', 'b', 'c');
    await move('first', 'c', 'b');
    await harness.master.change('c', { labels: ['x'] });
    await harness.master.change('b', { priority: 1 });
    const [b, c] = [await find('b'), await find('c')];
    expect(b.queueTime).to.equal(b.orderTime);
    expect(c.queueTime).to.be.below(c.orderTime);
    connect();
    await settled();
    const about = { executorId: 'x', sessionId: 'x/1', frameSeq: 1, taskId: 'c', attempt: 1 };
    harness.engine.post({ type: 'attemptAccepted', ...about });
    const failure = { error: { message: 'no' }, retryable: true, retryAfterMs: MINUTE };
    const ended = { ...about, ...failure, frameSeq: 2, outcome: 'failed', result: null } as const;
    harness.engine.post({ type: 'attemptEnded', ...ended });
    await settled();
    const failed = await find('c');
    expect(failed.state).to.equal('waiting');
    expect(failed.queueTime).to.equal(failed.orderTime);
  });

  it('is refused of one that runs, has ended, or is not there', async () => {
    await submit('a', 'b');
    connect();
    await settled();
    await harness.master.cancel('b');
    for (const [id, kind] of [
      ['a', 'conflict'],
      ['b', 'conflict'],
      ['none', 'unknown'],
    ] as const) {
      expect(await harness.master.move(id, 'first'), id).to.include({ kind });
    }
  });

  it('is decided one after the other, however many are asked for at once, and beside other changes', async () => {
    await submit('a', 'b', 'c', 'd', 'e');
    const { master } = harness;
    const asked = [
      master.move('c', 'first'),
      master.change('b', { priority: 3_600 }),
      master.move('d', 'first'),
      master.move('a', 'last'),
      master.cancel('e'),
      master.move('c', 'last'),
    ];
    for (const answer of asked) expect(await answer).to.include({ kind: 'done' });
    expect(await runAll()).to.deep.equal(['d', 'b', 'a', 'c']);
  });

  it('lets groups take their turns: it is first of its group', async () => {
    const { master } = harness;
    const text = JSON.stringify({ fair_by: 'group' });
    await master.changeType({ type: 'typeSet', name: 'echo', text, expect: null });
    const of = (group: string) => (id: string) => ({ id, user: user(group) });
    await submit(...['a', 'b', 'c'].map(of('g')), ...['d', 'e', 'f'].map(of('h')));
    await move('first', 'f', 'c');
    expect(await runAll()).to.deep.equal(['c', 'f', 'a', 'd', 'b', 'e']);
  });

  describe('many of them', () => {
    async function bulk(action: BulkAction, ids: readonly string[] | null): Promise<void> {
      const operations = harness.master.operations();
      const asked = { action, filter: null, ids };
      const preview = await operations.preview(asked);
      const begun = { ...asked, ...preview, change: null, reason: null, by: null };
      expect(await operations.begin(`op-${action}`, begun)).to.deep.equal({ kind: 'done' });
      await settled();
      const [work] = await operations.all();
      expect(work?.state).to.equal('done');
    }

    it('keep the order in which they are named, and others theirs', async () => {
      await submit('a', 'b', 'c', 'd', 'e', 'f');
      await bulk('first', ['e', 'a', 'd']);
      await bulk('last', ['d', 'b']);
      expect(await runAll()).to.deep.equal(['e', 'a', 'c', 'f', 'd', 'b']);
    });

    it('of more types than one go to the ends of their own', async () => {
      await submit('a', { id: 'm', type: 'mix' }, 'b', { id: 'n', type: 'mix' });
      await bulk('first', ['b', 'n']);
      expect(await runAll(['echo', 'mix'])).to.deep.equal(['b', 'a', 'n', 'm']);
    });
  });
});
