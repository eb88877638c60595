/** Pauses of groups, of labels, and of all namespaces: what is not offered meanwhile, and what happens afterwards. */
import { expect } from 'chai';
import { PAUSES_MAX } from '../../../master/domain/bounds.ts';
import type { Output } from '../../../master/domain/effects.ts';
import type { NewTask } from '../../../master/domain/events.ts';
import {
  type Absence,
  creditOf,
  joined,
  type RowScope,
} from '../../../master/domain/model/pause.ts';
import { atOnce } from '../../../master/domain/pieces.ts';
import { backlogOf } from '../../../master/domain/views/backlog.ts';
import { explain } from '../../../master/domain/views/explain.ts';
import { pauseOf, pausesAfter } from '../../../master/domain/views/pauses.ts';
import { BEGIN, finished, MINUTE, offers, Scheduler, SECOND } from '../../helpers/domain.ts';
import { noRows } from '../../helpers/task.ts';
import { Random } from '../../sim/random.ts';

let scheduler: Scheduler;
beforeEach(() => {
  scheduler = new Scheduler();
});

const of = (group: string) => ({ group, project: null, env: null, user: null });
const pause = (scope: RowScope, value = '', until: number | null = null) =>
  scheduler.command({
    type: 'pauseSet',
    scope,
    value,
    pause: { by: 'ann', reason: 'disk full', until },
  });
const resume = (scope: RowScope, value = '') =>
  scheduler.command({ type: 'pauseSet', scope, value, pause: null });
const submit = (id: string, fields: Partial<NewTask> = {}) =>
  offers(scheduler.submit({ id, ...fields }));
const why = (id: string) => explain(scheduler.state, scheduler.task(id), scheduler.now);
const rowsOf = ({ changes }: Pick<Output, 'changes'>) =>
  changes.flatMap((one) => (one.op === 'put' && one.table === 'pause' ? [one.row] : []));
const whose = (id: string) => (why(id).pauses ?? []).map(({ scope, value }) => `${scope} ${value}`);

describe('a pause', () => {
  it('of a group keeps its tasks, those that come later too, and no others', () => {
    submit('a', { user: of('news') });
    pause('group', 'news');
    submit('b', { user: of('news'), type: 'other' });
    submit('c', { user: of('sport') });
    expect(offers(scheduler.connect('x'))).to.deep.equal(['c -> x']);
    expect(offers(scheduler.connect('y', { types: ['echo', 'other'] }))).to.deep.equal([]);
    expect(why('a')).to.deep.include({
      reason: 'paused',
      message: 'Nothing of group news is started until somebody ends it: disk full',
    });
    expect(offers(resume('group', 'news'))).to.deep.equal(['a -> y']);
    expect(offers(scheduler.connect('z', { types: ['other'] }))).to.deep.equal(['b -> z']);
  });

  it('of a label keeps tasks of all types that require it or carry it', () => {
    const types = ['echo', 'other'];
    pause('label', 'gpu');
    submit('a', { requires: ['gpu'] });
    submit('b', { type: 'other', labels: ['urgent', 'gpu'] });
    submit('c', { labels: ['urgent'] });
    scheduler.connect('x', { types, labels: ['gpu', 'cpu'] });
    expect(scheduler.task('c').state).to.equal('offered');
    expect(offers(scheduler.connect('y', { types, labels: ['gpu'] }))).to.deep.equal([]);
    scheduler.connect('z', { types });
    expect([whose('a'), whose('b')]).to.deep.equal([['label gpu'], ['label gpu']]);
    expect(offers(resume('label', 'gpu')).sort()).to.have.length(2);
  });

  it('leaves what is offered and what runs', () => {
    scheduler.connect('x');
    expect(submit('a')).to.deep.equal(['a -> x']);
    pause('group', 'g');
    scheduler.accept('x');
    scheduler.end('x');
    expect(submit('b')).to.deep.equal([]);
  });

  it('holds for as long as any of several that concern a task', () => {
    scheduler.connect('x');
    pause('group', 'g');
    pause('label', 'gpu');
    scheduler.command({ type: 'typePaused', name: 'echo', reason: null, until: null, by: null });
    pause('all');
    submit('a', { labels: ['gpu'] });
    expect(whose('a')).to.deep.equal(['all ', 'type echo', 'group g', 'label gpu']);
    expect(why('a').message).to.equal(
      'Nothing is started until somebody ends it (3 other pauses too): disk full',
    );
    expect(offers(resume('all'))).to.deep.equal([]);
    expect(offers(resume('group', 'g'))).to.deep.equal([]);
    expect(offers(scheduler.command({ type: 'typeResumed', name: 'echo' }))).to.deep.equal([]);
    expect(offers(resume('label', 'gpu'))).to.deep.equal(['a -> x']);
  });

  it('of all keeps everything, and ends by itself', () => {
    pause('all', '', BEGIN + MINUTE);
    scheduler.connect('x');
    expect(submit('a')).to.deep.equal([]);
    expect(why('a').message).to.equal('Nothing is started for another 1 min: disk full');
    expect(offers(scheduler.pass(MINUTE - 1))).to.deep.equal([]);
    expect(offers(scheduler.pass(1))).to.deep.equal(['a -> x']);
    expect(pauseOf(scheduler.state, 'all', '')).to.equal(null);
  });

  it('ends by itself when it says so last, and keeps its beginning', () => {
    pause('group', 'g', BEGIN + MINUTE);
    scheduler.connect('x');
    submit('a');
    scheduler.pass(30 * SECOND);
    pause('group', 'g', BEGIN + 2 * MINUTE);
    expect(pauseOf(scheduler.state, 'group', 'g')).to.include({ at: BEGIN, by: 'ann' });
    expect(offers(scheduler.pass(90 * SECOND - 1))).to.deep.equal([]);
    expect(offers(scheduler.pass(1))).to.deep.equal(['a -> x']);
  });

  it('gives its time back to start timeouts, once where several overlap; a deadline runs on', () => {
    for (const id of ['a', 'b']) {
      const deadlineAt = id === 'b' ? BEGIN + 5 * MINUTE : null;
      submit(id, { startTimeoutMs: 2 * MINUTE, labels: ['gpu'], deadlineAt });
    }
    submit('c', { startTimeoutMs: 2 * MINUTE, user: of('sport') });
    scheduler.pass(MINUTE);
    pause('group', 'g');
    const ended = finished(scheduler.pass(MINUTE));
    expect(ended.map(({ id }) => id)).to.deep.equal(['c']);
    pause('label', 'gpu');
    scheduler.pass(MINUTE);
    resume('group', 'g');
    expect(finished(scheduler.pass(2 * MINUTE)).map(({ state }) => state)).to.deep.equal([
      'expired',
    ]);
    resume('label', 'gpu');
    expect(finished(scheduler.pass(MINUTE - 1))).to.deep.equal([]);
    expect(finished(scheduler.pass(1)).map(({ id }) => id)).to.deep.equal(['a']);
  });

  it('gives it back to a task that is taken out of it, and to one that comes into it only from then on', () => {
    for (const id of ['a', 'b']) submit(id, { startTimeoutMs: 10 * MINUTE, user: of(id) });
    const move = (taskId: string, group: string) =>
      scheduler.command({
        type: 'changeRequested',
        taskId,
        change: { user: of(group) },
        seen: { seq: null, version: null },
      });
    scheduler.pass(MINUTE);
    pause('group', 'a');
    scheduler.pass(5 * MINUTE);
    move('a', 'free');
    move('b', 'a');
    scheduler.pass(5 * MINUTE);
    resume('group', 'a');
    const ends = [];
    for (let minute = 12; minute < 18; minute++) {
      for (const { id } of finished(scheduler.pass(MINUTE))) ends.push(`${id} ${minute}`);
    }
    expect(ends).to.deep.equal(['a 15', 'b 15']);
  });

  it('gives it back after an absence of the master once too', () => {
    submit('a', { startTimeoutMs: 2 * MINUTE });
    scheduler.pass(MINUTE);
    pause('group', 'g');
    scheduler.pass(MINUTE);
    scheduler.send({ type: 'stoodStill', hiddenMs: 30 * SECOND });
    scheduler.pass(MINUTE);
    resume('group', 'g');
    expect(finished(scheduler.pass(MINUTE - 1))).to.deep.equal([]);
    expect(finished(scheduler.pass(1))).to.have.length(1);
  });

  it('of one group leaves their turns to the others', () => {
    scheduler.command({ type: 'typeSet', name: 'echo', text: '{"fair_by":"group"}', expect: null });
    for (const group of ['a', 'b']) {
      for (const n of [1, 2]) submit(`${group}${n}`, { user: of(group) });
    }
    pause('group', 'a');
    expect(offers(scheduler.connect('x'))).to.deep.equal(['b1 -> x']);
    expect(offers(scheduler.connect('y'))).to.deep.equal(['b2 -> y']);
    expect(offers(scheduler.connect('z'))).to.deep.equal([]);
    expect(offers(resume('group', 'a'))).to.deep.equal(['a1 -> z']);
  });

  it('is a row, by which the next master knows of it', () => {
    const rows = rowsOf(pause('label', 'gpu'));
    expect(rows).to.have.length(1);
    const { scheduler: next } = Scheduler.restored({ whole: { ...noRows, pause: rows } });
    scheduler = next;
    scheduler.connect('x', { labels: ['gpu'] });
    expect(submit('a', { requires: ['gpu'] })).to.deep.equal([]);
    expect(offers(resume('label', 'gpu'))).to.deep.equal(['a -> x']);
  });

  it('of all holds in a namespace that nobody led, and ends where it ended meanwhile', () => {
    const ofAll = { at: BEGIN - MINUTE, by: 'ann', reason: null, until: null };
    const begun = Scheduler.restored({ pauseOfAll: ofAll });
    scheduler = begun.scheduler;
    scheduler.connect('x');
    expect(submit('a')).to.deep.equal([]);
    const [row] = rowsOf(begun.output);
    expect(row).to.include({ scope: 'all', by: 'ann', at: BEGIN });
    scheduler = Scheduler.restored({ whole: { ...noRows, pause: [row!] } }).scheduler;
    scheduler.connect('x');
    expect(submit('a')).to.deep.equal(['a -> x']);
  });

  it('is refused beyond so many, but for those that are there, and for all', () => {
    for (let n = 0; n < PAUSES_MAX; n++) pause('group', `g-${n}`);
    expect(pause('label', 'one-more').reply).to.deep.equal({
      kind: 'full',
      message: '200 groups and labels are paused: end one of these pauses',
    });
    expect(pause('group', 'g-0').reply).to.deep.equal({ kind: 'done' });
    expect(pause('all').reply).to.deep.equal({ kind: 'done' });
    expect(pausesAfter(scheduler.state, '', 1_000)).to.have.length(PAUSES_MAX + 1);
  });

  it('ends in one tick with the others that end then, and all that waits is credited in one go', () => {
    submit('a', { user: of('g-2'), startTimeoutMs: MINUTE });
    submit('b', { user: of('g-3'), labels: ['gpu'], startTimeoutMs: MINUTE });
    scheduler.now = BEGIN + SECOND;
    for (let n = 0; n < 5; n++) pause('group', `g-${n}`, BEGIN + MINUTE);
    pause('label', 'gpu', BEGIN + MINUTE);
    scheduler.now = BEGIN + MINUTE;
    const { changes } = scheduler.send({ type: 'ticked' });
    expect(scheduler.state.pauses.size).to.equal(0);
    // Where nothing waits there is nothing to be credited.
    const credits = changes.flatMap((one) => (one.op === 'credit' ? [one.absence] : []));
    const values = credits.flatMap(({ of: some = [] }) => some.map(({ value }) => value));
    expect(values).to.have.members(['g-2', 'g-3', 'gpu']);
    expect(joined(credits)).to.have.length(1);
    for (const id of ['a', 'b'])
      expect(scheduler.task(id).startBy).to.equal(BEGIN + 2 * MINUTE - SECOND);
    expect(offers(scheduler.connect('x'))).to.deep.equal(['a -> x']);
  });

  it('is credited the same with others at once as after one another', () => {
    const random = new Random(7);
    const scopes = ['group', 'label', 'type'] as const;
    for (let round = 0; round < 500; round++) {
      const all = Array.from({ length: 5 }, () => {
        return {
          scope: random.pick(scopes),
          value: random.pick(['a', 'b']),
          at: random.between(0, 59),
        };
      });
      const pauses = all.filter(({ scope, value }, index) => {
        return all.findIndex((one) => one.scope === scope && one.value === value) === index;
      });
      const endCount = random.between(0, pauses.length);
      const absences = pauses.slice(0, endCount).map((one, index): Absence => {
        return { from: one.at, until: 60, of: [one], besides: pauses.slice(index + 1) };
      });
      const labels = [random.pick(['a', 'b', 'c'])];
      const dueAt = random.between(0, 69);
      const task = {
        type: random.pick(['a', 'b', 'c']),
        user: { group: random.pick(['a', 'b', 'c']) },
        labels,
        requires: [],
        dueAt,
        startBy: dueAt + random.between(1, 30),
        deadlineAt: null,
      };
      const credited = (some: readonly Absence[]) =>
        some
          .map(creditOf)
          .reduce((startBy, credit) => credit({ ...task, startBy }), task.startBy as number | null);
      const what = JSON.stringify({ absences, task });
      expect(credited(joined(absences)), what).to.equal(credited(absences));
      expect(joined(absences).length).to.be.at.most(1);
    }
  });

  it('that is to end goes on where it is made longer before its turn', () => {
    for (const group of ['a', 'b']) pause('group', group, BEGIN + MINUTE);
    scheduler.now = BEGIN + MINUTE;
    scheduler.send({ type: 'ticked' });
    pause('group', 'b', BEGIN + 2 * MINUTE);
    scheduler.pass(MINUTE - 1);
    expect([...scheduler.state.pauses.values()].map(({ value }) => value)).to.deep.equal(['b']);
    scheduler.pass(1);
    expect(scheduler.state.pauses.size).to.equal(0);
  });

  it('of all is followed at a tick, whoever was to tell of it', () => {
    const ofAll = { at: BEGIN, by: 'ann', reason: null, until: null };
    scheduler.connect('x');
    scheduler.send({ type: 'ticked', pauseOfAll: ofAll });
    expect(submit('a')).to.deep.equal([]);
    expect(rowsOf(scheduler.send({ type: 'ticked', pauseOfAll: ofAll }))).to.deep.equal([]);
    expect(offers(scheduler.send({ type: 'ticked', pauseOfAll: null }))).to.deep.equal(['a -> x']);
  });

  it('shows in what waits', () => {
    submit('a');
    submit('b', { user: of('sport') });
    pause('group', 'g');
    const [echo] = atOnce(backlogOf(scheduler.state, scheduler.now)).types;
    expect(echo).to.include({ waitingCount: 2, pausedCount: 1 });
  });
});
