/** What every store must do with what feeds tell. */
import { expect } from 'chai';
import type { Commit, EventQuery, Store, TaskStore } from '../../../master/application/ports.ts';
import type { FeedEvent } from '../../../master/domain/feed/feed-event.ts';
import { taskInserted } from '../../../master/domain/changes.ts';
import { fold } from '../../../master/application/engine/fold.ts';
import { NO_SETTINGS } from '../../../master/domain/state/state.ts';
import { NOW, sampleTask } from '../../helpers/task.ts';
import { failureOf } from '../sample.ts';
import { describeStores } from '../subjects.ts';

const eventOf = (seq: number, change: Partial<FeedEvent> = {}): FeedEvent => ({
  seq,
  at: NOW + seq,
  kind: 'task.started',
  taskSeq: 1,
  taskId: 'job-1',
  type: 'encode',
  group: 'vidéo',
  attempt: 1,
  executorId: 'x-1',
  actor: null,
  data: null,
  ...change,
});

/** It differs in a blank at its end. */
const OTHER = 'vidéo ';

const everything: EventQuery = {
  after: null,
  taskSeq: null,
  type: null,
  group: null,
  kind: null,
  within: null,
  limit: 100,
  lookCount: 1_000,
};

const commitOf = (
  term: number,
  events: readonly FeedEvent[],
  rest: Partial<Commit> = {},
): Commit => ({
  events,
  ...fold([], { term, lastSeq: 0 }, NOW),
  ...rest,
});

describeStores('the feed', (open) => {
  let store: Store;
  let tasks: TaskStore;
  let term: number;
  const read = async (change: Partial<EventQuery> = {}) => {
    const page = await tasks.readEvents({ ...everything, ...change });
    return { ...page, events: page.events.map(({ seq }) => seq) };
  };

  beforeEach(async () => {
    store = await open();
    await store.open(NOW);
    tasks = store.tasks(0);
    ({ term } = await tasks.takeTerm('test', NOW));
  });

  it('has what commits tell, as it was told, and goes on with its numbers in the next term', async () => {
    expect(await read()).to.deep.equal({ events: [], next: 0, oldest: 1, newest: 0 });
    const first = eventOf(1, { actor: 'ann', data: '{"error":"späti 🙂"}' });
    const second = eventOf(2, {
      ...{ kind: 'executor.left', taskSeq: null, taskId: null, type: null },
      ...{ group: null, attempt: null },
    });
    await tasks.commit(commitOf(term, [first, second]));
    await tasks.commit(commitOf(term, [], { saysAlive: true }));
    await Promise.all([
      tasks.commit(commitOf(term, [eventOf(3)])),
      tasks.commit(commitOf(term, [eventOf(4)])),
    ]);
    const { events, ...rest } = await tasks.readEvents(everything);
    expect(events).to.deep.equal([first, second, eventOf(3), eventOf(4)]);
    expect(rest).to.deep.equal({ next: 4, oldest: 1, newest: 4 });
    expect((await tasks.takeTerm('other', NOW)).lastEventSeq).to.equal(4);
  });

  it('keeps apart what differs in one thing only, however many a commit tells', async () => {
    const changes: Partial<FeedEvent>[] = [
      ...[{}, { at: NOW + 1 }, { kind: 'task.finished' }, { attempt: 2 }, { actor: 'ann' }],
      ...[
        { type: null },
        { type: 'null' },
        { group: null },
        { group: 'null' },
        { group: 'null null' },
      ],
      ...[{ data: '{}' }, { executorId: null }, { taskSeq: null, taskId: null }, { type: 'a b' }],
    ] as const;
    const all = Array.from({ length: 300 }, (_, at) => {
      const own = { at: NOW, taskSeq: at, taskId: `job-${at}`, executorId: `x-${at % 7}` };
      // Many of one, then each by turns.
      return eventOf(at + 1, { ...own, ...(at < 150 ? {} : changes[at % changes.length]) });
    });
    await Promise.all([
      tasks.commit(commitOf(term, all.slice(0, 20))),
      tasks.commit(commitOf(term, all.slice(20))),
    ]);
    const { events } = await tasks.readEvents({ ...everything, limit: 300 });
    expect(events).to.deep.equal(all);
  });

  it('has nothing of a commit that was refused, and gives none of its numbers away', async () => {
    const task = sampleTask({ seq: 1, id: 'job-1' });
    const folded = () => fold([taskInserted({ ...task })], { term, lastSeq: 1 }, NOW);
    await tasks.commit(commitOf(term, [eventOf(1)], folded()));
    expect(await failureOf(tasks.commit(commitOf(term, [eventOf(2)], folded())))).to.be.an('error');
    const newer = await tasks.takeTerm('other', NOW);
    expect(newer.lastEventSeq).to.equal(1);
    expect(await failureOf(tasks.commit(commitOf(term, [eventOf(2)])))).to.be.an('error');
    await tasks.commit(commitOf(newer.term, [eventOf(2)]));
    expect(await read()).to.deep.equal({ events: [1, 2], next: 2, oldest: 1, newest: 2 });
  });

  it('takes no number twice', async () => {
    await tasks.commit(commitOf(term, [eventOf(1)]));
    expect(await failureOf(tasks.commit(commitOf(term, [eventOf(1)])))).to.be.an('error');
    expect((await read()).events).to.deep.equal([1]);
  });

  it('finds by task, type, group, kind and scope, looks at so many numbers, and says how far it has looked', async () => {
    const all = [
      ...[eventOf(1), eventOf(2, { taskSeq: 2, kind: 'task.finished' })],
      ...[eventOf(3, { type: 'probe' }), eventOf(4, { group: OTHER })],
      eventOf(5, { kind: 'pause.set', taskSeq: null, taskId: null, type: null, group: null }),
      eventOf(6, { kind: 'pause.set', taskSeq: null, taskId: null, type: null }),
    ];
    await tasks.commit(commitOf(term, all));
    const found = async (change: Partial<EventQuery>) => (await read(change)).events;
    expect(await found({ taskSeq: 2 })).to.deep.equal([2]);
    expect(await found({ type: 'probe' })).to.deep.equal([3]);
    expect(await found({ group: 'vidéo' })).to.deep.equal([1, 2, 3, 6]);
    expect(await found({ kind: 'task' })).to.deep.equal([1, 2, 3, 4]);
    expect(await found({ kind: 'task.finished' })).to.deep.equal([2]);
    const within = { types: ['encode'], groups: ['vidéo'] };
    expect(await found({ within })).to.deep.equal([1, 2, 6]);
    expect(await found({ within: { types: null, groups: [OTHER] } })).to.deep.equal([4]);
    expect(await read({ type: 'none', lookCount: 4 })).to.include({ next: 4, newest: 6 });
    expect(await read({ limit: 2 })).to.deep.include({ events: [1, 2], next: 2 });
    expect(await read({ after: 4, limit: 1 })).to.deep.include({ events: [5], next: 5 });
    expect(await read({ taskSeq: 1, after: 1, limit: 1 })).to.deep.include({
      events: [3],
      next: 3,
    });
    expect(await read({ taskSeq: 1, after: 3 })).to.deep.include({ events: [4], next: 6 });
    const ofOne = { taskSeq: 1, kind: 'none' };
    expect(await read({ ...ofOne, lookCount: 2 }), 'of its own').to.deep.include({ next: 3 });
    expect(await read({ ...ofOne, lookCount: 3 })).to.deep.include({ events: [], next: 4 });
    expect(await read({ ...ofOne, lookCount: 9 })).to.deep.include({ events: [], next: 6 });
    expect(await read({ after: 6 })).to.deep.include({ events: [], next: 6 });
  });

  it('finds what is rare among many of one task', async () => {
    const told = Array.from({ length: 2_500 }, (_, index) =>
      eventOf(index + 1, {
        taskSeq: 1 + (index % 2),
        ...(index === 2_400 && { kind: 'task.finished' }),
      }),
    );
    await tasks.commit(commitOf(term, told));
    const ofOne = { taskSeq: 1, kind: 'task.finished', lookCount: 10_000 };
    expect(await read(ofOne)).to.deep.include({ events: [2_401], next: 2_500 });
    expect(await read({ ...ofOne, limit: 1 })).to.deep.include({ events: [2_401], next: 2_401 });
    const all = (await read({ taskSeq: 2, lookCount: 10_000, limit: 2_000 })).events;
    expect([all.length, all[0], all.at(-1)]).to.deep.equal([1_250, 2, 2_500]);
  });

  it('finds a kind by its letters, whatever these mean to a database', async () => {
    const kinds = ['user.a_b', 'user.axb', 'user.axb.c', 'user.a_b.c', 'use.d'] as const;
    const told = kinds.map((kind, index) =>
      eventOf(index + 1, { kind: kind as FeedEvent['kind'] }),
    );
    await tasks.commit(commitOf(term, told));
    expect((await read({ kind: 'user.a_b' })).events).to.deep.equal([1, 4]);
    expect((await read({ kind: 'user' })).events).to.deep.equal([1, 2, 3, 4]);
    expect((await read({ kind: 'use' })).events).to.deep.equal([5]);
  });

  it('loses the oldest, and never one that follows what is kept', async () => {
    const times = [1, 2, 9, 3, 9];
    await tasks.commit(
      commitOf(
        term,
        times.map((at, index) => eventOf(index + 1, { at: NOW + at })),
      ),
    );
    expect(await store.dropEvents(NOW + 5)).to.equal(2);
    expect(await store.dropEvents(NOW + 5)).to.equal(0);
    expect(await read()).to.deep.equal({ events: [3, 4, 5], next: 5, oldest: 3, newest: 5 });
    expect(await store.dropEvents(NOW + 10)).to.equal(3);
    expect(await read()).to.deep.equal({ events: [], next: 5, oldest: 6, newest: 5 });
    expect((await tasks.takeTerm('other', NOW)).lastEventSeq).to.equal(5);
  });

  it('is of its namespace, whatever others tell', async () => {
    const made = { ...NO_SETTINGS, name: 'films', createdAt: NOW };
    const { id } = await store.createNamespace(made);
    const films = store.tasks(id);
    const other = await films.takeTerm('test', NOW);
    expect(other.lastEventSeq).to.equal(0);
    await tasks.commit(commitOf(term, [eventOf(1), eventOf(2)]));
    await films.commit(commitOf(other.term, [eventOf(1, { kind: 'task.held' })]));
    const page = await films.readEvents(everything);
    expect(page).to.deep.equal({
      events: [eventOf(1, { kind: 'task.held' })],
      ...{ next: 1, oldest: 1, newest: 1 },
    });
    expect((await read()).events).to.deep.equal([1, 2]);
  });
});
