/** What waits, by what keeps the first of it: by lanes, whatever there is of them. */
import { expect } from 'chai';
import { healthOf } from '../../../master/domain/health/health.ts';
import { Outcomes } from '../../../master/domain/health/outcomes.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import { atOnce, PIECE_COUNT } from '../../../master/domain/pieces.ts';
import { dequeue } from '../../../master/domain/queue/waiting.ts';
import { backlogOf } from '../../../master/domain/views/backlog.ts';
import { headsOf } from '../../../master/domain/why/heads.ts';
import { whyOf } from '../../../master/domain/why/why.ts';
import { BEGIN, MINUTE, Scheduler } from '../../helpers/domain.ts';
import { sampleTask } from '../../helpers/task.ts';

describe('what keeps the first tasks that wait', () => {
  const brief = (scheduler: Scheduler, sight = ALL) =>
    atOnce(headsOf(scheduler.state, scheduler.now, sight)).heads.map(
      ({ type, obstacle, count }) => `${type} ${obstacle?.reason ?? 'nothing'} ${count}`,
    );

  it('is told once for each type and reason, who waits longest first', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.run('x', { id: 'running' });
    scheduler.submit({ id: 'a', requires: ['gpu'] }, { id: 'b', requires: ['cpu'] });
    scheduler.now += MINUTE;
    scheduler.submit({ id: 'c' }, { id: 'd' }, { id: 'e', type: 'other' });
    expect(brief(scheduler)).to.deep.equal([
      'echo labels_unmatched 2',
      'echo all_busy 2',
      'other no_executor 1',
    ]);
    expect(brief(scheduler, { types: ['other'], groups: null })).to.deep.equal([
      'other no_executor 1',
    ]);
    expect(brief(scheduler, { types: null, groups: ['nobody'] })).to.deep.equal([]);
  });

  it('is told with the numbers that a task by itself is told', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x', { types: ['other'] });
    scheduler.connect('y');
    scheduler.connect('away', { types: ['other'] });
    scheduler.disconnect('away');
    scheduler.submit({ id: 'a', requires: ['gpu'] });
    const { state, now } = scheduler;
    const [head] = atOnce(headsOf(state, now, ALL)).heads;
    const { facts } = whyOf(state, { task: head!.task!, notification: null }, now, true);
    expect(head?.obstacle?.facts.executors).to.deep.include({ connected: 2, of_type: 1 });
    expect(head?.obstacle?.facts).to.deep.equal(facts);
  });

  it('is known of what was not read yet, until the first of it may be gone', () => {
    const stored = { lane: 2, count: 3, heldCount: 0, suspendedCount: 0 };
    const dueAt = BEGIN - MINUTE;
    const { scheduler } = Scheduler.restored({ lanes: [{ ...stored, dueAt }] });
    const sinces = () =>
      atOnce(headsOf(scheduler.state, scheduler.now, ALL)).heads.map((one) => one.since);
    const typeOf = () => atOnce(backlogOf(scheduler.state, scheduler.now)).types[0];
    expect(sinces()).to.deep.equal([dueAt]);
    expect(typeOf()?.oldestWaitingMs).to.equal(MINUTE);
    scheduler.submit({ id: 'later' });
    expect(sinces()).to.deep.equal([dueAt]);
    dequeue(scheduler.state, sampleTask({ state: 'waiting', lane: 2, dueAt }));
    expect(sinces()).to.deep.equal([null]);
    const flowOf = () =>
      atOnce(healthOf(scheduler.state, new Outcomes(BEGIN), scheduler.now, ALL)).flow;
    expect(flowOf()).to.include({ oldestWaitMs: null, isOldestKnown: false });
    expect(flowOf().message).to.match(/waiting, for how long is not known yet\.$/);

    // All that is left of it is in memory, and due later.
    const runAt = BEGIN + 60 * MINUTE;
    const { scheduler: one } = Scheduler.restored({ lanes: [{ ...stored, count: 2, dueAt }] });
    const task = sampleTask({ id: 'later', state: 'waiting', lane: 2, dueAt: runAt, seq: 7 });
    one.send({ type: 'delayedLoaded', tasks: [task], complete: true });
    expect(brief(one)).to.deep.equal(['echo no_executor 2']);
    dequeue(one.state, sampleTask({ state: 'waiting', lane: 2, dueAt }));
    expect(brief(one)).to.deep.equal([]);

    const later = { ...stored, dueAt: BEGIN + MINUTE };
    const { scheduler: idle } = Scheduler.restored({ lanes: [later] });
    expect(atOnce(headsOf(idle.state, idle.now, ALL)).heads).to.deep.equal([]);
    expect(atOnce(headsOf(idle.state, later.dueAt, ALL)).heads[0]).to.include({
      since: later.dueAt,
    });
  });

  it('is known also of what memory has given up', () => {
    const sinceOf = ({ state, now }: Scheduler) =>
      atOnce(headsOf(state, now, ALL)).heads.map(({ since }) => since);
    const scheduler = new Scheduler();
    scheduler.submit({ id: 'a', params: '{"film":"a"}' });
    const text = '{"limits":{"concurrency":{"pointer":"/film","max":1}}}';
    scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
    expect(scheduler.state.tasks.size, 'its place is asked for when it is read').to.equal(0);
    expect(sinceOf(scheduler)).to.deep.equal([BEGIN]);

    const full = new Scheduler({ windowBytesMax: 1 });
    full.submit({ id: 'a', params: JSON.stringify('x'.repeat(9_000)) });
    full.now += MINUTE;
    full.submit({ id: 'b' });
    expect(full.state.tasks.size, 'there is no room').to.equal(0);
    expect(sinceOf(full)).to.deep.equal([BEGIN]);
  });

  it('is found in pieces, however many lanes there are', () => {
    const scheduler = new Scheduler();
    scheduler.submit({ id: 'a' });
    const [lane] = scheduler.state.lanes.values();
    if (lane === undefined) throw new Error('there is no lane');
    const lanes = new Map(Array.from({ length: 3 * PIECE_COUNT }, (_, id) => [id, lane]));
    let [lookCount, lastCount, longest, pieceCount] = [0, 0, 0, 0];
    lanes.values = function* values() {
      for (let left = lanes.size; left > 0; left--) {
        lookCount++;
        yield lane;
      }
    } as typeof lanes.values;
    // What waits is asked for what keeps it, and then counted.
    for (const _ of backlogOf({ ...scheduler.state, lanes }, scheduler.now)) {
      longest = Math.max(longest, lookCount - lastCount);
      lastCount = lookCount;
      pieceCount += 1;
    }
    expect(lookCount).to.equal(6 * PIECE_COUNT);
    expect(pieceCount).to.be.at.least(6);
    expect(longest).to.be.at.most(PIECE_COUNT);
  });

  it('is asked of some of each type only, and it is told how many others wait', () => {
    const scheduler = new Scheduler();
    for (let at = 0; at < 20; at++) {
      scheduler.submit({ id: `a${at}`, requires: [`label-${at}`] });
    }
    const { heads, unaskedCount } = atOnce(headsOf(scheduler.state, scheduler.now, ALL));
    expect(heads.map(({ count }) => count)).to.deep.equal([8]);
    expect(unaskedCount).to.equal(12);
  });
});
