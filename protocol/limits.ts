/**
 * Sizes and times both ends of the wire agree on. The master announces those an executor must
 * know in `welcome.limits`; the rest are checked by the side that receives.
 */

export const HTTP_LIMITS = {
  bodyBytesMax: 256 * 1024,
  batchBytesMax: 8 * 1024 * 1024,
  batchCountMax: 1000,
  /** One task of a batch, with all around its params. */
  itemBytesMax: 320 * 1024,
  paramsDepthMax: 32,
  /** As written, which is how executors get them: an assign frame carries them beside the checkpoint. */
  paramsBytesMax: 256 * 1024,
  /** The definition of a type, with the schema of its params. */
  typeBytesMax: 64 * 1024,
  notifyUrlBytesMax: 2048,
  listCountMax: 200,
  /** Rows of one page of a report. */
  reportRowsMax: 1000,
  /** Events of one page, and how long one that is empty is waited for. */
  eventPageMax: 500,
  eventWaitSeconds: 30,
  /** Lines of one page of a log. */
  logPageMax: 1_000,
  /** Tasks that one operation names, and the body that does. */
  bulkCountMax: 10_000,
  bulkBytesMax: 1024 * 1024,
  /** Namespaces, groups or types in the scope of a token. */
  scopeCountMax: 100,
} as const;

/** Of what is fired again and again. */
export const JOB_LIMITS = {
  /** The definition of a job, with its template. */
  jobBytesMax: 320 * 1024,
  triggerCountMax: 32,
  tagCountMax: 16,
  blackoutCountMax: 100,
  /** Times to come that one request asks for. */
  nextCountMax: 500,
  /** Days of which a calendar says something: some twenty years of holidays, and a body that has them. */
  calendarDayCountMax: 4_000,
  calendarBytesMax: 1024 * 1024,
  /** Runs of a backfill that have not ended. */
  backfillRunningMax: 100,
  /** Versions of a job that are kept. */
  versionCountMax: 30,
} as const;

/** Of executors that are kept for a window of time. */
export const BOOKING_LIMITS = {
  /** Executors of one booking. */
  countMax: 1_000,
  leadSecondsMax: 3_600,
  holdSecondsMax: 86_400,
  /** From one window to the next, and the length of one. */
  everySecondsMax: 31_536_000,
  windowSecondsMax: 31_536_000,
  /** How far ahead a booking may begin. */
  aheadSecondsMax: 5 * 31_536_000,
  /** Tasks of one booking that have not ended. */
  taskCountMax: 1_000,
} as const;

export const SESSION_LIMITS = {
  /** Largest frame in bytes, either way. */
  frameBytesMax: 1024 * 1024,
  /** Largest `result` or `error.details` of an attempt, as JSON bytes. */
  resultBytesMax: 256 * 1024,
  /** Largest checkpoint, as JSON bytes. */
  checkpointBytesMax: 64 * 1024,
  /** Largest progress state, as JSON bytes. */
  progressStateBytesMax: 4 * 1024,
  /** Parts of the work of which progress tells, the length of the name of one, and all of them as JSON bytes. */
  progressPartCountMax: 100,
  progressPartNameLengthMax: 128,
  progressPartsBytesMax: 8 * 1024,
  /** Largest data of an event that an executor tells, as JSON bytes. */
  eventDataBytesMax: 4 * 1024,
  /** Message of an alert in characters, and its fields, as JSON bytes. */
  alertMessageLengthMax: 2_000,
  alertFieldsBytesMax: 4 * 1024,
  /** Of arrays and objects within one another, in each of these. */
  jsonDepthMax: 1_000,
  /** Sequenced frames one side may have sent without an ack. */
  unackedFramesMax: 256,
  /** Bytes of such frames. */
  unackedBytesMax: 4 * 1024 * 1024,
  /** From the upgrade to a valid `hello`. */
  handshakeTimeoutMs: 5_000,
  /** Labels of an executor, and labels that it is reserved for. */
  labelCountMax: 32,
  /** Largest `log` frame in bytes. */
  logFrameBytesMax: 64 * 1024,
  /** Text of a line of a log, and its fields, each as JSON bytes; what is beyond it is cut by the executor. */
  logTextBytesMax: 8 * 1024,
  logFieldsBytesMax: 4 * 1024,
  /** Bytes of `log` frames of an executor in a second, and at once after a pause. */
  logBytesPerSecond: 256 * 1024,
  logBurstBytes: 1024 * 1024,
  /** Number of the first line of a `log` frame: that of its last has ten digits then, as a place in a log does. */
  logFirstLineMax: 9_000_000_000,
} as const;

/** A label or a required label: what a kind is made of, so its alphabet leaves `|` and `,` free. */
export const LABEL_PATTERN = /^[A-Za-z0-9_.:=/-]{1,64}$/;
/** Of what is stored, and of executors that run it: 2.0.0 took `.` and `..` too. */
export const TASK_TYPE_PATTERN = /^[A-Za-z0-9_.:-]{1,64}$/;
/** Of a task that is submitted, and of a type that something is set for: it is a part of a path, as an id is. */
export const NEW_TASK_TYPE_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9_.:-]{1,64}$/;
export const TASK_TYPE_EXPECTED = 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : -, not . or ..';
/** An id is a part of a path, from which every client takes `.` and `..` out. */
export const TASK_ID_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9_.:-]{1,64}$/;
/** Of a task that is submitted: of one named as a part of a route, that route would take the path. */
export const NEW_TASK_ID_PATTERN = /^(?!(?:\.{1,2}|submit|submit-batch)$)[A-Za-z0-9_.:-]{1,64}$/;
export const EXECUTOR_ID_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9_.:-]{1,64}$/;
/** A shared limit: a part of paths, and of the name of a kind, so its alphabet leaves `=` free too. */
export const LIMIT_NAME_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9_.:-]{1,64}$/;
/** Of a process, in any characters: half of one (a surrogate) no database holds, and it names rows there. */
export const INCARNATION_PATTERN = /^\P{Cs}{1,64}$/u;
/** Of the program of an executor: selectors leave `,`, `=` and `!` free. */
export const EXECUTOR_VERSION_PATTERN = /^[A-Za-z0-9_.:+~/@-]{1,64}$/;
/** What an executor calls an event of its own: the feed has it behind `user.`. */
export const EVENT_NAME_PATTERN = /^[a-z0-9_]{1,47}$/;
/** An operation on many tasks, as the master has named it. */
export const OPERATION_ID_PATTERN = /^op-[0-9a-f]{24}$/;
/** A booking, as the master has named it. */
export const BOOKING_ID_PATTERN = /^bk-[0-9a-f]{16}$/;
/** A namespace: a part of paths, and a label of metrics. */
export const NAMESPACE_PATTERN = /^[a-z0-9-]{1,32}$/;
/** Of a token: a part of paths, without the colon of those that nobody makes. */
export const TOKEN_NAME_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,64}$/;
/** Of a rule or a receiver of alerts: a part of paths. */
export const ALERT_NAME_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,64}$/;
/** Of a saved view: a part of paths. */
export const VIEW_NAME_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,64}$/;
/** A token that the master has made: 256 random bits. */
export const TOKEN_PATTERN = /^soda_[A-Za-z0-9_-]{43}$/;
/** Of a job: a part of paths, and the beginning of the ids of its tasks. */
export const JOB_NAME_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9_.:-]{1,64}$/;
/** Of a trigger, unique in its job. */
export const TRIGGER_NAME_PATTERN = /^[A-Za-z0-9_-]{1,32}$/;
/** Of a calendar: a part of paths. */
export const CALENDAR_NAME_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9_.:-]{1,64}$/;
