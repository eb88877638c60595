/**
 * What this executor has to say about its attempts, kept until the master has acknowledged it:
 * over lost connections in the session, and from one session to the next. Progress gives way to
 * newer progress, so that a master that is slow to acknowledge does not fill the window.
 */
import { Session, encodeFrame } from '@soda-scheduler/protocol';
import { decodeFrame, executorFrame } from '@soda-scheduler/protocol/messages';
import type { ExecutorMessage, RunningAttempt, WelcomeFrame } from '@soda-scheduler/protocol';
import { keyOf, nameOf } from '../thread-messages.ts';
import type { AttemptKey, ToSession } from '../thread-messages.ts';

/** Reports without an ack; beyond that only the newest of each kind is kept. */
const REPORTS_UNACKED_MAX = 16;
/** Events and alerts without an ack, and those that wait for that; beyond it the oldest of these is given up. */
const EVENTS_UNACKED_MAX = 32;
const EVENTS_WAITING_MAX = 128;
/** What the numbers of a frame may add to its body. */
const NUMBERS_BYTES_MAX = 64;

/** A frame about an attempt, with what the session knows of that. */
export type Outgoing = Extract<ToSession, { body: string }> & {
  readonly mac?: string | undefined;
  /** Of a result, as the next. */
  readonly ranMs?: number | undefined;
  readonly logLineCount?: number | undefined;
};

export interface OutboxOptions {
  /** May do nothing: a frame that was not sent goes out when the session is resumed. */
  readonly write: (seq: number, message: Outgoing) => void;
  /** Something is not reported as it was given, or not at all. */
  readonly onRefused: (message: Outgoing, why: string) => void;
}

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #waitingReports = new Map<Outgoing['type'], Outgoing>();
  #waitingEvents: Outgoing[] = [];
  #session = new Session<Outgoing>();
  #frameBytesMax = Number.POSITIVE_INFINITY;
  /** What the master understands beyond 2.0.0. */
  #features: readonly string[] = [];

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  get session(): Session<Outgoing> {
    return this.#session;
  }

  /** As the master has said. */
  follow({ limits, features }: WelcomeFrame): void {
    this.#frameBytesMax = limits.frame_bytes;
    this.#features = features;
    this.#waitingEvents = this.#waitingEvents.filter(({ type }) => features.includes(type));
  }

  /**
   * A frame that the master would refuse must not be numbered: it would be refused again after
   * every reconnect. In place of a result goes a failure that says so; other news is left out.
   */
  send(given: Outgoing): void {
    const message = this.#acceptable(given);
    if (message === null) return;
    const frame = this.#session.send(message, Buffer.byteLength(message.body));
    // One attempt at a time and few reports of each: only a master that never acknowledges and
    // still assigns can fill the window.
    if (frame === null) throw new Error('the master does not acknowledge results');
    this.#options.write(frame.seq, message);
  }

  #acceptable(message: Outgoing): Outgoing | null {
    const { body, type } = message;
    // It says nothing but what the offer has said, which was checked, and the handler waits for its ack.
    if (type === 'accept') return message;
    const bytes = Buffer.byteLength(body) + NUMBERS_BYTES_MAX;
    const decoded = decodeFrame(executorFrame, encodeFrame(1, 0, body));
    const problem =
      bytes > this.#frameBytesMax
        ? `${bytes} bytes, and ${this.#frameBytesMax} are allowed`
        : 'problem' in decoded && decoded.problem;
    if (problem === false) return message;
    this.#options.onRefused(message, problem);
    return type === 'result' ? refusedResult(message, problem) : null;
  }

  /** Sends progress or a checkpoint, now or once there is room. */
  report(message: Outgoing): void {
    this.#waitingReports.set(message.type, message);
    this.sendReports();
  }

  /** Sends an event or an alert of a handler, now or once there is room; to a master that knows none it is lost. */
  tell(message: Outgoing): void {
    if (!this.#features.includes(message.type)) return;
    this.#waitingEvents.push(message);
    this.#sendEvents(EVENTS_UNACKED_MAX);
    // The next one says how many are missing.
    if (this.#waitingEvents.length > EVENTS_WAITING_MAX) this.#waitingEvents.shift();
  }

  #sendEvents(unackedMax: number): void {
    let room = unackedMax - this.#session.unacked().filter(isTold).length;
    for (; room > 0; room -= 1) {
      const message = this.#waitingEvents.shift();
      if (message === undefined) return;
      this.send(message);
    }
  }

  /** To be called after an ack. */
  sendReports(unackedMax = REPORTS_UNACKED_MAX): void {
    if (this.#waitingEvents.length > 0) this.#sendEvents(Math.max(unackedMax, EVENTS_UNACKED_MAX));
    for (const [type, message] of this.#waitingReports) {
      const isReport = (sent: Outgoing) => sent.type === 'progress' || sent.type === 'checkpoint';
      if (this.#session.unacked().filter(isReport).length >= unackedMax) return;
      this.#waitingReports.delete(type);
      this.send(message);
    }
  }

  /** The last word about an attempt: whatever still waits goes before it. */
  conclude(message: Outgoing): void {
    this.sendReports(Number.POSITIVE_INFINITY);
    this.send(message);
  }

  /** Nobody waits for those of this attempt any more. */
  dropReports(key: AttemptKey): void {
    const isOf = (waiting: Outgoing): boolean => nameOf(waiting) === nameOf(key);
    for (const [type, waiting] of this.#waitingReports) {
      if (isOf(waiting)) this.#waitingReports.delete(type);
    }
    this.#waitingEvents = this.#waitingEvents.filter((waiting) => !isOf(waiting));
  }

  unacked(type: Outgoing['type']): readonly Outgoing[] {
    return this.#session.unacked().filter((message) => message.type === type);
  }

  /**
   * Begins a new session: results move to it, and of the attempt that is still held its acceptance; of each of
   * both its newest checkpoint, and what its handler has told. The rest was only news. `refused` does not
   * move: of a result or an acceptance remains that the attempt has failed.
   */
  moveToNewSession(isHeld: (key: AttemptKey) => boolean, refused: Refused | null): void {
    const accepts = this.unacked('accept').filter(isHeld);
    const results = new Set(this.unacked('result').map(nameOf));
    const isKept = (message: Outgoing): boolean => isHeld(message) || results.has(nameOf(message));
    // Of an attempt that has ended, too: the next one begins from there.
    const checkpoints = new Map(
      this.unacked('checkpoint').map((message) => [nameOf(message), message]),
    );
    const kept = this.#session.unacked().filter((message) => {
      if (isTold(message)) return this.#features.includes(message.type) && isKept(message);
      if (message.type === 'checkpoint') {
        return isKept(message) && checkpoints.get(nameOf(message)) === message;
      }
      return message.type === 'result' || accepts.includes(message);
    });
    this.#waitingEvents = this.#waitingEvents.filter(isHeld);
    this.#session = new Session();
    for (const message of kept) {
      if (message !== refused?.message) this.send(message);
      else if (message.type === 'accept' || message.type === 'result') {
        this.send(refusedResult(message, refused.why));
      }
    }
    if (refused !== null) this.#options.onRefused(refused.message, refused.why);
  }
}

/** What a handler tells, beside its progress. */
const isTold = ({ type }: Outgoing): boolean => type === 'event' || type === 'alert';

/** A frame that the master has refused for good. */
export interface Refused {
  readonly message: Outgoing;
  readonly why: string;
}

function refusedResult(message: Outgoing, why: string): Outgoing {
  const { taskId, attempt, mac, ranMs, logLineCount } = message;
  const result: ExecutorMessage = {
    type: 'result',
    task_id: taskId,
    attempt,
    outcome: 'failed',
    error: {
      name: 'FrameRefused',
      message: `What ${nameOf(message)} had to report was refused: ${why}`.slice(0, 1_024),
      retryable: true,
    },
    ...(mac !== undefined && { mac }),
    ...(ranMs !== undefined && { ran_ms: ranMs }),
    ...(logLineCount !== undefined && { log_lines: logLineCount }),
  };
  const body = JSON.stringify(result);
  return { ...keyOf(message), type: 'result', mac, ranMs, logLineCount, body };
}

/**
 * The message with what the session knows of its attempt. Its body is JSON text already, and may
 * be large: what is added goes before its end.
 */
export function stamped(
  message: Outgoing,
  mac: string | undefined,
  { ranMs, logLineCount }: Pick<Outgoing, 'ranMs' | 'logLineCount'> = {},
): Outgoing {
  const isResult = message.type === 'result';
  const fields = [
    ...(mac === undefined ? [] : [`"mac":${JSON.stringify(mac)}`]),
    ...(isResult && ranMs !== undefined ? [`"ran_ms":${ranMs}`] : []),
    ...(isResult && logLineCount !== undefined ? [`"log_lines":${logLineCount}`] : []),
  ];
  const body = [message.body.slice(0, -1), ...fields].join(',');
  return { ...message, body: `${body}}`, mac, ...(isResult && { ranMs, logLineCount }) };
}

/** As `hello` and heartbeats say it. */
export function runningAttempt(
  { taskId, attempt, mac, ranMs }: AttemptKey & Pick<Outgoing, 'mac' | 'ranMs'>,
  state: RunningAttempt['state'],
): RunningAttempt {
  return { task_id: taskId, attempt, state, mac, ran_ms: ranMs };
}
