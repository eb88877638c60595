/**
 * The executor's end of a session: dials, resumes, numbers, acknowledges and sends heartbeats.
 * It knows what the master was told and what it has confirmed; it never runs a handler, and sits
 * in a thread that no handler can block. `docs/protocol.md` is what it implements.
 */
import { CloseCode, decodeFrame, encodeFrame, masterFrame } from '@soda-scheduler/protocol';
import type {
  AssignedTask,
  NumberedFrame,
  RunningAttempt,
  WelcomeFrame,
} from '@soda-scheduler/protocol';
import { ExecutorRefused } from '../errors.ts';
import type { EventDraft } from '../events.ts';
import { AttemptGuard } from './attempt-guard.ts';
import type { Clock } from './clock.ts';
import type { ConnectionOptions, Dialled } from './connection.ts';
import { Heartbeats } from './heartbeats.ts';
import { type Fenced, Introduction, type Predecessors } from './introduction.ts';
import { Outbox, type Outgoing, runningAttempt, stamped } from './outbox.ts';
import { type Refusal, rejectBody } from '../outcome.ts';
import { type Ended, Failures, NEVER_DIALLED, keepConnecting } from './reconnect.ts';
import { RefusedFrames } from './refused-frames.ts';
import { timeLimits } from './run-time.ts';
import type { AttemptKey, FromSession, SessionSettings, ToSession } from '../thread-messages.ts';
import { keyOf, nameOf, offeredTask } from '../thread-messages.ts';

const RECONNECT_WAIT_MS_MAX = 30_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** How long leaving may wait for results to be acknowledged. */
const LEAVE_TIMEOUT_MS = 10_000;

export interface SessionClientOptions {
  readonly settings: SessionSettings;
  readonly tell: (message: FromSession) => void;
  /** Ends the process at once. `fenced`: the attempt under it, if that has lost its lease. */
  readonly endProcess: (why: string, fenced: Fenced | null) => void;
  /** Ends at once what handlers have started. */
  readonly killGroups: () => void;
  readonly clock: Clock;
  readonly dial: (options: ConnectionOptions) => Dialled;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly predecessors: Predecessors;
}

export class SessionClient {
  readonly #options: SessionClientOptions;
  readonly #guard: AttemptGuard;
  readonly #over = new AbortController();
  readonly #outbox = new Outbox({
    write: (seq, message) => this.#write(seq, message),
    onRefused: (message, why) =>
      this.#event('frame_refused', `its ${message.type} is refused: ${why}`, message),
  });
  readonly #heartbeats: Heartbeats;
  readonly #refusedFrames = new RefusedFrames();
  readonly #introduction: Introduction;
  readonly #failures = new Failures();
  /** Undefined: the next `hello` begins a new session. */
  #sessionId: string | undefined;
  #connection: Dialled | null = null;
  /** Of the current connection, once the master has answered `hello`. */
  #welcome: WelcomeFrame | null = null;
  /** A heartbeat was answered on the current connection. */
  #isHealthy = false;
  #helloSentAt = 0;
  #term = 0;
  #isDraining = false;
  #isLeaving = false;
  #callOffLeave: () => void = () => undefined;

  constructor(options: SessionClientOptions) {
    this.#options = options;
    this.#introduction = new Introduction(options.settings, options.predecessors);
    this.#heartbeats = new Heartbeats({
      clock: options.clock,
      onDue: () => this.#guard.noticeLostLease(),
      status: () => this.#status(),
      send: (text) => this.#connection?.send(text),
      ping: () => options.tell({ type: 'ping' }),
      onSilence: () => this.#connection?.giveUp('a heartbeat was not answered'),
    });
    this.#guard = new AttemptGuard({
      clock: options.clock,
      killGroups: options.killGroups,
      endProcess: (why) => {
        const { held } = this.#guard;
        const fenced =
          held?.state === 'fenced' ? { task_id: held.taskId, attempt: held.attempt } : null;
        options.endProcess(why, fenced);
      },
      abort: (key, reason) => options.tell({ type: 'abort', ...key, reason }),
      onLeaseLost: (key, hasAccepted) => {
        if (hasAccepted) this.#introduction.addFenced(key);
        // The master may still take this attempt for running; a new session begins without it.
        this.#sessionId = undefined;
        this.#connection?.giveUp(`the lease of ${nameOf(key)} is over`);
      },
    });
  }

  /** Keeps the session up until it has left or was refused for good. */
  async run(): Promise<void> {
    let refusal: string | null = null;
    try {
      await keepConnecting(() => this.#connect(), {
        clock: this.#options.clock,
        random: this.#options.random,
        signal: this.#over.signal,
        waitMsMax: () =>
          this.#isAwaited ? this.#guard.lease.reconnectWaitMsMax : RECONNECT_WAIT_MS_MAX,
        onFailure: (ended) => this.#failed(ended),
      });
    } catch (error) {
      if (!(error instanceof ExecutorRefused)) throw error;
      refusal = error.message;
    }
    this.#callOffLeave();
    this.#guard.fence();
    await this.#guard.noneFenced();
    this.#options.tell({ type: 'ended', refusal });
  }

  /** A message of the handlers' thread. */
  take(message: Exclude<ToSession, { type: 'group' }>): void {
    this.#guard.noticeLostLease();
    switch (message.type) {
      case 'pong':
        return this.#heartbeats.pong();
      case 'drain':
        this.#isDraining = true;
        return this.#heartbeats.beat();
      case 'leave':
        this.#isLeaving = true;
        this.#callOffLeave = this.#options.clock.wakeAt(
          this.#options.clock.now() + LEAVE_TIMEOUT_MS,
          () => this.#leave(),
        );
        return this.#leaveOnceAcknowledged();
      case 'accept':
        if (this.#guard.accept(message)) return this.#outbox.send(this.#stamped(message));
        return this.#options.tell({ ...keyOf(message), type: 'abort', reason: 'stale_attempt' });
      case 'reject':
      case 'result':
        return this.#end(message);
      case 'progress':
      case 'checkpoint':
        if (this.#guard.held?.state !== 'running') return;
        this.#guard.progressed();
        return this.#outbox.report(this.#stamped(message));
    }
  }

  /** Resolves when the connection is gone. */
  async #connect(): Promise<Ended> {
    await this.#guard.noneFenced();
    if (this.#over.signal.aborted) return NEVER_DIALLED;
    const { url, token } = this.#options.settings;
    return new Promise<Ended>((resolve) => {
      this.#connection = this.#options.dial({
        url,
        token,
        handshakeTimeoutMs: this.#isAwaited
          ? this.#guard.lease.handshakeMsMax
          : HANDSHAKE_TIMEOUT_MS,
        onOpen: () => this.#sayHello(),
        onText: (text) => this.#receive(text),
        onClosed: (closed) => {
          const wasHealthy = this.#isHealthy;
          this.#heartbeats.stop();
          this.#connection = null;
          this.#welcome = null;
          this.#isHealthy = false;
          resolve({ ...closed, wasHealthy });
        },
      });
    });
  }

  /** With a task to keep or a result to bring there is only the lease to find the master again. */
  get #isAwaited(): boolean {
    return this.#guard.held !== null || this.#running().length > 0;
  }

  #sayHello(): void {
    this.#guard.noticeLostLease();
    this.#helloSentAt = this.#options.clock.now();
    const hello = this.#introduction.hello({
      ...(this.#sessionId !== undefined && { session: this.#sessionId }),
      received: this.#sessionId === undefined ? 0 : this.#outbox.session.received,
      running: this.#running(),
    });
    this.#connection?.send(JSON.stringify(hello));
  }

  #receive(text: string): void {
    this.#guard.noticeLostLease();
    const decoded = decodeFrame(masterFrame, text);
    if ('problem' in decoded) return this.#close(CloseCode.badFrame, decoded.problem);
    const { frame } = decoded;
    if (this.#welcome === null) {
      if (frame.type === 'welcome') return this.#begin(frame);
      return this.#close(CloseCode.badFrame, `expected welcome, not ${frame.type}`);
    }
    switch (frame.type) {
      case 'welcome':
        return this.#close(CloseCode.badFrame, 'a second welcome');
      case 'heartbeat': {
        this.#isHealthy = true;
        this.#heartbeats.answered();
        // Never from a time to come.
        const sentAt = Math.min(frame.n, this.#options.clock.now());
        this.#guard.renewLease(sentAt, this.#welcome.lease_ms);
        return this.#acknowledged(frame.ack);
      }
      case 'ack':
        return this.#acknowledged(frame.ack);
      default:
        return this.#deliver(frame, text, this.#welcome);
    }
  }

  #begin(welcome: WelcomeFrame): void {
    if (welcome.term < this.#term) {
      return this.#close(CloseCode.staleTerm, `term ${welcome.term} is below ${this.#term}`);
    }
    this.#term = welcome.term;
    if (welcome.resumed && welcome.session !== this.#sessionId) {
      return this.#close(CloseCode.badFrame, 'resumed another session than asked for');
    }
    const resend = welcome.resumed ? this.#outbox.session.resume(welcome.received) : [];
    if (resend === null) {
      this.#sessionId = undefined;
      return this.#close(CloseCode.gap, `received ${welcome.received} was never sent`);
    }
    const next = welcome.resumed ? resend[0]?.message : this.#outbox.session.unacked()[0];
    if (this.#refusedFrames.isRefusedAgain(next ?? null) && welcome.resumed) {
      return this.#close(CloseCode.frameRefused, 'what comes next is refused each time');
    }
    this.#welcome = welcome;
    this.#failures.reached();
    this.#connection?.established();
    this.#introduction.answered();
    this.#guard.renewLease(this.#helloSentAt, welcome.lease_ms);
    this.#outbox.limitFrames(welcome.limits.frame_bytes);
    for (const { seq, message } of resend) this.#write(seq, message);
    if (!welcome.resumed) this.#beginSession(welcome.session);
    this.#heartbeats.start(welcome);
    const session = `${welcome.resumed ? 'resumed' : 'new'} session, term ${welcome.term}`;
    this.#event('connected', `connected to the master (${session})`);
  }

  #beginSession(sessionId: string): void {
    this.#sessionId = sessionId;
    this.#guard.dropOffer();
    const refused = this.#refusedFrames.takeFound();
    this.#outbox.moveToNewSession((key) => this.#guard.holds(key), refused);
    // Its result says so already; the handler has not begun.
    if (refused?.message.type !== 'accept' || !this.#guard.release(refused.message)) return;
    this.#options.tell({ type: 'abort', ...keyOf(refused.message), reason: 'stale_attempt' });
  }

  #deliver(frame: NumberedFrame, text: string, welcome: WelcomeFrame): void {
    switch (this.#outbox.session.receive(frame.seq, frame.ack)) {
      case 'duplicate':
        return;
      case 'gap':
        return this.#close(CloseCode.gap, `expected ${this.#outbox.session.received + 1}`);
      case 'overflow':
        return this.#close(CloseCode.overflow, 'too many frames without an ack');
      case 'invalid':
        return this.#close(CloseCode.badFrame, 'ack: beyond what was sent');
      case 'deliver':
        // It is in memory, and so is all that depends on it: nothing more durable would help.
        this.#outbox.session.confirm(frame.seq);
    }
    if (frame.type === 'assign') this.#offer(frame.task, text, welcome);
    else if (frame.type === 'cancel') {
      const key = { taskId: frame.task_id, attempt: frame.attempt };
      this.#guard.abort(key, frame.reason, frame.grace_ms);
    } else if (frame.draining) this.#event('draining', 'the master sends no new task for now');
    // After the frame itself: it may call off the very attempt whose acceptance it acknowledges.
    this.#beginOnceAcknowledged();
    this.#outbox.sendReports();
  }

  /** Until then another executor may have the task: the answer may have come too late. */
  #beginOnceAcknowledged(): void {
    const { held } = this.#guard;
    if (held?.state !== 'accepted' || this.#outbox.unacked('accept').length > 0) return;
    this.#guard.begin();
    this.#options.tell({ type: 'begin', ...keyOf(held) });
  }

  #offer(task: AssignedTask, text: string, { limits, features }: WelcomeFrame): void {
    const key = { taskId: task.id, attempt: task.attempt };
    const { mac } = task;
    const refusal = this.#refusal(task.type);
    if (refusal !== null) {
      const body = rejectBody(key, refusal);
      return this.#outbox.send(stamped({ type: 'reject', ...key, body }, mac));
    }
    // An older master would not understand how such an attempt ended; it sees to it by itself.
    const reportsTimeouts = features.includes('timeouts');
    this.#guard.hold({ ...key, mac, limits: timeLimits(reportsTimeouts ? task : {}) });
    this.#options.tell({ type: 'assigned', ...offeredTask(task, text), limits, reportsTimeouts });
  }

  #refusal(type: string): Refusal | null {
    if (!this.#options.settings.types.includes(type)) return { code: 405, message: 'no handler' };
    if (this.#isDraining) return { code: 406, message: 'draining' };
    if (this.#guard.held !== null) return { code: 406, message: 'busy' };
    return this.#guard.hasLease ? null : { code: 406, message: 'no lease' };
  }

  /** The attempt is over, or was never begun. */
  #end(message: Outgoing): void {
    const known = this.#stamped(message);
    if (this.#guard.release(message)) return this.#outbox.conclude(known);
    // The offer was taken back before it was answered: nobody waits for that.
    if (message.type === 'reject') return;
    this.#outbox.dropReports();
    this.#event('result_dropped', 'the lease was lost before it ended', message);
  }

  /** With what is known of the attempt, if it is the one that is held. */
  #stamped(message: Outgoing): Outgoing {
    const { held } = this.#guard;
    if (held === null || !this.#guard.holds(message)) return message;
    return stamped(message, held.mac, held.runTime?.ranMs);
  }

  /** Without a connection the frame waits in the session, which sends it on resuming. */
  #write(seq: number, message: Outgoing): void {
    if (this.#welcome === null) return;
    this.#connection?.send(encodeFrame(seq, this.#outbox.session.announceAck(), message.body));
  }

  #status() {
    const busy = this.#guard.held === null ? ('idle' as const) : ('busy' as const);
    return {
      ack: this.#outbox.session.announceAck(),
      state: this.#isDraining ? ('draining' as const) : busy,
      running: this.#running(),
    };
  }

  #running(): RunningAttempt[] {
    const { held } = this.#guard;
    const finished = this.#outbox.unacked('result');
    return [
      ...(held?.state === 'accepted' || held?.state === 'running'
        ? [runningAttempt({ ...held, ranMs: held.runTime?.ranMs }, 'running')]
        : []),
      ...finished.map((message) => runningAttempt(message, 'finished')),
    ];
  }

  #acknowledged(ack: number): void {
    if (!this.#outbox.session.acknowledged(ack)) {
      return this.#close(CloseCode.badFrame, 'ack: beyond what was sent');
    }
    this.#beginOnceAcknowledged();
    this.#outbox.sendReports();
    this.#leaveOnceAcknowledged();
  }

  #leaveOnceAcknowledged(): void {
    if (this.#isLeaving && this.#outbox.unacked('result').length === 0) this.#leave();
  }

  #leave(): void {
    this.#over.abort();
    this.#close(CloseCode.leaving, 'leaving');
  }

  #close(code: CloseCode, reason: string): void {
    this.#connection?.close(code, reason);
  }

  #failed(ended: Ended): void {
    this.#refusedFrames.ended(ended, this.#outbox.session.unacked());
    // The master has ended the session, whatever this side knows of the frame.
    if (ended.code === CloseCode.frameRefused) this.#sessionId = undefined;
    const event = this.#failures.describe(ended, this.#options.settings.executorId);
    if (event !== null) this.#options.tell({ type: 'event', event });
  }

  #event(type: EventDraft['type'], message: string, key?: AttemptKey): void {
    const about = key && { message: `${nameOf(key)}: ${message}`, ...keyOf(key) };
    this.#options.tell({ type: 'event', event: { type, message, ...about } });
  }
}
