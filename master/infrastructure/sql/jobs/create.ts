/** Makes the tables of jobs. */
import type { Dialect, Types } from '../dialects/dialect.ts';
import { addColumns, type Existing } from '../rows.ts';
import {
  activityDefinition,
  addedAheadColumns,
  addedLostColumns,
  calendarDefinition,
  calendaredIndex,
  jobDefinition,
  jobVersionDefinition,
  occurrenceDefinition,
  occurrenceIndexes,
  triggerDefinition,
  triggerIndexes,
} from './job-tables.ts';

/** Of tasks, live or ended: that they are runs of a job. */
export const addedJobColumns = (t: Types) => [['job', `${t.text} NULL`]] as const;

/** Can be run again. */
export function createJobs(dialect: Dialect): string[] {
  const t = dialect.types;
  return [
    ...dialect.createTable('job', jobDefinition(t), []),
    ...dialect.createTable('job_version', jobVersionDefinition(t), []),
    ...dialect.createTable('job_trigger', triggerDefinition(t), triggerIndexes),
    ...dialect.createTable('occurrence', occurrenceDefinition(t), occurrenceIndexes),
    ...dialect.createTable('job_activity', activityDefinition(t), []),
    ...dialect.createTable('calendar', calendarDefinition(t), []),
  ];
}

/** What became of times and of ends, where that is more than a mark and a list. */
export function addDecided({ types }: Dialect, existing: Existing): string[] {
  return [
    ...addColumns(existing, 'job_trigger', addedAheadColumns(types)),
    ...addColumns(existing, 'job_activity', addedLostColumns(types)),
  ];
}

/** For triggers of a version before. */
export function addCalendaredIndex(dialect: Dialect, made?: ReadonlySet<string>): string[] {
  const isMade = made?.has(`job_trigger_${calendaredIndex.name}`) === true;
  return isMade ? [] : [dialect.createIndex('job_trigger', calendaredIndex)];
}
