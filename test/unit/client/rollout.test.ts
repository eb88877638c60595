/** Whom a drain of many executors drains next, and when it is over: by what the master says of the fleet. */
import type { ExecutorView } from '@soda-scheduler/client';
import { expect } from 'chai';
import { Rollout } from '../../../client/executors/rollout.ts';

const REASON = 'why';

/** Idle, unless told otherwise. */
function view(executor_id: string, more: Partial<ExecutorView> = {}): ExecutorView {
  return {
    executor_id,
    state: 'idle',
    superseded: false,
    connected: true,
    draining: false,
    drain_reason: null,
    types: ['t'],
    host: `host of ${executor_id}`,
    task_id: null,
    connected_at: 'then',
    ready: { ok: true, reason: null, disk_bytes: null },
    ...more,
  } as ExecutorView;
}

const busy = { task_id: 'task' };
const drained = { draining: true, drain_reason: REASON };

describe('a rolling drain', () => {
  const rollout = (maxUnavailable: number, until: 'empty' | 'replaced' = 'empty') => {
    const it = new Rollout({ maxUnavailable, until, reason: REASON });
    return (selected: readonly ExecutorView[], others: readonly ExecutorView[] = [], nowMs = 0) => {
      const { steps, ...plan } = it.look(selected, [...selected, ...others], nowMs);
      return { ...plan, steps: steps.map(({ executorId, step }) => `${executorId} ${step}`) };
    };
  };

  it('takes the idle ones first, and so many only as there may be at work still', () => {
    const look = rollout(2);
    const first = look([view('a', busy), view('b', busy), view('c')]);
    expect(first.drain).to.deep.equal(['c', 'a']);
    expect(first.progress).to.deep.equal({
      total: 3,
      done: 0,
      running: ['c', 'a'],
      awaited: 0,
      left: 1,
    });
    const next = look([view('a', { ...busy, ...drained }), view('b', busy), view('c', drained)]);
    expect([next.drain, next.steps]).to.deep.equal([['b'], ['c empty', 'b draining']]);
    const last = look([view('a', drained), view('b', drained), view('c', drained)]);
    expect([last.isOver, last.steps]).to.deep.equal([true, ['a empty', 'b empty']]);
  });

  it('is over at once where nobody is selected, and done with those that are gone', () => {
    expect(rollout(1)([]).isOver).to.equal(true);
    const look = rollout(1);
    look([view('a', busy)]);
    const { isOver, steps } = look([], [view('a', { state: 'gone', ...drained })]);
    expect([isOver, steps]).to.deep.equal([true, ['a left']]);
  });

  it('waits for those that were drained before it began', () => {
    const look = rollout(1);
    expect(
      look([view('a', { ...busy, ...drained, drain_reason: 'other' }), view('b')]).drain,
    ).to.deep.equal([]);
    expect(look([view('a', drained), view('b')]).drain).to.deep.equal(['b']);
  });

  it('keeps waiting for a process whose id another one has taken over', () => {
    const look = rollout(1);
    look([view('a', busy)]);
    const old = view('a', { ...busy, ...drained, superseded: true, connected: false });
    expect(look([old], [view('a', { ...drained, ...busy })]).isOver).to.equal(false);
    expect(look([], [view('a', { ...drained, ...busy })]).isOver).to.equal(true);
  });

  it('takes nobody for gone whom a master that has begun anew does not know yet', () => {
    const look = rollout(2);
    look([view('a', busy), view('b')]);
    const unknown = view('a', { ...busy, ...drained, connected: false, connected_at: null });
    const { isOver, progress, drain } = look([], [unknown], 1_000);
    expect([isOver, drain]).to.deep.equal([false, []]);
    expect(progress).to.deep.include({ total: 2, left: 0, running: ['a'] });
  });

  it('takes nobody for another who came between the two answers that a look is made of', () => {
    const look = rollout(1);
    look([view('a', busy), view('b', busy)]);
    // The master was started again: the list of those selected was made before they were back.
    look([], [view('a', { ...busy, ...drained, connected: false, connected_at: null })], 1_000);
    const later = { connected_at: 'later' };
    const back = [view('a', { ...busy, ...drained, ...later }), view('b', { ...busy, ...later })];
    const between = look([], back, 2_000);
    expect([between.isOver, between.steps, between.isUnsure]).to.deep.equal([false, [], true]);
    expect(between.progress).to.deep.include({ total: 2, running: ['a'], left: 1 });
    expect(look(back, [], 3_000).isUnsure).to.equal(false);
    const [, b] = back as [ExecutorView, ExecutorView];
    expect(look([b], [], 4_000).drain).to.deep.equal(['b']);
  });

  it('waits a minute for those whose turn had not come when they were lost sight of', () => {
    const look = rollout(1);
    look([view('a', busy), view('b', busy)]);
    expect(look([], [], 59_000).isOver).to.equal(false);
    expect(look([], [], 60_001).isOver).to.equal(true);
  });

  describe('until others have taken their places', () => {
    it('gives tasks again to who comes back as another, and goes on when it takes them', () => {
      const look = rollout(1, 'replaced');
      expect(look([view('a'), view('b')]).drain).to.deep.equal(['a']);
      expect(look([view('a', drained), view('b')]).drain, 'it is empty only').to.deep.equal([]);
      expect(look([view('b')]).progress).to.deep.include({ done: 0, awaited: 1, left: 1 });
      expect(look([view('b')], [view('a', drained)]).resume).to.deep.equal([]);
      const back = look([view('b')], [view('a', drained)]);
      expect([back.resume, back.drain]).to.deep.equal([['a'], []]);
      const unready = { ready: { ok: false, reason: 'no', disk_bytes: null } };
      expect(look([view('b')], [view('a', unready)]).drain).to.deep.equal([]);
      expect(look([view('b')], [view('a')]).drain).to.deep.equal(['b']);
      expect(look([], [view('a'), view('b')]).isOver).to.equal(true);
    });

    it('neither resumes nor counts who came between the two answers that a look is made of', () => {
      const look = rollout(1, 'replaced');
      look([view('a', busy), view('b', busy)]);
      const later = { connected_at: 'later' };
      const back = [view('a', { ...busy, ...drained, ...later }), view('b', { ...busy, ...later })];
      const between = look([], back);
      expect([between.isOver, between.resume, between.steps]).to.deep.equal([false, [], []]);
      const next = look(back);
      expect([next.isOver, next.resume, next.drain]).to.deep.equal([false, [], []]);
      const other = { connected_at: 'at last' };
      expect(look([view('b')], [view('a', { ...drained, ...other })]).resume).to.deep.equal([]);
      expect(look([view('b')], [view('a', { ...drained, ...other })]).resume).to.deep.equal(['a']);
    });

    it('counts who was not here before, and nobody else', () => {
      const look = rollout(1, 'replaced');
      const other = view('other');
      look([view('a'), view('b')], [other]);
      expect(look([view('b')], [other]).drain).to.deep.equal([]);
      expect(look([view('b')], [other, view('c', { types: ['u'] })]).drain).to.deep.equal([]);
      expect(look([view('b')], [other, view('c', { connected: false })]).drain).to.deep.equal([]);
      expect(look([view('b')], [other, view('c')]).drain).to.deep.equal(['b']);
      expect(look([], [other, view('c'), view('d')]).isOver).to.equal(false);
      expect(look([], [other, view('c'), view('d')]).isOver).to.equal(true);
    });

    it('goes on where one before it was interrupted, and leaves alone what others have drained', () => {
      const look = rollout(2, 'replaced');
      const theirs = view('x', { draining: true, drain_reason: 'broken' });
      const fleet = [[view('a', drained), view('b'), theirs], [view('c', drained)]] as const;
      const { drain, progress } = look(...fleet);
      expect(drain).to.deep.equal(['b']);
      expect(progress.total).to.equal(2);
      expect(look(...fleet).resume).to.deep.equal(['c']);
    });

    it('is not over before it has resumed whom one before it has drained', () => {
      const look = rollout(1, 'replaced');
      expect(look([], [view('a', drained)]).isOver).to.equal(false);
      const { resume, isOver } = look([], [view('a', drained)]);
      expect([resume, isOver]).to.deep.equal([['a'], true]);
    });
  });
});
