/**
 * What the event feed tells: each kind, when it is told, and what its `data` holds. Data only, for whoever reads the
 * feed; `docs/http-api.md` shows it, and tests hold what is told against it. Later versions tell of more, and
 * executors of what they call `user.<name>`.
 */

/** `?`: where it is known; `or null`: nothing is set. Instants are texts. */
type Shape =
  | 'text'
  | 'text?'
  | 'text or null'
  | 'number'
  | 'number?'
  | 'JSON?'
  | 'number or null'
  | 'boolean'
  | 'texts'
  | 'instant'
  | 'instant?'
  | 'instant or null';

interface Kind {
  readonly means: string;
  /** Told only where all is; the others also where ends are. */
  readonly level?: 'all';
  readonly data: Readonly<Record<string, Shape>>;
}

const until = { reason: 'text or null', until: 'instant or null' } as const;

export const eventKinds = {
  'task.submitted': {
    means: 'A task was accepted; `due_at` where that is yet to come, `job` of a run of one.',
    data: { due_at: 'instant?', job: 'text?' },
  },
  'task.held': {
    level: 'all',
    means: 'It waits for a place of its `concurrency` key.',
    data: {},
  },
  'task.offered': {
    level: 'all',
    means: 'It was given to an executor, which may refuse it.',
    data: {},
  },
  'task.rejected': {
    means: 'The executor did not take it: it waits again.',
    data: { error: 'text' },
  },
  'task.assign_timeout': {
    means: 'The executor did not answer in time.',
    data: {},
  },
  'task.started': {
    level: 'all',
    means: 'The executor runs it.',
    data: {},
  },
  'task.start_overdue': {
    means: 'Its `start_timeout` has passed, and it goes on.',
    data: {},
  },
  'task.progress': {
    level: 'all',
    means: 'It has come to another tenth.',
    data: { percent: 'number' },
  },
  'task.checkpoint': {
    level: 'all',
    means: 'It has saved how far it is; the length of that as JSON.',
    data: { length: 'number' },
  },
  'task.events_dropped': {
    means:
      'Its executor has told of more than is taken: so many of its own events are missing here.',
    data: { count: 'number' },
  },
  'task.cancel_requested': {
    means: 'Its executor is told to end the attempt.',
    data: { reason: 'text' },
  },
  'task.attempt_ended': {
    means: 'An attempt has ended without success; how far it was, and the state of its progress.',
    data: { outcome: 'text', error: 'text?', percent: 'number?', state: 'JSON?' },
  },
  'task.changed': {
    means: 'Somebody has changed what it asks for.',
    data: { version: 'number' },
  },
  'task.moved': {
    means: 'It was put before, or behind, all of its type.',
    data: { to: 'text' },
  },
  'task.suspended': {
    means: 'It was set aside.',
    data: {},
  },
  'task.resumed': {
    means: 'It was put back to its place.',
    data: {},
  },
  'task.finished': {
    means: 'It has ended. Where it had an attempt under way, that ended with it.',
    data: { state: 'text', reason: 'text?' },
  },
  'task.retried': {
    means: 'It begins anew, under its id.',
    data: {},
  },
  'task.deleted': {
    means: 'Nothing is left of it.',
    data: {},
  },
  'task.callback_tried': {
    level: 'all',
    means: 'Its callback was sent.',
    data: { outcome: 'text', status: 'number or null', error: 'text?' },
  },
  'task.callback_gave_up': {
    means: 'Its callback is tried no more.',
    data: { tries: 'number' },
  },
  'task.redelivered': {
    means: 'Somebody asks for its callback once more.',
    data: {},
  },
  'executor.joined': {
    means: 'An executor has begun a session, also one that has come back.',
    data: { types: 'texts', host: 'text' },
  },
  'executor.left': {
    means: 'It has said farewell.',
    data: {},
  },
  'executor.lost': {
    means: 'It is given up: silent for its lease, or gone with a task.',
    data: { reason: 'text' },
  },
  'executor.readiness': {
    means: 'It has become ready, or is no more, or for another reason.',
    data: { ok: 'boolean', reason: 'text or null' },
  },
  'executor.drained': {
    means: 'It is given no task.',
    data: until,
  },
  'executor.resumed': {
    means: 'It is given tasks again.',
    data: {},
  },
  'executor.changed': {
    means: 'Other labels or reservations count.',
    data: {},
  },
  'executor.removed': {
    means: 'It is forgotten.',
    data: {},
  },
  'type.changed': {
    means: 'A type was defined, or otherwise.',
    data: { version: 'number' },
  },
  'type.deleted': {
    means: 'Its definition is gone.',
    data: {},
  },
  'type.paused': {
    means: 'Nothing of it is offered.',
    data: until,
  },
  'type.resumed': {
    means: 'It is offered again.',
    data: {},
  },
  'type.overridden': {
    means: 'Other limits hold.',
    data: until,
  },
  'type.override_ended': {
    means: 'Its own limits hold again.',
    data: {},
  },
  'pause.set': {
    means: 'A group, a label, this namespace or all of them are paused.',
    data: { scope: 'text', value: 'text', ...until },
  },
  'pause.ended': {
    means: 'That pause is over.',
    data: { scope: 'text', value: 'text' },
  },
  'limit.changed': {
    means: 'A shared limit was set.',
    data: { limit: 'text', max: 'number' },
  },
  'limit.deleted': {
    means: 'It is gone.',
    data: { limit: 'text' },
  },
  'namespace.changed': {
    means: 'Settings of the namespace are others.',
    data: { max_waiting: 'number or null', max_running: 'number or null', retention: 'text' },
  },
  'job.changed': {
    means: 'A job was made or changed.',
    data: { job: 'text', version: 'number' },
  },
  'job.deleted': { means: 'A job was deleted.', data: { job: 'text' } },
  'job.enabled': { means: 'Its triggers fire it again.', data: { job: 'text' } },
  'job.disabled': { means: 'No trigger fires it.', data: { job: 'text' } },
  'job.fire_refused': {
    means: 'A run of a job could not be submitted.',
    data: { job: 'text', trigger: 'text', nominal_at: 'instant?', reason: 'text' },
  },
  'job.trigger_paused': {
    means: 'So many runs in a row have not succeeded that it fires no more.',
    data: { job: 'text', trigger: 'text', reason: 'text' },
  },
  'calendar.changed': {
    means: 'A calendar was made or changed.',
    data: { calendar: 'text', version: 'number' },
  },
  'calendar.deleted': { means: 'A calendar was deleted.', data: { calendar: 'text' } },
  'blackouts.changed': {
    means: 'The black-outs of all jobs are others.',
    data: { version: 'number' },
  },
  'booking.created': {
    means: 'Executors are booked.',
    data: { booking_id: 'text', from_at: 'instant', to_at: 'instant', count: 'number' },
  },
  'booking.planned': {
    means: 'It fits again: there are enough executors, and limits leave room.',
    data: { booking_id: 'text', from_at: 'instant' },
  },
  'booking.at_risk': {
    means: 'Its next window does not fit any more: executors have gone, or a limit is lower.',
    data: { booking_id: 'text', from_at: 'instant', reason: 'text' },
  },
  'booking.began': {
    means: 'Its lead has begun: its executors are bound.',
    data: { booking_id: 'text' },
  },
  'booking.bound': {
    means: 'An executor is bound to it.',
    data: { booking_id: 'text' },
  },
  'booking.short': {
    means: 'So many executors are missing that it should have by now.',
    data: { booking_id: 'text', count: 'number' },
  },
  'booking.skipped': {
    means: 'One of its windows is left out.',
    data: { booking_id: 'text', from_at: 'instant' },
  },
  'booking.ended': {
    means:
      'A window of it is over, and with it those that have passed since while no master looked; `state` says how: ended, no_show, canceled or skipped.',
    data: { booking_id: 'text', state: 'text' },
  },
  'operation.began': {
    means: 'An operation on many tasks has begun.',
    data: { operation_id: 'text', action: 'text' },
  },
  'operation.ended': {
    means: 'It is over.',
    data: { operation_id: 'text', state: 'text' },
  },
} as const satisfies Readonly<Record<string, Kind>>;

export type EventKind = keyof typeof eventKinds;
