/**
 * How a session begins or goes on: what this executor says of itself in `hello`, and whether the
 * master's `welcome` may be believed. It knows which session is to be resumed and the newest term
 * it has heard of; it acts on nothing.
 */
import { hostname } from 'node:os';
import { CloseCode } from '@soda-scheduler/protocol';
import type {
  Numbered,
  Readiness,
  RunningAttempt,
  SentHello,
  WelcomeFrame,
} from '@soda-scheduler/protocol';
import type { AttemptKey, SessionSettings } from '../thread-messages.ts';
import type { Clock } from './clock.ts';
import type { Outbox, Outgoing, Refused } from './outbox.ts';
import type { Ended } from './reconnect.ts';
import { RefusedFrames } from './refused-frames.ts';

/** As many as a `hello` may name. */
const NAMED_COUNT_MAX = 16;

const FEATURES = ['mac', 'fenced', 'timeouts', 'suspended', 'booking_end'];

export type Fenced = NonNullable<SentHello['fenced']>[number];

/** Processes that had the id of this executor before. */
export interface Predecessors {
  /** Of this host since its last start, and of the space of process ids; empty: not known. */
  readonly bootId: string;
  /** Incarnations that have ended for certain. */
  readonly died: readonly string[];
  /** What they ended by themselves for a lost lease, and could not say any more. */
  readonly fenced: readonly Fenced[];
  /** The master has heard of them. */
  onTold(): void;
}

export interface HandshakeOptions {
  readonly settings: SessionSettings;
  readonly predecessors: Predecessors;
  readonly clock: Clock;
  readonly outbox: Outbox;
}

/** What a `welcome` comes to. */
export type Verdict =
  | { readonly isAccepted: false; readonly code: CloseCode; readonly reason: string }
  | {
      readonly isAccepted: true;
      /** When the `hello` was sent that it answers: the lease counts from then. */
      readonly helloSentAt: number;
      /** What the master has not received of a session that goes on. */
      readonly resend: readonly Numbered<Outgoing>[];
    };

export class Handshake {
  readonly #options: HandshakeOptions;
  readonly #refusedFrames = new RefusedFrames();
  /** Undefined: the next `hello` begins a new session. */
  #sessionId: string | undefined;
  #bookingId: string | undefined;
  #helloSentAt = 0;
  #term = 0;
  /** These and those that were fenced are named again until the master has answered. */
  #died: readonly string[];
  #fenced: readonly Fenced[];
  /** As the `hello` that was sent last has named them. */
  #named: readonly Fenced[] = [];

  constructor(options: HandshakeOptions) {
    this.#options = options;
    this.#died = options.predecessors.died.slice(-NAMED_COUNT_MAX);
    this.#fenced = options.predecessors.fenced;
  }

  /** As the master has said: a new session is told if that has changed. */
  bookedBy(bookingId: string | undefined): void {
    this.#bookingId = bookingId;
  }

  addFenced({ taskId, attempt }: AttemptKey): void {
    this.#fenced = [...this.#fenced, { task_id: taskId, attempt }];
  }

  forgetSession(): void {
    this.#sessionId = undefined;
  }

  /** To be sent now. */
  hello(running: RunningAttempt[], ready: Readiness | undefined): SentHello {
    const { settings, predecessors, clock, outbox } = this.#options;
    const { executorId, incarnation, types, labels, reserve, sdk, version, leaseMs } = settings;
    this.#helloSentAt = clock.now();
    this.#named = this.#fenced.slice(-NAMED_COUNT_MAX);
    return {
      type: 'hello',
      executor_id: executorId,
      incarnation,
      types: [...types],
      labels: [...labels],
      reserve: [...reserve],
      slots: 1,
      ...(this.#sessionId !== undefined && { session: this.#sessionId }),
      received: this.#sessionId === undefined ? 0 : outbox.session.received,
      running,
      sdk,
      ...(version !== undefined && { version }),
      host: hostname().slice(0, 255),
      pid: process.pid,
      features: settings.hearsOfBookings ? [...FEATURES, 'booking'] : FEATURES,
      boot_id: predecessors.bootId,
      ...(leaseMs !== undefined && { lease_ms: leaseMs }),
      died: [...this.#died],
      fenced: [...this.#named],
      lasting_id: settings.isLastingId,
      ...(ready && { ready }),
      ...(this.#bookingId !== undefined && { booking: this.#bookingId }),
    };
  }

  /** The master has answered the last `hello`. */
  judge(welcome: WelcomeFrame): Verdict {
    const { session } = this.#options.outbox;
    if (welcome.term < this.#term) {
      return refused(CloseCode.staleTerm, `term ${welcome.term} is below ${this.#term}`);
    }
    this.#term = welcome.term;
    if (welcome.resumed && welcome.session !== this.#sessionId) {
      return refused(CloseCode.badFrame, 'resumed another session than asked for');
    }
    const resend = welcome.resumed ? session.resume(welcome.received) : [];
    if (resend === null) {
      this.#sessionId = undefined;
      return refused(CloseCode.gap, `received ${welcome.received} was never sent`);
    }
    const next = welcome.resumed ? resend[0]?.message : session.unacked()[0];
    if (this.#refusedFrames.isRefusedAgain(next ?? null) && welcome.resumed) {
      return refused(CloseCode.frameRefused, 'what comes next is refused each time');
    }
    this.#sessionId = welcome.session;
    this.#told();
    return { isAccepted: true, helloSentAt: this.#helloSentAt, resend };
  }

  /** A frame that is not to be moved into the session that begins now. */
  takeRefused(): Refused | null {
    return this.#refusedFrames.takeFound();
  }

  /** A connection has ended. */
  ended(ended: Ended): void {
    this.#refusedFrames.ended(ended, this.#options.outbox.session.unacked());
    // The master has ended the session, whatever this side knows of the frame.
    if (ended.code === CloseCode.frameRefused) this.#sessionId = undefined;
  }

  #told(): void {
    if (this.#died.length > 0 || this.#named.length > 0) this.#options.predecessors.onTold();
    this.#died = [];
    const named = new Set(this.#named);
    this.#fenced = this.#fenced.filter((fenced) => !named.has(fenced));
  }
}

function refused(code: CloseCode, reason: string): Verdict {
  return { isAccepted: false, code, reason };
}
