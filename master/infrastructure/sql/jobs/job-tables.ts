/** Jobs, their versions and triggers, what has become of each time, and calendars, as rows. */
import type {
  Calendar,
  Job,
  JobActivity,
  JobVersion,
  Occurrence,
  OpenRun,
  Trigger,
} from '../../../domain/model/job.ts';
import type { Index, Types } from '../dialects/dialect.ts';
import { columns, type Row } from '../rows.ts';
import type { Table, WholeTable } from '../tables/table.ts';

export const jobDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  name ${t.key(64)} NOT NULL,
  version ${t.instant} NOT NULL,
  is_enabled ${t.integer} NOT NULL,
  spec ${t.text} NOT NULL,
  template ${t.text} NOT NULL,
  type ${t.key(64)} NOT NULL,
  user_group ${t.name(64)} NOT NULL,
  tags ${t.text} NOT NULL,
  description ${t.text} NULL,
  created_at ${t.instant} NOT NULL,
  changed_at ${t.instant} NOT NULL,
  changed_by ${t.name(64)} NULL,
  last_started_at ${t.instant} NULL,
  last_ended_at ${t.instant} NULL,
  recent ${t.key(32)} NOT NULL,
  PRIMARY KEY (ns, name)`;

/** Behind the others. */
export const addedOwnedColumns = (t: Types) =>
  [['owned_at', `${t.instant} NOT NULL DEFAULT 0`]] as const;

const endingColumns = columns<Pick<Job, 'lastStartedAt' | 'lastEndedAt' | 'recent'>>(
  ['last_started_at', 'integer', (row) => row.lastStartedAt],
  ['last_ended_at', 'integer', (row) => row.lastEndedAt],
  ['recent', 'text', (row) => row.recent],
);

const namedKey = (name: string) =>
  [
    { name: 'ns', kind: 'integer' },
    { name, kind: 'text' },
  ] as const;

export const job: Table<'job'> = {
  place: 'job',
  key: namedKey('name'),
  columns: [
    ...columns<Job>(
      ['ns', 'integer', (_, ns) => ns],
      ['name', 'text', (row) => row.name],
      ['version', 'integer', (row) => row.version],
      ['is_enabled', 'integer', (row) => (row.isEnabled ? 1 : 0)],
      ['spec', 'text', (row) => row.spec],
      ['template', 'text', (row) => row.template],
      ['type', 'text', (row) => row.type],
      ['user_group', 'text', (row) => row.group],
      ['tags', 'text', (row) => JSON.stringify(row.tags)],
      ['description', 'text', (row) => row.description],
      ['created_at', 'integer', (row) => row.createdAt],
      ['changed_at', 'integer', (row) => row.changedAt],
      ['changed_by', 'text', (row) => row.by],
    ),
    ...endingColumns,
    ...columns<Job>(['owned_at', 'integer', (row) => row.ownedAt]),
  ],
  changing: endingColumns,
};

export function jobOf(row: Row): Job {
  const get = <T>(name: string): T => row[name] as T;
  return {
    name: get('name'),
    version: get('version'),
    isEnabled: get('is_enabled') === 1,
    spec: get('spec'),
    template: get('template') ?? '',
    type: get('type'),
    group: get('user_group'),
    tags: JSON.parse(get('tags')) as string[],
    description: get('description'),
    createdAt: get('created_at'),
    changedAt: get('changed_at'),
    ownedAt: get('owned_at'),
    by: get('changed_by'),
    lastStartedAt: get('last_started_at'),
    lastEndedAt: get('last_ended_at'),
    recent: get('recent'),
  };
}

export const jobVersionDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  job ${t.key(64)} NOT NULL,
  version ${t.instant} NOT NULL,
  spec ${t.text} NOT NULL,
  template ${t.text} NOT NULL,
  made_at ${t.instant} NOT NULL,
  made_by ${t.name(64)} NULL,
  PRIMARY KEY (ns, job, version)`;

export const jobVersion: Table<'jobVersion'> = {
  place: 'job_version',
  key: [...namedKey('job'), { name: 'version', kind: 'integer' }],
  columns: columns<JobVersion>(
    ['ns', 'integer', (_, ns) => ns],
    ['job', 'text', (row) => row.job],
    ['version', 'integer', (row) => row.version],
    ['spec', 'text', (row) => row.spec],
    ['template', 'text', (row) => row.template],
    ['made_at', 'integer', (row) => row.at],
    ['made_by', 'text', (row) => row.by],
  ),
};

export function jobVersionOf(row: Row): JobVersion {
  const get = <T>(name: string): T => row[name] as T;
  const { job, version, spec, template } = row as unknown as JobVersion;
  return { job, version, spec, template, at: get('made_at'), by: get('made_by') };
}

export const triggerDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  job ${t.key(64)} NOT NULL,
  name ${t.key(64)} NOT NULL,
  kind ${t.key(16)} NOT NULL,
  spec ${t.text} NOT NULL,
  is_calendared ${t.integer} NOT NULL,
  source ${t.key(64)} NULL,
  anchor_at ${t.instant} NOT NULL,
  changed_at ${t.instant} NOT NULL,
  armed_at ${t.instant} NULL,
  next_at ${t.instant} NULL,
  next_nominal ${t.instant} NULL,
  decided_until ${t.instant} NOT NULL,
  fired_count ${t.instant} NOT NULL,
  last_fired_at ${t.instant} NULL,
  failure_count ${t.integer} NOT NULL,
  paused_at ${t.instant} NULL,
  paused_reason ${t.text} NULL,
  skips ${t.text} NULL,
  open_run ${t.text} NULL,
  decided_ahead ${t.text} NULL,
  PRIMARY KEY (ns, job, name)`;

/** For triggers of a version before. */
export const addedAheadColumns = (t: Types) => [['decided_ahead', `${t.text} NULL`]] as const;

/** Of few triggers: a change of a calendar looks for them, however many others there are. */
export const calendaredIndex: Index = {
  name: 'ns_calendared',
  columns: 'ns, is_calendared, job, name',
  where: 'is_calendared = 1',
};

export const triggerIndexes: readonly Index[] = [
  calendaredIndex,
  { name: 'ns_next', columns: 'ns, next_at', where: 'next_at IS NOT NULL' },
  { name: 'ns_source', columns: 'ns, source', where: 'source IS NOT NULL' },
];

const instantsText = (instants: readonly number[]): string | null =>
  instants.length === 0 ? null : JSON.stringify(instants);

const movingColumns = columns<Trigger>(
  ['armed_at', 'integer', (row) => row.armedAt],
  ['next_at', 'integer', (row) => row.nextAt],
  ['next_nominal', 'integer', (row) => row.nextNominal],
  ['decided_until', 'integer', (row) => row.decidedUntil],
  ['fired_count', 'integer', (row) => row.firedCount],
  ['last_fired_at', 'integer', (row) => row.lastFiredAt],
  ['failure_count', 'integer', (row) => row.failureCount],
  ['paused_at', 'integer', (row) => row.paused?.at ?? null],
  ['paused_reason', 'text', (row) => row.paused?.reason ?? null],
  ['skips', 'text', (row) => instantsText(row.skips)],
  ['open_run', 'text', (row) => row.openRun && JSON.stringify(row.openRun)],
  ['decided_ahead', 'text', (row) => instantsText(row.decidedAhead)],
);

export const trigger: Table<'trigger'> = {
  place: 'job_trigger',
  key: [...namedKey('job'), { name: 'name', kind: 'text' }],
  columns: [
    ...columns<Trigger>(
      ['ns', 'integer', (_, ns) => ns],
      ['job', 'text', (row) => row.job],
      ['name', 'text', (row) => row.name],
      ['kind', 'text', (row) => row.kind],
      ['spec', 'text', (row) => row.spec],
      ['is_calendared', 'integer', (row) => (row.isCalendared ? 1 : 0)],
      ['source', 'text', (row) => row.source],
      ['anchor_at', 'integer', (row) => row.anchorAt],
      ['changed_at', 'integer', (row) => row.changedAt],
    ),
    ...movingColumns,
  ],
  changing: movingColumns,
};

export function triggerOf(row: Row): Trigger {
  const get = <T>(name: string): T => row[name] as T;
  const json = (name: string): unknown => {
    const text = get<string | null>(name);
    return text === null ? null : JSON.parse(text);
  };
  const pausedAt = get<number | null>('paused_at');
  return {
    job: get('job'),
    name: get('name'),
    kind: get('kind'),
    spec: get('spec'),
    isCalendared: get('is_calendared') === 1,
    source: get('source'),
    anchorAt: get('anchor_at'),
    changedAt: get('changed_at'),
    armedAt: get('armed_at'),
    nextAt: get('next_at'),
    nextNominal: get('next_nominal'),
    decidedUntil: get('decided_until'),
    firedCount: get('fired_count'),
    lastFiredAt: get('last_fired_at'),
    failureCount: get('failure_count'),
    paused: pausedAt === null ? null : { at: pausedAt, reason: get('paused_reason') },
    skips: (json('skips') as number[] | null) ?? [],
    openRun: json('open_run') as OpenRun | null,
    decidedAhead: (json('decided_ahead') as number[] | null) ?? [],
  };
}

export const occurrenceDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  job ${t.key(64)} NOT NULL,
  trigger_name ${t.key(64)} NOT NULL,
  nominal ${t.instant} NOT NULL,
  rerun ${t.integer} NOT NULL,
  state ${t.key(16)} NOT NULL,
  reason ${t.text} NULL,
  calendar ${t.key(64)} NULL,
  until_nominal ${t.instant} NOT NULL,
  times ${t.instant} NOT NULL,
  task_id ${t.key(64)} NULL,
  noticed_at ${t.instant} NOT NULL,
  PRIMARY KEY (ns, job, trigger_name, nominal, rerun)`;

export const occurrenceIndexes: readonly Index[] = [
  { name: 'ns_nominal', columns: 'ns, job, nominal, trigger_name, rerun' },
  { name: 'ns_state', columns: 'ns, job, state, nominal, trigger_name, rerun' },
  { name: 'noticed', columns: 'noticed_at' },
];

export const occurrence: Table<'occurrence'> = {
  place: 'occurrence',
  key: [
    ...namedKey('job'),
    { name: 'trigger_name', kind: 'text' },
    { name: 'nominal', kind: 'integer' },
    { name: 'rerun', kind: 'integer' },
  ],
  columns: columns<Occurrence>(
    ['ns', 'integer', (_, ns) => ns],
    ['job', 'text', (row) => row.job],
    ['trigger_name', 'text', (row) => row.trigger],
    ['nominal', 'integer', (row) => row.nominal],
    ['rerun', 'integer', (row) => row.rerun],
    ['state', 'text', (row) => row.state],
    ['reason', 'text', (row) => row.reason],
    ['calendar', 'text', (row) => row.calendar],
    ['until_nominal', 'integer', (row) => row.until],
    ['times', 'integer', (row) => row.count],
    ['task_id', 'text', (row) => row.taskId],
    ['noticed_at', 'integer', (row) => row.noticedAt],
  ),
};

export function occurrenceOf(row: Row): Occurrence {
  const get = <T>(name: string): T => row[name] as T;
  return {
    job: get('job'),
    trigger: get('trigger_name'),
    nominal: get('nominal'),
    rerun: get('rerun'),
    state: get('state'),
    reason: get('reason'),
    calendar: get('calendar'),
    until: get('until_nominal'),
    count: get('times'),
    taskId: get('task_id'),
    noticedAt: get('noticed_at'),
  };
}

export const activityDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  job ${t.key(64)} NOT NULL,
  live_count ${t.integer} NOT NULL,
  live_ids ${t.text} NOT NULL,
  pending ${t.text} NOT NULL,
  ends ${t.text} NOT NULL,
  lost_ends ${t.text} NULL,
  PRIMARY KEY (ns, job)`;

/** For those of a version before. */
export const addedLostColumns = (t: Types) => [['lost_ends', `${t.text} NULL`]] as const;

export const jobActivity: WholeTable<'jobActivity'> = {
  place: 'job_activity',
  key: namedKey('job'),
  columns: columns<JobActivity>(
    ['ns', 'integer', (_, ns) => ns],
    ['job', 'text', (row) => row.job],
    ['live_count', 'integer', (row) => row.liveCount],
    ['live_ids', 'text', (row) => JSON.stringify(row.liveIds)],
    ['pending', 'text', (row) => JSON.stringify(row.pending)],
    ['ends', 'text', (row) => JSON.stringify(row.ends)],
    [
      'lost_ends',
      'text',
      (row) => (row.lostEnds.length === 0 ? null : JSON.stringify(row.lostEnds)),
    ],
  ),
  of(row) {
    const get = <T>(name: string): T => row[name] as T;
    const json = <T>(name: string): T => JSON.parse(get(name)) as T;
    return {
      job: get('job'),
      liveCount: get('live_count'),
      liveIds: json('live_ids'),
      pending: json('pending'),
      ends: json('ends'),
      lostEnds: get('lost_ends') === null ? [] : json('lost_ends'),
    };
  },
};

export const calendarDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  name ${t.key(64)} NOT NULL,
  version ${t.instant} NOT NULL,
  definition ${t.text} NOT NULL,
  changed_at ${t.instant} NOT NULL,
  changed_by ${t.name(64)} NULL,
  replan_after ${t.key(128)} NULL,
  PRIMARY KEY (ns, name)`;

const replanColumns = columns<Pick<Calendar, 'replanAfter'>>([
  'replan_after',
  'text',
  (row) => row.replanAfter,
]);

export const calendar: WholeTable<'calendar'> = {
  place: 'calendar',
  key: namedKey('name'),
  columns: [
    ...columns<Calendar>(
      ['ns', 'integer', (_, ns) => ns],
      ['name', 'text', (row) => row.name],
      ['version', 'integer', (row) => row.version],
      ['definition', 'text', (row) => row.text],
      ['changed_at', 'integer', (row) => row.changedAt],
      ['changed_by', 'text', (row) => row.by],
    ),
    ...replanColumns,
  ],
  changing: replanColumns,
  of(row) {
    const get = <T>(name: string): T => row[name] as T;
    return {
      name: get('name'),
      version: get('version'),
      text: get('definition'),
      changedAt: get('changed_at'),
      by: get('changed_by'),
      replanAfter: get('replan_after'),
    };
  },
};
