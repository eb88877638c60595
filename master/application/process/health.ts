/** What is in the way of work that is no matter of tasks: the store, the disk under it, and what the process does by itself. */
import type { Finding } from '../../domain/health/finding.ts';
import type { MasterStatus } from '../master-handle.ts';
import type { DiskSpace } from '../ports.ts';
import type { StoreTrouble } from '../store-watch.ts';
import type { DutyView } from './duties.ts';

/** Less is nearly full: of a large disk so many bytes, of a smaller one this share. */
const FREE_BYTES_MIN = 5 * 2 ** 30;
const FREE_SHARE_MIN = 0.05;

const OF_NO_TASK = { subject: null, since: null, count: null, facts: {}, taskId: null } as const;

/** Null: it takes work. */
export function findingOfStatus(
  status: MasterStatus,
  trouble: StoreTrouble | null,
): Finding | null {
  const severity = 'critical';
  if (trouble !== null) {
    const { reason: error, since } = trouble;
    return {
      ...OF_NO_TASK,
      kind: 'store_away',
      severity,
      since,
      message: 'The store does not answer: nothing is accepted, started or ended.',
      cause: `Of the store: ${error}.`,
      advice: 'Mend the database, or the disk; executors go on with what they run meanwhile.',
      facts: { error },
    };
  }
  if (status === 'ready') return null;
  const isEnding = status === 'draining' || status === 'stopped';
  return {
    ...OF_NO_TASK,
    kind: isEnding ? 'shutting_down' : 'starting',
    severity,
    message: isEnding ? 'The master is shutting down.' : 'The master reads what the store has.',
    cause: isEnding ? 'It was told to stop.' : null,
    advice: isEnding ? 'Start the next one, if none is started by itself.' : 'Wait some seconds.',
  };
}

/** Null: there is enough, or nobody knows. */
export function findingOfDisk(space: DiskSpace | null): Finding | null {
  if (space === null) return null;
  const { freeBytes, totalBytes } = space;
  if (freeBytes >= Math.min(FREE_BYTES_MIN, FREE_SHARE_MIN * totalBytes)) return null;
  const percent = Math.floor((100 * freeBytes) / totalBytes);
  return {
    ...OF_NO_TASK,
    kind: 'disk_low',
    severity: 'warning',
    message: `The disk of the database is nearly full: ${inMib(freeBytes)} MiB are free, ${percent} %.`,
    cause: 'Once it is full nothing is accepted, started or ended.',
    advice: 'Make room on it, or keep history for fewer days (SODA_RETENTION_DAYS).',
    facts: { free: { bytes: freeBytes, percent } },
  };
}

function inMib(bytes: number): string {
  return Math.floor(bytes / 2 ** 20).toLocaleString('en');
}

/** One for each that has failed, or is not done in time. `isNaming`: also with what it failed. */
export function findingsOfDuties(duties: readonly DutyView[], isNaming: boolean): Finding[] {
  return duties.flatMap(({ name, last, isOverdue }): Finding[] => {
    const error = last?.error ?? null;
    if (error === null && !isOverdue) return [];
    return [
      {
        ...OF_NO_TASK,
        kind: 'duty',
        severity: 'warning',
        subject: `duty/${name}`,
        since: last?.at ?? null,
        message:
          error === null
            ? `The master has not done its duty ${name} in time.`
            : `The master has failed in its duty ${name}.`,
        cause: isNaming ? error : null,
        advice: 'Look at the log of the master; docs/operations.md says what it is for.',
        facts: { isOverdue: error === null, ...(isNaming && error !== null && { error }) },
      },
    ];
  });
}
