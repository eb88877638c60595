/** What becomes of a namespace by a change of its settings, and how that is told. Pure. */
import type { Outcome } from '../../domain/model/audit.ts';
import type { Pause } from '../../domain/model/pause.ts';
import { pauseFields, pauseTarget, settingsFields } from '../../domain/operators/audit.ts';
import type { Settings } from '../../domain/state/state.ts';
import type { NamespaceRecord } from '../ports.ts';
import type { NamespaceChange } from './namespaces-handle.ts';

/** Fields that are not given stay as they are. */
export function changed<R extends Omit<NamespaceRecord, 'id'>>(
  record: R,
  { paused, ...settings }: NamespaceChange,
  now: number,
): R {
  if (paused === undefined) return { ...record, ...settings };
  return { ...record, ...settings, paused: paused && { at: record.paused?.at ?? now, ...paused } };
}

/** For the log: of those that `change` names. */
export function settingsTold(
  record: NamespaceRecord,
  change: NamespaceChange,
): Record<string, unknown> {
  const { paused, maxWaiting, maxRunning, retention } = record;
  return {
    ...(change.paused !== undefined && { paused }),
    ...(change.maxWaiting !== undefined && { max_waiting: maxWaiting }),
    ...(change.maxRunning !== undefined && { max_running: maxRunning }),
    ...(change.retention !== undefined && { retention }),
  };
}

/** For the audit: it was made, or deleted. */
export function settingsChanged(
  target: string,
  before: Settings | null,
  after: Settings | null,
): Outcome {
  return {
    target,
    before: before && settingsFields(before),
    after: after && settingsFields(after),
    reason: after?.paused?.reason ?? null,
  };
}

/** The same of the pause of all namespaces; null: there was none, and there is none. */
export function pauseOfAllChanged(before: Pause | null, after: Pause | null): Outcome | null {
  if (before === null && after === null) return null;
  return {
    target: pauseTarget('all', ''),
    before: pauseFields(before),
    after: pauseFields(after),
    reason: after?.reason ?? null,
  };
}
