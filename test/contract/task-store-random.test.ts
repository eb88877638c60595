/**
 * Random histories of commits, good and bad, on every SQL store and on the memory store side by
 * side: both must answer alike. The seed is printed when they do not; with `SODA_SEED` set to it, the
 * failure is also made smaller.
 */
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Commit } from '../../master/application/ports.ts';
import { type RowWrite, WHOLE_TABLES, type WholeName } from '../../master/domain/changes.ts';
import {
  type AttemptRecord,
  type Notification,
  type Retention,
  RETENTIONS,
  type Task,
} from '../../master/domain/model/task.ts';
import { MemoryStore } from '../../master/infrastructure/memory/store.ts';
import { anyCharacter } from '../helpers/store/characters.ts';
import { laneNumber, NOW, notificationOf } from '../helpers/task.ts';
import {
  attemptOf,
  commit,
  DAY_MS,
  everything,
  finish,
  finished,
  next,
  task,
  wholeRows,
} from './sample.ts';
import { type DefaultStore, describeStores, ofDefault } from './subjects.ts';

const IDS = 12;
const ALL_SEQS = Array.from({ length: IDS }, (_, index) => index + 1);
const COMMITS = 30;
const RUNS = 12;

/** One thing that a commit may ask for, about the task with this number. */
const wish = fc.record({
  what: fc.constantFrom(
    'insert',
    'insert',
    'update',
    'update',
    'finish',
    'finish',
    'reopen',
    'attempt',
    'notify',
    'stale',
    'whole',
  ),
  seq: fc.integer({ min: 1, max: IDS }),
  time: fc.integer({ min: 0, max: 4 }),
  day: fc.integer({ min: -2, max: 1 }),
  retention: fc.constantFrom(...RETENTIONS),
  label: fc.constantFrom('a', 'b', 'a_b'),
  // The texts of tasks are JSON, which has no raw NUL; SQLite's driver would end the text there.
  text: fc.string({ unit: anyCharacter, maxLength: 8 }).map((text) => text.replaceAll('\0', '')),
});
type Wish = typeof wish extends fc.Arbitrary<infer T> ? T : never;
type Step = readonly Wish[] | { readonly dropBefore: number; readonly retention: Retention };

const step = fc.oneof(
  { weight: 12, arbitrary: fc.array(wish, { minLength: 1, maxLength: 6 }) },
  {
    weight: 1,
    arbitrary: fc.record({
      dropBefore: fc.integer({ min: -2, max: 0 }),
      retention: fc.constantFrom(...RETENTIONS),
    }),
  },
);

/** What the domain would know: the newest version of each task. */
type Known = Map<number, { task: Task; notification: Notification | null }>;

function wanted(
  known: Known,
  term: number,
  wishes: readonly Wish[],
): { commit: Commit; after: Known } {
  const after: Known = new Map(known);
  const lists = {
    inserts: [] as Task[],
    updates: [] as Task[],
    checkpoints: [] as Task[],
    changes: [] as Task[],
    finishes: [] as ReturnType<typeof finish>[],
    reopens: [] as { task: Task; finishedAt: number; retention: Retention }[],
    attempts: [] as AttemptRecord[],
    absences: wishes.some(({ time }) => time === 2) ? [{ from: NOW - 1, until: NOW + 2 }] : [],
    notifications: [] as Notification[],
    writes: [] as RowWrite[],
  };
  const touched = new Set<number>();
  for (const { what, seq, time, day, retention, label, text } of wishes) {
    if (touched.has(seq)) continue;
    touched.add(seq);
    if (what === 'whole') {
      lists.writes.push(...WHOLE_TABLES.map((table) => writeWhole(table, seq, time)));
      continue;
    }
    const now = known.get(seq);
    if (now === undefined || what === 'insert') {
      // An insert of a live task is one of the bad commits. That an id is not in history is for
      // the domain to find out: only the memory store would notice.
      if (now !== undefined && now.task.finishedAt !== null) continue;
      const fresh = task(seq, {
        params: JSON.stringify(text),
        notifyUrl: 'https://example.com/',
        labels: [label],
        orderTime: NOW + time,
        queueTime: NOW - day,
        dueAt: NOW + time,
        deadlineAt: time > 2 ? NOW + time : null,
        startTimeoutMs: time === 1 ? null : 2,
        startBy: time === 3 ? NOW + 1 : time === 2 ? NOW + 2 : null,
        startTimeoutAction: day === 0 ? 'alert' : 'fail',
        diskBytes: time === 2 ? 5_000_000_000_000 : null,
        traceparent: time === 2 ? `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` : null,
      });
      lists.inserts.push(fresh);
      after.set(seq, { task: fresh, notification: null });
      continue;
    }
    const { task: current, notification } = now;
    const ended = current.finishedAt !== null;
    if (what === 'stale' && !ended) lists.updates.push(current);
    if (what === 'attempt' && current.attempt > 0) {
      lists.attempts.push(
        attemptOf(current, { attempt: current.attempt, error: { message: text } }),
      );
    }
    if (what === 'update' && !ended) {
      const changed = next(current, {
        state: time === 1 ? 'held' : time === 0 ? 'suspended' : time === 3 ? 'offered' : 'waiting',
        gate: time === 1 ? 2 ** 53 - 1 - (seq % 2) : null,
        suspension: time === 0 ? { at: NOW - seq, by: seq % 2 ? label : null, reason: text } : null,
        attempt: current.attempt + 1,
        eventCount: time * 2 ** 40,
        progressDetail: time === 2 ? JSON.stringify({ parts: [{ name: text, percent: 1 }] }) : null,
        progressState: JSON.stringify(text),
        orderTime: NOW - time,
        queueTime: NOW + day,
        checkpoint: time === 3 ? JSON.stringify(text) : current.checkpoint,
        ...(time === 4 && {
          params: JSON.stringify(text),
          labels: [label, 'other'],
          requires: [label],
          user: { group: label, project: text, env: null, user: null },
          deadlineAt: NOW + seq,
          startBy: null,
          retry: { maxAttempts: seq, interval: [1, 2] },
        }),
      });
      lists.updates.push(changed);
      if (time === 4) lists.changes.push(changed);
      if (time === 3) lists.checkpoints.push(changed);
      after.set(seq, { task: changed, notification: null });
    }
    if (what === 'finish' && !ended) {
      const done = finished(current, {
        result: JSON.stringify(text),
        finishedAt: NOW + day * DAY_MS,
        retention,
      });
      const fresh = time > 0 ? notificationOf(done) : null;
      lists.finishes.push(finish(done, fresh));
      after.set(seq, { task: done, notification: fresh });
    }
    if (what === 'reopen' && ended) {
      const anew = {
        state: 'waiting',
        gate: null,
        suspension: null,
        result: null,
        finishedAt: null,
        retention: null,
      } as const;
      const again = next(current, anew);
      const { finishedAt, retention: from } = current;
      lists.reopens.push({
        task: again,
        finishedAt: finishedAt ?? 0,
        retention: from ?? 'normal',
      });
      after.set(seq, { task: again, notification: null });
    }
    if (what === 'notify' && notification !== null) {
      const tried: Notification = {
        ...notification,
        state: time > 2 ? 'delivered' : 'pending',
        tries: notification.tries + 1,
        nextTryAt: NOW + time,
        lastError: text,
      };
      lists.notifications.push(tried);
      after.set(seq, { task: current, notification: tried });
    }
  }
  return { commit: commit(term, lists), after };
}

/** Of a row that may be there or not: to insert it then is one of the bad commits. */
function writeWhole<N extends WholeName>(table: N, which: number, n: number): RowWrite<N> {
  const { key, row } = wholeRows[table](which, n);
  const write =
    n === 1
      ? { op: 'remove', expect: 'any' }
      : n === 2
        ? { op: 'insert', row }
        : { op: 'put', row };
  return { table, key, ...write } as RowWrite<N>;
}

/** Everything a store can be asked; of single tasks, about those with these numbers. */
async function answers(store: DefaultStore, seqs: readonly number[]) {
  const bySeq = <T extends { seq: number }>(list: readonly T[]): T[] =>
    [...list].sort((a, b) => a.seq - b.seq);
  const lanes = await store.countLanes();
  lanes.sort((a, b) => (a.lane < b.lane ? -1 : 1));
  const query = { ...everything, beforeSeq: 9, limit: 5 };
  const ids = ALL_SEQS.map((seq) => `t-${seq}`);
  const single = seqs.map((seq) => `t-${seq}`);
  const gates = await store.countGates();
  gates.sort((a, b) => a.gate - b.gate);
  return {
    lanes,
    gates,
    held: await store.loadHeld([
      { gate: 2 ** 53 - 1, limit: 2 },
      { gate: 7, limit: 1 },
      { gate: 2 ** 53 - 2, limit: 9 },
    ]),
    heldBefore: await store.countHeldBefore(2 ** 53 - 1, { time: NOW + 1, seq: 5 }, 2),
    whole: await wholeOf(store),
    active: bySeq(await store.loadActive()),
    pages: await store.loadLanes(
      [
        { lane: laneNumber('video.push||a'), after: { time: NOW - 2, seq: 4 } },
        { lane: 1_000_000, after: null },
        { lane: laneNumber('video.push||b'), after: null },
      ],
      NOW + 3,
      3,
    ),
    delayed: await store.loadDelayed({ time: NOW + 1, seq: 3 }, 4),
    overdue: bySeq((await store.loadOverdue(NOW + 3, NOW + 3, IDS)).tasks),
    notifications: await store.loadNotifications({ time: NOW - DAY_MS, seq: 3 }, 5),
    listed: await store.listTasks({ ...query, label: 'a' }),
    waiting: await store.listTasks({ ...query, state: 'waiting' }),
    gaveUp: await store.listTasks({ ...query, notification: 'gave_up' }),
    ids: await store.findIds(ids),
    tasks: await store.findTasks(ids, Number.POSITIVE_INFINITY),
    few: await store.findTasks(ids.slice(0, 3), Number.POSITIVE_INFINITY),
    read: await Promise.all(single.map((id) => store.readTask(id))),
    shown: await Promise.all(single.map((id) => store.showTask(id, 'all'))),
  };
}

async function wholeOf(store: DefaultStore): Promise<string[]> {
  const rows = Object.values(await store.loadWhole()).flat();
  const inOrder = (row: object) => Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
  return rows.map((row) => JSON.stringify(inOrder(row))).sort();
}

type Answers = Awaited<ReturnType<typeof answers>>;

async function commitBoth(stores: readonly DefaultStore[], wish: Commit): Promise<boolean> {
  const names = await Promise.all(
    stores.map((store) =>
      store.commit(wish).then(
        () => 'done',
        (error: Error) => error.name,
      ),
    ),
  );
  expect(names[1], 'both agree whether the commit stands').to.equal(names[0]);
  return names[0] === 'done';
}

/**
 * Commits the wishes to both stores and compares all that they answer, after every commit: each single task that it is about,
 * and in the end all of them.
 */
async function compare(
  stores: readonly [DefaultStore, DefaultStore],
  steps: readonly Step[],
): Promise<void> {
  let term = 0;
  for (const store of stores) ({ term } = await store.takeTerm('m-1', NOW));
  let known: Known = new Map();
  for (const [index, wishes] of steps.entries()) {
    let seqs = ALL_SEQS;
    if ('dropBefore' in wishes) {
      const before = NOW + wishes.dropBefore * DAY_MS;
      for (const store of stores) await store.dropSegments(wishes.retention, before);
    } else {
      const { commit: wish, after } = wanted(known, term, wishes);
      // By themselves: they may stand where the rest is refused.
      const { absences } = wish;
      if (absences.length > 0) await commitBoth(stores, commit(term, { absences, lastSeq: 0 }));
      if (await commitBoth(stores, { ...wish, absences: [] })) known = after;
      const isOfSome = absences.length === 0 && index < steps.length - 1;
      if (isOfSome) seqs = [...new Set(wishes.map(({ seq }) => seq))];
    }
    const [memory, sql] = [await answers(stores[0], seqs), await answers(stores[1], seqs)];
    for (const key of Object.keys(memory) as (keyof Answers)[]) {
      expect(sql[key], key).to.deep.equal(memory[key]);
    }
  }
}

describeStores('random commits', (open) => {
  it('leave the store as they leave the one in memory', async () => {
    const given = process.env['SODA_SEED'];
    const seed = given === undefined ? Date.now() : Number(given);
    const steps = fc.array(step, { minLength: 1, maxLength: COMMITS, size: 'max' });
    const property = fc.asyncProperty(steps, async (list) => {
      const store = await open();
      try {
        await compare([ofDefault(new MemoryStore()), store], list);
      } finally {
        await store.close();
      }
    });
    await fc.assert(property, { seed, numRuns: RUNS, endOnFailure: given === undefined });
  });
});
