/**
 * What becomes of the limits for starts after a time in which nothing could be offered: they move by it. Only the
 * engine of the namespace writes such rows, and it waits meanwhile.
 */
import type { Commit, Position } from '../../../application/ports.ts';
import type { Audit, RowWrite } from '../../../domain/changes.ts';
import { type Absence, creditOf } from '../../../domain/model/pause.ts';
import { planCommit } from '../commit.ts';
import type { Database } from '../database.ts';
import type { History } from '../history.ts';
import type { Row } from '../rows.ts';
import { settingsWritten } from './settings.ts';
import { moveInSlices, type Place, remember } from './slices.ts';
import type { Heading, Terms } from './terms.ts';

/** In the row of the namespace, as JSON. */
export interface Crediting {
  readonly absences: readonly Absence[];
  /** Limits from here on are done, by their time as it was. */
  readonly after: Position;
}

const LAST: Position = { time: Number.MAX_SAFE_INTEGER, seq: 0 };

/**
 * What of the commit ends the pauses, and the limits that move for it. Returns what is to be committed then: the
 * tasks that it writes have moved in memory already.
 */
export async function creditFirst(
  database: Database,
  history: History,
  terms: Terms,
  heading: Heading,
  { absences, settings, writes, audit = [], events = [], ...rest }: Commit,
): Promise<Commit> {
  const { ns } = heading;
  const others = writes.filter((write) => !mayEndPause(write));
  const ends = writes.filter(mayEndPause);
  // The first of them, as the engine has numbered them.
  const told = events.filter(({ taskSeq }) => taskSeq === null);
  const ending = { ...rest, absences: [], writes: ends, events: told };
  const { statements } = planCommit(database.dialect, history.segments, [{ ns, commit: ending }]);
  const set = settings === undefined ? [] : [settingsWritten(ns, settings)];
  const crediting = { absences, after: LAST };
  const first = [...set, ...statements, remember(ns, crediting)];
  const telling = { ...heading, eventCount: told.length };
  await terms.write([telling], first, audit.filter(mayEndPause));
  await goOnCrediting(database, terms, heading, crediting);
  const left = audit.filter((one) => !mayEndPause(one));
  return {
    ...{ ...rest, absences: [], writes: others, events: events.slice(told.length) },
    ...(left.length > 0 && { audit: left }),
  };
}

/** Also who has said so. */
const mayEndPause = ({ table }: Pick<RowWrite | Audit, 'table'>): boolean =>
  table === 'type' || table === 'pause' || table === 'settings';

/** Also what a master before has left. */
export async function goOnCrediting(
  database: Database,
  terms: Terms,
  heading: Heading,
  { absences, after }: Crediting,
): Promise<void> {
  const { ns } = heading;
  // Limits that were over before stay so.
  const from = Math.min(...absences.map((absence) => absence.from));
  const limits: Place = {
    table: 'task',
    column: 'end_by',
    sql: `SELECT seq, end_by, due_at, deadline_at, type, user_group, labels, requires
      FROM ${database.dialect.readBy('task', 'task_ns_end')} WHERE ns = ? AND end_by > ?`,
    values: [ns, from],
  };
  await moveInSlices(database, terms, heading, limits, {
    direction: 'up',
    after,
    to: movedBy(absences),
    left: (done): Crediting => ({ absences, after: done }),
  });
  await terms.write([heading], [remember(ns, null)]);
}

function movedBy(absences: readonly Absence[]): (row: Row) => number {
  const credits = absences.map(creditOf);
  return (row) => {
    const endBy = row['end_by'] as number;
    const deadlineAt = row['deadline_at'] as number | null;
    const task = {
      type: row['type'] as string,
      user: { group: row['user_group'] as string },
      labels: JSON.parse(row['labels'] as string) as string[],
      requires: JSON.parse(row['requires'] as string) as string[],
      dueAt: row['due_at'] as number,
      deadlineAt,
      startBy: endBy === deadlineAt ? null : endBy,
    };
    for (const credit of credits) task.startBy = credit(task);
    return task.startBy ?? deadlineAt ?? endBy;
  };
}
