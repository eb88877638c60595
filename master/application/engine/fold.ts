/**
 * Folds the changes of a turn into one transaction: one write for each row, whatever happened to it.
 * Raises the version of every task to that which its row will have.
 * Throws rather than drop a change that it has no write for, or write what cannot be.
 */
import type { Audit, Change, RowWrite, TableName } from '../../domain/changes.ts';
import { type Absence, joined } from '../../domain/model/pause.ts';
import { idOf, taskIn } from '../../domain/changes.ts';
import type { Settings, State } from '../../domain/state/state.ts';
import { isTerminal } from '../../domain/model/task.ts';
import type { Commit } from '../ports.ts';

/** `saysAlive`: also where nothing changes. */
export function fold(
  changes: readonly Change[],
  { term, lastSeq }: Pick<State, 'term' | 'lastSeq'>,
  now: number,
  saysAlive = false,
): Commit {
  const tables = new Map<TableName, Map<number | string, RowWrite>>();
  const absences: Absence[] = [];
  const audit: Audit[] = [];
  let settings: Settings | undefined;
  for (const change of changes) {
    if (change.op === 'credit') absences.push(change.absence);
    else if (change.op === 'settings') settings = change.settings;
    else if (change.op === 'audit') audit.push(change);
    else add(tables, change);
  }
  const writes: RowWrite[] = [];
  for (const rows of tables.values()) {
    for (const write of rows.values()) {
      checkPlace(write);
      count(write);
      writes.push(write);
    }
  }
  return {
    ...{ term, now, lastSeq, saysAlive, writes, absences: joined(absences) },
    ...(settings !== undefined && { settings }),
    ...(audit.length > 0 && { audit }),
  };
}

function add(tables: Map<TableName, Map<number | string, RowWrite>>, write: RowWrite): void {
  let rows = tables.get(write.table);
  if (rows === undefined) tables.set(write.table, (rows = new Map()));
  const id = idOf(write.key);
  const before = rows.get(id);
  const both = before === undefined ? write : join(before, write);
  if (both === null) rows.delete(id);
  else if (both !== before) rows.set(id, both);
}

/** One write that does both; null where the second undoes the first. */
function join(first: RowWrite, next: RowWrite): RowWrite | null {
  if (next.op === 'put') return next;
  if (next.op === 'remove') {
    if (first.op === 'insert') return null;
    if (first.op !== 'remove' || first.expect === 'any') return next;
  } else if (next.op === 'set') {
    // What may have gone has gone.
    if (first.op === 'remove' && next.expect === 'any') return first;
    if (first.op !== 'remove') return joinRows(first, next);
  }
  throw new Error(`${next.op} after ${first.op}: ${next.table} ${idOf(next.key)}`);
}

function joinRows(
  first: RowWrite<TableName, 'insert' | 'set' | 'put'>,
  next: RowWrite<TableName, 'set'>,
): RowWrite {
  if (first.row === next.row) return first.op === 'set' ? bothOf(first, next) : first;
  if (next.expect !== 'any') throw new Error(`two of one: ${next.table} ${idOf(next.key)}`);
  return { ...first, row: { ...first.row, ...next.row } } as RowWrite;
}

/** Of one row: what either of them writes. */
function bothOf(
  first: RowWrite<TableName, 'set'>,
  next: RowWrite<TableName, 'set'>,
): RowWrite<TableName, 'set'> {
  if (!next.large && !next.whole) return first;
  if (!first.large && !first.whole) return next;
  const both = { ...next, large: first.large || next.large };
  return first.whole ? { ...both, whole: true } : both;
}

/** Whoever fails here has a row in memory that is not that of the store. */
function count(write: RowWrite): void {
  if (write.op === 'remove') return;
  const counted = taskIn(write.row);
  if (counted === null) return;
  if (write.op === 'set' && write.expect !== counted.version) {
    const versions = `from version ${write.expect} to ${counted.version}`;
    throw new Error(`${write.table} ${idOf(write.key)} went ${versions} unwritten`);
  }
  counted.version++;
}

/** An ended task is written once, to history. */
function checkPlace(write: RowWrite): void {
  const task = write.op === 'remove' ? null : taskIn(write.row);
  if (task === null || isTerminal(task.state) === (write.table === 'history')) return;
  throw new Error(`task ${task.id} is ${task.state}, to be written to ${write.table}`);
}
