/**
 * U1: what a commit counts as used is what its rows say of tasks, attempts and callbacks, by day, group and type: each
 * once, whatever is tried again.
 *
 * U2: in the end usage is the sum of these, whoever has been killed in between.
 */
import type { Commit, TaskStore } from '../../../../master/application/ports.ts';
import type { RowWrite } from '../../../../master/domain/changes.ts';
import type { AttemptRecord, Notification, Task } from '../../../../master/domain/model/task.ts';
import type { Figures } from '../../../../master/domain/usage/usage.ts';
import type { World } from '../../world.ts';

type Whose = Pick<Task, 'type' | 'user'>;
/** What one name has, as `2026-01-02 encode news run_ms`: how much. */
type Sums = Map<string, number>;

/** Rows before the commit. */
interface Before {
  readonly live: ReadonlyMap<number, Task>;
  readonly callbacks: { readonly rows: ReadonlyMap<number, Notification> };
}

export class UsageChecks {
  readonly #world: World;
  readonly #sums: Sums = new Map();

  constructor(world: World) {
    this.#world = world;
  }

  /** It is durable; `before` does not know of it yet. */
  committed({ now, writes }: Commit, before: Before): void {
    const told: Sums = new Map();
    const counted: Sums = new Map();
    const again = new Set<number>();
    for (const { op, table, key } of writes) {
      if (table === 'history' && op === 'remove') again.add(key[0]);
    }
    const note = (whose: Whose, figures: Figures) => addTo(told, dayOf(now), whose, figures);
    for (const write of writes) {
      if (write.op === 'remove' || write.op === 'put') continue;
      if (write.table === 'usage') addDelta(counted, write);
      else if (write.table === 'task' && write.op === 'insert') {
        if (!again.has(write.key)) note(write.row, { submitted: 1 });
      } else if (write.table === 'attempt' && write.op === 'insert') {
        const task = before.live.get(write.row.taskSeq);
        if (task !== undefined) note(task, attemptOf(task, write.row));
      } else if (write.table === 'history') noteEnd(write, before, note);
    }
    this.#compare('U1', 'a commit', counted, told);
    for (const [name, sum] of told) this.#sums.set(name, (this.#sums.get(name) ?? 0) + sum);
  }

  /** @param rows of the store, whatever masters have made of them. */
  async checkEnd(rows: Pick<TaskStore, 'foldUsage' | 'readUsage'>): Promise<void> {
    await rows.foldUsage();
    const counted: Sums = new Map();
    const days = new Set([...this.#sums.keys()].map((name) => name.slice(0, 10)));
    for (const day of days) {
      const query = { day, by: ['type', 'group'], type: null, group: null, within: null } as const;
      for (const { values, figures } of await rows.readUsage(query)) {
        const [type = '', group = ''] = values.map(String);
        addTo(counted, day, { type, user: { group } }, figures);
      }
    }
    this.#compare('U2', 'all', counted, this.#sums);
  }

  #compare(invariant: string, what: string, counted: Sums, told: Sums): void {
    for (const name of new Set([...counted.keys(), ...told.keys()])) {
      const [is, was] = [counted.get(name) ?? 0, told.get(name) ?? 0];
      if (is === was) continue;
      this.#world.violate(invariant, `${what} counts ${is} of ${name}, its rows say ${was}`);
    }
  }
}

function noteEnd(
  { op, row }: RowWrite<'history', 'insert' | 'set'>,
  { live, callbacks }: Before,
  note: (whose: Whose, figures: Figures) => void,
): void {
  const { notification } = row;
  if (op === 'set') {
    const before = notification && callbacks.rows.get(notification.taskSeq);
    if (before?.finishedAt !== notification?.finishedAt || before?.state !== 'pending') return;
    if (notification?.state === 'delivered') note(notification, { callbacks_delivered: 1 });
    if (notification?.state === 'gave_up') note(notification, { callbacks_gave_up: 1 });
  } else if ('task' in row) {
    const { task } = row;
    if (!live.has(task.seq)) note(task, { submitted: 1 });
    note(task, { [task.state]: 1 });
    if (task.state !== 'succeeded') return;
    note(task, attemptOf(task, { ...task, outcome: 'succeeded', endedAt: task.finishedAt ?? 0 }));
  }
}

/** Whether a lost one was lost with its executor is decided later, and counts as one here. */
function attemptOf(
  { dueAt, submittedAt }: Task,
  { outcome, startedAt, endedAt }: Pick<AttemptRecord, 'outcome' | 'startedAt' | 'endedAt'>,
): Figures {
  if (outcome === 'rejected' || outcome === 'assign_timeout') return {};
  const begunAt = startedAt ?? endedAt;
  return {
    attempts: 1,
    timed_out: outcome === 'timed_out' ? 1 : 0,
    lost: outcome.startsWith('lost') ? 1 : 0,
    wait_ms: startedAt === null ? 0 : Math.max(0, startedAt - Math.max(dueAt, submittedAt)),
    run_ms: Math.max(0, endedAt - begunAt),
  };
}

function addDelta(to: Sums, { row }: RowWrite<'usage', 'insert' | 'set'>): void {
  for (const { day, type, group, figures } of row.counts.values()) {
    addTo(to, day, { type, user: { group } }, figures);
  }
}

function addTo(
  to: Sums,
  day: string,
  { type, user }: { readonly type: string; readonly user: Pick<Task['user'], 'group'> },
  figures: Figures,
): void {
  for (const [figure, count] of Object.entries(figures)) {
    // What was booked and not used shows in no row of a task.
    if (count === 0 || figure === 'booked_idle_ms') continue;
    const name = `${day} ${type} ${user.group} ${figure}`;
    to.set(name, (to.get(name) ?? 0) + count);
  }
}

/** Reports of a run go by UTC. */
function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
