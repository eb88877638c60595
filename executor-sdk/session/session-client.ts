/**
 * The executor's end of a session: dials, resumes, numbers, acknowledges and leaves.
 * It knows what the master was told and what it has confirmed; it never runs a handler, and sits
 * in a thread that no handler can block. `docs/protocol.md` is what it implements.
 *
 * It runs over the ports `Clock` and `Dial`: nothing in it, or in what it is made of, has a timer
 * or a socket of its own, so that the simulation of the whole runs this very code.
 */
import { CloseCode, encodeFrame } from '@soda-scheduler/protocol';
import { decodeFrame, masterFrame } from '@soda-scheduler/protocol/messages';
import type { NumberedFrame, Readiness, WelcomeFrame } from '@soda-scheduler/protocol';
import { ExecutorRefused } from '../errors.ts';
import type { EventDraft } from '../events.ts';
import { AttemptGuard, type AttemptGuardOptions } from './attempt-guard.ts';
import { Attempts } from './attempts.ts';
import type { Clock } from './clock.ts';
import type { Closed, Dial, Dialled } from './dial.ts';
import { type Fenced, Handshake, type Predecessors } from './handshake.ts';
import { Heartbeats } from './heartbeats.ts';
import { LogSpool } from '../log/log-spool.ts';
import { Outbox, type Outgoing } from './outbox.ts';
import { type Ended, Failures, NEVER_DIALLED, keepConnecting } from './reconnect.ts';
import type { AttemptKey, FromSession, SessionSettings, ToSession } from '../thread-messages.ts';
import { bookingOf, keyOf, nameOf } from '../thread-messages.ts';

/** With nothing to lose: it is back within that of the master, and 10,000 of these are 2,000 a second. */
const RECONNECT_WAIT_MS_MAX = 5_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** How long leaving may wait for results to be acknowledged. */
const LEAVE_TIMEOUT_MS = 10_000;

export interface SessionClientOptions {
  readonly settings: SessionSettings;
  readonly tell: (message: FromSession) => void;
  /** Ends the process at once. `fenced`: the attempt under it, if that has lost its lease. */
  readonly endProcess: (why: string, fenced: Fenced | null) => void;
  /** What handlers have started. */
  readonly groups: AttemptGuardOptions['groups'];
  readonly clock: Clock;
  readonly dial: Dial;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly predecessors: Predecessors;
  /** What this process holds of memory. */
  readonly rssBytes: () => number;
  /** Of its host since it was asked last, 0 to 100; undefined: not known. */
  readonly cpuPercent?: () => number | undefined;
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
  readonly #handshake: Handshake;
  readonly #heartbeats: Heartbeats;
  readonly #attempts: Attempts;
  readonly #logs: LogSpool;
  readonly #failures = new Failures();
  #connection: Dialled | null = null;
  /** Of the current connection, once the master has answered `hello`. */
  #welcome: WelcomeFrame | null = null;
  /** A heartbeat was answered on the current connection. */
  #isHealthy = false;
  #isLeaving = false;
  #ready: Readiness | undefined;
  #callOffHandshake: () => void = () => undefined;
  #callOffLeave: () => void = () => undefined;

  constructor(options: SessionClientOptions) {
    const { settings, predecessors, clock, tell } = options;
    this.#options = options;
    this.#ready = settings.ready;
    this.#handshake = new Handshake({ settings, predecessors, clock, outbox: this.#outbox });
    this.#heartbeats = new Heartbeats({
      clock,
      onDue: () => this.#guard.noticeLostLease(),
      status: () => this.#status(),
      send: (text) => this.#connection?.send(text),
      ping: () => tell({ type: 'ping' }),
      onSilence: () => this.#connection?.giveUp('a heartbeat was not answered'),
    });
    this.#guard = new AttemptGuard({
      clock,
      groups: options.groups,
      endProcess: (why) => {
        const { held } = this.#guard;
        const fenced =
          held?.state === 'fenced' ? { task_id: held.taskId, attempt: held.attempt } : null;
        options.endProcess(why, fenced);
      },
      abort: (key, reason) => tell({ type: 'abort', ...key, reason }),
      onLeaseLost: (key, hasAccepted) => {
        if (hasAccepted) this.#handshake.addFenced(key);
        // The master may still take this attempt for running; a new session begins without it.
        this.#handshake.forgetSession();
        this.#connection?.giveUp(`the lease of ${nameOf(key)} is over`);
      },
    });
    this.#logs = new LogSpool({
      clock,
      connection: () => (this.#welcome === null ? null : this.#connection),
      onEmpty: () => this.#leaveOnceAcknowledged(),
    });
    this.#attempts = new Attempts({
      types: settings.types,
      guard: this.#guard,
      outbox: this.#outbox,
      logs: this.#logs,
      tell,
      event: (type, message, key) => this.#event(type, message, key),
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
    this.#logs.stop();
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
      case 'log':
        if (this.#guard.holds(message))
          this.#logs.add(message, this.#guard.held?.mac, message.lines);
        return;
      case 'ready':
        this.#ready = message.ready;
        return this.#heartbeats.beat();
      case 'drain':
        this.#attempts.drain();
        return this.#heartbeats.beat();
      case 'leave':
        this.#isLeaving = true;
        this.#callOffLeave = this.#options.clock.wakeAt(
          this.#options.clock.now() + LEAVE_TIMEOUT_MS,
          () => this.#leave(),
        );
        return this.#leaveOnceAcknowledged();
      default:
        return this.#attempts.report(message);
    }
  }

  /** Resolves when the connection is gone. */
  async #connect(): Promise<Ended> {
    await this.#guard.noneFenced();
    if (this.#over.signal.aborted) return NEVER_DIALLED;
    const { clock, dial, settings } = this.#options;
    const timeoutMs = this.#isAwaited ? this.#guard.lease.handshakeMsMax : HANDSHAKE_TIMEOUT_MS;
    return new Promise<Ended>((resolve) => {
      this.#connection = dial({
        url: settings.url,
        token: settings.token,
        ca: settings.ca,
        onOpen: () => this.#sayHello(),
        onText: (text) => this.#receive(text),
        onClosed: (closed) => resolve(this.#closed(closed)),
      });
      this.#callOffHandshake = clock.wakeAt(clock.now() + timeoutMs, () =>
        this.#connection?.giveUp('the master did not answer in time'),
      );
    });
  }

  #closed(closed: Closed): Ended {
    const wasHealthy = this.#isHealthy;
    this.#callOffHandshake();
    this.#heartbeats.stop();
    this.#connection = null;
    this.#welcome = null;
    this.#isHealthy = false;
    return { ...closed, wasHealthy };
  }

  /** With a task to keep or a result to bring there is only the lease to find the master again. */
  get #isAwaited(): boolean {
    return this.#guard.held !== null || this.#attempts.running().length > 0;
  }

  #sayHello(): void {
    this.#guard.noticeLostLease();
    const hello = this.#handshake.hello(this.#attempts.running(), this.#ready);
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
    const verdict = this.#handshake.judge(welcome);
    if (!verdict.isAccepted) return this.#close(verdict.code, verdict.reason);
    this.#welcome = welcome;
    this.#failures.reached();
    this.#callOffHandshake();
    this.#guard.renewLease(verdict.helloSentAt, welcome.lease_ms);
    this.#outbox.follow(welcome);
    for (const { seq, message } of verdict.resend) this.#write(seq, message);
    if (!welcome.resumed) this.#attempts.moveToNewSession(this.#handshake.takeRefused());
    this.#heartbeats.start(welcome);
    this.#logs.connected(welcome.features.includes('log'));
    const session = `${welcome.resumed ? 'resumed' : 'new'} session, term ${welcome.term}`;
    this.#event('connected', `connected to the master (${session})`);
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
    if (frame.type === 'assign') this.#attempts.offer(frame.task, text, welcome);
    else if (frame.type === 'cancel') {
      const key = { taskId: frame.task_id, attempt: frame.attempt };
      this.#guard.abort(key, frame.reason, frame.grace_ms);
    } else if (frame.type === 'booking') this.#booked(frame, text);
    else if (frame.draining) this.#event('draining', 'the master sends no new task for now');
    // After the frame itself: it may call off the very attempt whose acceptance it acknowledges.
    this.#attempts.beginOnceAcknowledged();
    this.#outbox.sendReports();
  }

  #booked({ booking }: Extract<NumberedFrame, { type: 'booking' }>, text: string): void {
    this.#handshake.bookedBy(booking?.id);
    this.#options.tell({ type: 'booked', booking: booking && bookingOf(booking, text) });
    // Acknowledges it at once: it may be large, and others of its kind follow.
    this.#heartbeats.beat();
  }

  /** Without a connection the frame waits in the session, which sends it on resuming. */
  #write(seq: number, message: Outgoing): void {
    if (this.#welcome === null) return;
    this.#connection?.send(encodeFrame(seq, this.#outbox.session.announceAck(), message.body));
  }

  #status() {
    const busy = this.#guard.held === null ? ('idle' as const) : ('busy' as const);
    const cpuPercent = this.#options.cpuPercent?.();
    return {
      ack: this.#outbox.session.announceAck(),
      state: this.#attempts.isDraining ? ('draining' as const) : busy,
      running: this.#attempts.running(),
      ...(this.#ready && { ready: this.#ready }),
      rss_bytes: this.#options.rssBytes(),
      ...(cpuPercent !== undefined && { cpu_percent: cpuPercent }),
    };
  }

  #acknowledged(ack: number): void {
    if (!this.#outbox.session.acknowledged(ack)) {
      return this.#close(CloseCode.badFrame, 'ack: beyond what was sent');
    }
    this.#attempts.beginOnceAcknowledged();
    this.#outbox.sendReports();
    this.#leaveOnceAcknowledged();
  }

  #leaveOnceAcknowledged(): void {
    const isAllSaid = this.#outbox.unacked('result').length === 0 && this.#logs.isEmpty;
    if (this.#isLeaving && isAllSaid) this.#leave();
  }

  #leave(): void {
    this.#over.abort();
    this.#close(CloseCode.leaving, 'leaving');
  }

  #close(code: CloseCode, reason: string): void {
    this.#connection?.close(code, reason);
  }

  #failed(ended: Ended): void {
    this.#handshake.ended(ended);
    const event = this.#failures.describe(ended, this.#options.settings.executorId);
    if (event !== null) this.#options.tell({ type: 'event', event });
  }

  #event(type: EventDraft['type'], message: string, key?: AttemptKey): void {
    const about = key && { message: `${nameOf(key)}: ${message}`, ...keyOf(key) };
    this.#options.tell({ type: 'event', event: { type, message, ...about } });
  }
}
