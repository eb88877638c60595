/** What people ask of a store that `fill.ts` has filled: each filter by itself, and pairs that are common. */
import { DAY_COUNT } from './fill.ts';

export interface Question {
  readonly name: string;
  /** Below the base of the API. */
  readonly path: string;
  /** Of a POST. */
  readonly body?: unknown;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const times = (from: number, to: number) => `from=${from}&to=${to}`;
const hour = times(today - 10 * DAY_MS, today - 10 * DAY_MS + HOUR_MS);
const day = times(today - 10 * DAY_MS, today - 9 * DAY_MS);
const lastDays = times(today - DAY_COUNT * DAY_MS, today - 20 * DAY_MS);

const FILTERS = [
  '',
  'limit=200',
  // States.
  ...['waiting', 'suspended', 'held', 'offered', 'running'].map((state) => `state=${state}`),
  ...['succeeded', 'failed', 'canceled', 'expired'].map((state) => `state=${state}`),
  // A filter that much, little and nothing fits.
  ...['type=type-0', 'type=type-49', 'type=nothing'],
  ...['group=group-7', 'group=nothing'],
  ...['project=project-7', 'project=nothing'],
  ...['env=prod', 'env=test', 'user=user-3', 'user=nothing'],
  ...['label=night', 'label=nothing', 'requires=gpu', 'requires=nothing'],
  ...['executor_id=host-7', 'executor_id=nothing'],
  ...['id_prefix=job-', 'id_prefix=job-00', 'id_prefix=nothing'],
  ...['error=moov', 'error=nothing'],
  ...[
    'failure_reason=attempts_exhausted',
    'failure_reason=deadline',
    'failure_reason=crash_budget',
  ],
  ...['notification=delivered', 'notification=gave_up', 'notification=pending'],
  ...['min_attempts=2', 'min_attempts=9', 'min_attempts=1000'],
  ...[hour, day, lastDays],
  // Pairs.
  ...['type=type-0&state=failed', 'type=type-49&state=failed', 'type=nothing&state=failed'],
  ...['type=type-0&state=succeeded', 'type=nothing&state=succeeded', 'type=nothing&state=waiting'],
  ...[
    'group=group-7&state=failed',
    'group=nothing&state=failed',
    'project=project-7&state=succeeded',
  ],
  ...['type=type-0&group=group-7', 'type=nothing&group=nothing'],
  ...[
    `state=failed&${hour}`,
    `type=type-0&${hour}`,
    `type=nothing&${day}`,
    `group=nothing&${lastDays}`,
  ],
  ...['state=failed&error=moov', 'state=failed&error=nothing', `error=moov&${day}`],
  ...[
    'notification=gave_up&type=type-0',
    `notification=gave_up&${day}`,
    'notification=delivered&type=nothing',
  ],
  // Those that wait, in their order.
  ...[
    'sort=order',
    'sort=order&type=type-0',
    'sort=order&group=group-7',
    'sort=order&requires=gpu',
  ],
  ...['sort=order&project=project-7', 'sort=order&project=nothing', 'sort=order&id_prefix=job-'],
];

const preview = (name: string, body: object): Question => ({ name, path: '/tasks/bulk', body });

export const questions: readonly Question[] = [
  ...FILTERS.map((query) => ({
    name:
      query.replace(hour, 'an hour').replace(day, 'a day').replace(lastDays, 'ten days') ||
      'no filter',
    path: `/tasks?${query}`,
  })),
  ...['host-7', 'nothing'].map((id) => ({
    name: `tasks of executor ${id}`,
    path: `/executor/${id}/tasks`,
  })),
  ...['', '?type=type-0', '?state=failed', '?state=succeeded'].map((query) => {
    return { name: `count${query}`, path: `/tasks/count${query}` };
  }),
  ...['', '?type=type-0', '?type=nothing'].map((query) => {
    return { name: `errors${query}`, path: `/tasks/errors${query}` };
  }),
  { name: 'errors of a day', path: `/tasks/errors?${day}` },
  { name: 'a task that waits', path: '/task/waiting-7' },
  { name: 'one that ended 30 days ago', path: '/task/ended-500' },
  { name: 'none', path: '/task/nothing' },
  ...['/types', '/executors', '/views', '/operations'].map((path) => ({ name: path, path })),
  preview('preview: cancel a type', { action: 'cancel', filter: { type: 'type-0' } }),
  preview('preview: retry failed', { action: 'retry', filter: { state: 'failed' } }),
  preview('preview: retry nothing', { action: 'retry', filter: { type: 'nothing' } }),
];
