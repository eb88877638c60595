/** What an operator has set for a namespace, as columns of its row. */
import { DEFAULT_NAMESPACE_ID } from '../../../application/ports.ts';
import type { Settings } from '../../../domain/state/state.ts';
import type { Statement } from '../dialects/dialect.ts';
import { columns, type Row, type Value } from '../rows.ts';

const settingsColumns = columns<Settings>(
  ['paused_at', 'integer', ({ paused }) => paused?.at ?? null],
  ['paused_by', 'text', ({ paused }) => paused?.by ?? null],
  ['paused_reason', 'text', ({ paused }) => paused?.reason ?? null],
  ['paused_until', 'integer', ({ paused }) => paused?.until ?? null],
  ['max_waiting', 'integer', ({ maxWaiting }) => maxWaiting],
  ['max_running', 'integer', ({ maxRunning }) => maxRunning],
  ['retention', 'text', ({ retention }) => retention],
);

export const SETTINGS = settingsColumns.map(({ name }) => name);

/** In the order of `SETTINGS`. */
export function settingsValues(settings: Settings): Value[] {
  return settingsColumns.map(({ of }) => of(settings, DEFAULT_NAMESPACE_ID));
}

export function settingsOf(row: Row): Settings {
  const get = <T>(name: string): T => row[name] as T;
  const at = get<number | null>('paused_at');
  const pause = {
    at: at ?? 0,
    by: get<string | null>('paused_by'),
    reason: get<string | null>('paused_reason'),
    until: get<number | null>('paused_until'),
  };
  return {
    paused: at === null ? null : pause,
    maxWaiting: get('max_waiting'),
    maxRunning: get('max_running'),
    retention: get('retention'),
  };
}

export function settingsWritten(ns: number, settings: Settings): Statement {
  const set = SETTINGS.map((name) => `${name} = ?`).join(', ');
  return {
    sql: `UPDATE namespace SET ${set} WHERE id = ?`,
    runs: [[...settingsValues(settings), ns]],
    touches: 1,
  };
}
