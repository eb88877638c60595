/**
 * Sizes and times both ends of the wire agree on. The master announces those an executor must
 * know in `welcome.limits`; the rest are checked by the side that receives.
 */

/** The subprotocol a session asks for in the WebSocket upgrade. */
export const SUBPROTOCOL = 'soda.v2';
/** Where an executor dials in. */
export const EXECUTOR_PATH = '/scheduler/v2/executor';
/** The base of every HTTP route but the probes. */
export const API_BASE = '/scheduler/v2';
/** Behind the host and what a proxy puts before it: the base, perhaps with a route. */
const COPIED = new RegExp(
  `^([a-z]+://[^/?#]+(?:/[^?#]*?)?)${API_BASE}(?:/(?:tasks?|executors?)(?:/[^?#]*)?)?/?(?=[?#]|$)`,
  'i',
);
/** Where the master is, of a URL that may have been copied together with that base, or a route. */
export function withoutApiBase(url: string): string {
  return url.replace(COPIED, '$1');
}
/** The port a master listens on unless told otherwise. */
export const DEFAULT_PORT = 18890;

export const HTTP_LIMITS = {
  bodyBytesMax: 256 * 1024,
  batchBytesMax: 8 * 1024 * 1024,
  batchCountMax: 1000,
  /** One task of a batch, with all around its params. */
  itemBytesMax: 320 * 1024,
  paramsDepthMax: 32,
  /** As written, which is how executors get them: an assign frame carries them beside the checkpoint. */
  paramsBytesMax: 256 * 1024,
  notifyUrlBytesMax: 2048,
  listCountMax: 200,
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
  /** Of arrays and objects within one another, in each of these. */
  jsonDepthMax: 1_000,
  /** Sequenced frames one side may have sent without an ack. */
  unackedFramesMax: 256,
  /** Bytes of such frames. */
  unackedBytesMax: 4 * 1024 * 1024,
  /** From the upgrade to a valid `hello`. */
  handshakeTimeoutMs: 5_000,
} as const;

/** A label or a required label: what a lane is made of, so its alphabet leaves `|` and `,` free. */
export const LABEL_PATTERN = /^[A-Za-z0-9_.:=/-]{1,64}$/;
export const TASK_TYPE_PATTERN = /^[A-Za-z0-9_.:-]{1,64}$/;
/** An id is a part of a path, from which every client takes `.` and `..` out. */
export const TASK_ID_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9_.:-]{1,64}$/;
/** Of a task that is submitted: of one named as a part of a route, that route would take the path. */
export const NEW_TASK_ID_PATTERN = /^(?!(?:\.{1,2}|submit|submit-batch)$)[A-Za-z0-9_.:-]{1,64}$/;
export const EXECUTOR_ID_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9_.:-]{1,64}$/;
/** A task's type, required labels and labels, joined, make the name of its lane: an index key. */
export const LANE_LENGTH_MAX = 255;
