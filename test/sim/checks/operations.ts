/**
 * What operations on many tasks have done, by each commit that says how far one is: what else that commit writes must
 * be what it says that it has done.
 *
 * I33: an operation comes to each task once. A slice, and how far the operation is, are one commit; it counts what it has
 * done; it is of 500 tasks at most, and of no operation that is paused or over.
 *
 * I34: nothing is done to a task that its preview could not find: that was accepted later, or has ended since, or does
 * not fit. What it has found and what is still as it was then is not passed over.
 *
 * I35: when it is over, what became of all is accounted for.
 */
import type { Commit } from '../../../master/application/ports.ts';
import type { RowWrite } from '../../../master/domain/changes.ts';
import {
  type BulkAction,
  type BulkWork,
  isOver,
  statesFor,
  type Work,
} from '../../../master/domain/long-work/work.ts';
import { matches } from '../../../master/domain/model/task-filter.ts';
import { isAtRest, type Notification, type Task } from '../../../master/domain/model/task.ts';
import type { World } from '../world.ts';
import type { SuspendedChecks } from './suspended.ts';

const SLICE_COUNT_MAX = 500;

/** As a commit finds it. */
export interface RowsBefore {
  readonly live: ReadonlyMap<number, Task>;
  readonly history: ReadonlyMap<number, Task>;
  readonly callbacks: { readonly rows: ReadonlyMap<number, Notification> };
}

/** What was counted, and frozen. */
export type Preview = Pick<BulkWork['request'], 'action' | 'filter' | 'seqMax' | 'endedBefore'> & {
  readonly ids: readonly string[] | null;
};

interface Begun extends Preview {
  /** Of all that it could find: as they were then, by seq. */
  readonly found: ReadonlyMap<number, string>;
  readonly touched: Set<number>;
}

export class OperationChecks {
  readonly #world: World;
  readonly #suspended: SuspendedChecks;
  /** As the rows have them. */
  readonly rows = new Map<string, Work>();
  readonly #begun = new Map<string, Begun>();

  constructor(world: World, suspended: SuspendedChecks) {
    this.#world = world;
    this.#suspended = suspended;
  }

  get openCount(): number {
    let count = 0;
    for (const work of this.rows.values()) if (!isOver(work)) count++;
    return count;
  }

  /** Somebody was shown what it would be about. */
  previewed(workId: string, preview: Preview, before: RowsBefore): void {
    const found = new Map<number, string>();
    for (const task of all(before)) {
      if (isFoundBy(preview, task, before)) found.set(task.seq, signOf(task, before));
    }
    this.#begun.set(workId, { ...preview, found, touched: new Set() });
  }

  /** @param before the rows as they were. */
  committed({ writes }: Commit, before: RowsBefore): void {
    for (const write of writes) {
      if (write.table !== 'work') continue;
      const row = this.rows.get(write.key);
      if (write.op === 'remove') this.rows.delete(write.key);
      if (write.op !== 'put') continue;
      const { row: now } = write;
      if (row?.kind === 'bulk' && now.kind === 'bulk' && isSlice(row, now))
        this.#sliced(row, now, writes, before);
      this.rows.set(write.key, now);
    }
  }

  #sliced(from: BulkWork, to: BulkWork, writes: readonly RowWrite[], before: RowsBefore): void {
    const { id, request } = to;
    const { action } = request;
    const treated = treatedBy(from, writes, before);
    this.#world.log(`operation ${id} ${action} ${to.state} ${JSON.stringify(to.counts)}`);
    if (from.state !== 'running') this.#violate('I33', to, `goes on though it is ${from.state}`);
    const count = to.counts.done + to.counts.asked - from.counts.done - from.counts.asked;
    const untold = action === 'cancel' ? cancelingCount(before) : 0;
    if (count < treated.length || count > treated.length + untold) {
      const names = treated.map(({ id: taskId }) => taskId).join(', ');
      this.#violate('I33', to, `has done it to ${count} by its row, and to ${names || 'none'}`);
    }
    const leftCount = (from.ids?.length ?? 0) - (to.ids?.length ?? 0);
    if (Math.max(count, leftCount) > SLICE_COUNT_MAX) {
      this.#violate('I33', to, `does ${count} of ${leftCount} at once`);
    }
    const begun = this.#begun.get(id);
    if (begun === undefined) return this.#violate('I33', to, 'was begun by nobody');
    for (const task of treated) this.#touched(to, begun, task, before);
    if (to.state === 'done') this.#checkEnd(to, begun, before);
  }

  #touched(work: BulkWork, begun: Begun, task: Task, before: RowsBefore): void {
    if (begun.touched.has(task.seq)) this.#violate('I33', work, `comes to ${task.id} again`);
    begun.touched.add(task.seq);
    if (work.request.action === 'resume') this.#suspended.resumeAsked(task.id);
    if (!isFoundBy(begun, task, before))
      this.#violate('I34', work, `comes to ${task.id}, which is ${task.state}`);
  }

  #checkEnd(work: BulkWork, { found, touched, filter }: Begun, before: RowsBefore): void {
    const { total, done, asked, skipped, failed } = work.counts;
    if (done + asked + skipped + failed !== total || !work.isExact) {
      this.#violate('I35', work, `ends as ${JSON.stringify(work.counts)}`);
    }
    // Memory knows what becomes of attempts before the rows do.
    if (filter === null || filter.state === 'offered' || filter.state === 'running') return;
    const named = new Set(work.problems.map(({ taskId }) => taskId));
    for (const task of all(before)) {
      const isSame = found.get(task.seq) === signOf(task, before);
      if (!isSame || touched.has(task.seq) || named.has(task.id)) continue;
      // To be told what it was told before is no change.
      if (work.request.action === 'cancel' && task.cancelReason === 'canceled') continue;
      this.#violate('I34', work, `has passed over ${task.id}`);
    }
  }

  #violate(invariant: string, { id, request }: Work, what: string): void {
    this.#world.violate(invariant, `operation ${id} (${request.action}) ${what}`);
  }
}

/** By what an operation changes a task, so that it is told from any other change. */
export const markOf = (workId: string): string => `by ${workId}`;

function* all({ live, history }: RowsBefore): Generator<Task> {
  yield* live.values();
  yield* history.values();
}

/** Other than what was asked of the whole. */
function isSlice(from: BulkWork, to: BulkWork): boolean {
  if (to.state === 'canceled') return false;
  const ofSlices = ({ counts, ids, cursor, state }: BulkWork) =>
    JSON.stringify([counts, ids?.length, cursor, state === 'done']);
  return ofSlices(from) !== ofSlices(to);
}

function signOf({ seq, version, state }: Task, { callbacks }: RowsBefore): string {
  return `${version} ${state} ${callbacks.rows.get(seq)?.state}`;
}

function isFoundBy(
  { action, filter, ids, seqMax, endedBefore }: Preview,
  task: Task,
  { callbacks }: RowsBefore,
): boolean {
  if (task.seq > seqMax) return false;
  if (filter === null) return ids?.includes(task.id) ?? false;
  if ((task.finishedAt ?? 0) >= endedBefore) return false;
  // That it runs may be known and not written.
  const states = task.state === 'offered' ? (['offered', 'running'] as const) : [task.state];
  return states.some(
    (state) =>
      statesFor({ action, filter }).includes(state) &&
      matches(filter, { ...task, state }, callbacks.rows.get(task.seq) ?? null),
  );
}

const cancelingCount = ({ live }: RowsBefore): number =>
  [...live.values()].filter((task) => !isAtRest(task) && task.cancelReason === 'canceled').length;

/** To whom such a command was given by these writes, as they were before. */
function treatedBy(
  { id, request }: BulkWork,
  writes: readonly RowWrite[],
  { live, history }: RowsBefore,
): Task[] {
  const after = new Map<number, Task>();
  const left = new Set<number>();
  const redelivered = new Set<number>();
  for (const write of writes) {
    if (write.table === 'task' && write.op !== 'remove') after.set(write.key, write.row);
    if (write.table !== 'history') continue;
    const [seq] = write.key;
    if (write.op === 'remove') left.add(seq);
    else if (write.op === 'insert') after.set(seq, write.row.task);
    else if (write.op === 'set' && isAsNew(write.row.notification)) redelivered.add(seq);
  }
  const ofLive: Partial<Record<BulkAction, (task: Task, now: Task) => boolean>> = {
    cancel: (task, now) =>
      isAtRest(task)
        ? now.state === 'canceled'
        : now.cancelReason === 'canceled' && task.cancelReason !== 'canceled',
    change: (task, now) => now.user.project === markOf(id) && task.user.project !== markOf(id),
    suspend: (task, now) => now.cancelReason === 'suspended' && task.cancelReason !== 'suspended',
    resume: (task, now) => task.cancelReason === 'suspended' && now.cancelReason !== 'suspended',
  };
  const isTreated = ofLive[request.action];
  if (isTreated !== undefined) {
    return [...live.values()].filter((task) => {
      const now = after.get(task.seq);
      return now !== undefined && isTreated(task, now);
    });
  }
  return [...history.values()].filter(({ seq }) => {
    if (request.action === 'redeliver') return redelivered.has(seq);
    return left.has(seq) && after.has(seq) === (request.action === 'retry');
  });
}

/** Its tries begin anew. */
function isAsNew(notification: Notification | null): boolean {
  return notification?.state === 'pending' && notification.tries === 0;
}
