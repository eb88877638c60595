/**
 * The executor's end of a session: dials, resumes, numbers, acknowledges and sends heartbeats.
 * It knows what the master was told and what it has confirmed; it never runs a handler, and sits
 * in a thread that no handler can block. `docs/protocol.md` is what it implements.
 */
import { CloseCode, decodeFrame, encodeFrame, masterFrame } from '@soda-scheduler/protocol';
import type {
  AssignedTask,
  ExecutorFrame,
  SentHello,
  MasterFrame,
  RunningAttempt,
  WelcomeFrame,
} from '@soda-scheduler/protocol';
import { AttemptGuard, keyOf } from './attempt-guard.ts';
import { Connection } from './connection.ts';
import { Outbox } from './outbox.ts';
import type { Outgoing } from './outbox.ts';
import { rejectBody } from '../outcome.ts';
import type { Refusal } from '../outcome.ts';
import { disconnection, keepConnecting } from './reconnect.ts';
import type {
  AttemptKey,
  ExecutorEvent,
  FromSession,
  SessionSettings,
  ToSession,
} from '../thread-messages.ts';

const RECONNECT_WAIT_MS_MAX = 30_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Of the heartbeat interval: how long its answer may take. */
const ECHO_FRACTION = 0.75;
/** How long leaving may wait for results to be acknowledged. */
const LEAVE_TIMEOUT_MS = 10_000;

export interface SessionClientOptions {
  readonly settings: SessionSettings;
  readonly tell: (message: FromSession) => void;
  /** Ends the process at once. */
  readonly endProcess: (why: string) => void;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

export class SessionClient {
  readonly #options: SessionClientOptions;
  readonly #guard: AttemptGuard;
  readonly #over = new AbortController();
  readonly #outbox = new Outbox((seq, message) => this.#write(seq, message));
  /** Undefined: the next `hello` begins a new session. */
  #sessionId: string | undefined;
  #connection: Connection | null = null;
  /** Of the current connection, once the master has answered `hello`. */
  #welcome: WelcomeFrame | null = null;
  /** A heartbeat was answered on the current connection. */
  #isHealthy = false;
  #helloSentAt = 0;
  #heartbeatTimer: NodeJS.Timeout | undefined;
  #echoTimer: NodeJS.Timeout | undefined;
  #term = 0;
  #unreachableTold = false;
  #isDraining = false;
  #isLeaving = false;
  #leaveTimer: NodeJS.Timeout | undefined;
  #pingedAt: number | null = null;
  #loopLagMs = 0;

  constructor(options: SessionClientOptions) {
    this.#options = options;
    this.#guard = new AttemptGuard({
      now: options.now,
      endProcess: options.endProcess,
      abort: (key, reason) => options.tell({ type: 'abort', ...key, reason }),
      onLeaseLost: () => {
        // The master may still take this attempt for running; a new session begins without it.
        this.#sessionId = undefined;
        this.#connection?.terminate();
      },
    });
  }

  /** Keeps the session up until it has left or was refused for good. Never throws. */
  async run(): Promise<void> {
    let refusal: string | null = null;
    try {
      await keepConnecting(() => this.#connect(), {
        signal: this.#over.signal,
        waitMsMax: () => this.#patienceMs(RECONNECT_WAIT_MS_MAX),
        onFailure: (error, wasHealthy) => this.#tellFailure(error, wasHealthy),
      });
    } catch (error) {
      if (!this.#over.signal.aborted) refusal = (error as Error).message;
    }
    clearTimeout(this.#leaveTimer);
    this.#guard.fence();
    await this.#guard.noneFenced();
    this.#options.tell({ type: 'ended', refusal });
  }

  /** A message of the handlers' thread. */
  take(message: ToSession): void {
    this.#guard.noticeLostLease();
    switch (message.type) {
      case 'pong':
        this.#loopLagMs = this.#pingedAt === null ? 0 : this.#options.now() - this.#pingedAt;
        this.#pingedAt = null;
        return;
      case 'drain':
        this.#isDraining = true;
        return this.#beat();
      case 'leave':
        this.#isLeaving = true;
        this.#leaveTimer = setTimeout(() => this.#leave(), LEAVE_TIMEOUT_MS);
        return this.#leaveOnceAcknowledged();
      case 'accept':
        if (this.#guard.accept(message)) return this.#outbox.send(message);
        return this.#options.tell({ ...keyOf(message), type: 'abort', reason: 'stale_attempt' });
      case 'reject':
      case 'result':
        return this.#end(message);
      case 'progress':
      case 'checkpoint':
        if (this.#guard.held?.state !== 'running') return;
        return this.#outbox.report(message);
    }
  }

  /** Settles when the connection is gone; rejects unless that was wanted. */
  async #connect(): Promise<void> {
    await this.#guard.noneFenced();
    const { url, token } = this.#options.settings;
    await new Promise<void>((resolve, reject) => {
      this.#connection = new Connection({
        url,
        token,
        handshakeTimeoutMs: this.#patienceMs(HANDSHAKE_TIMEOUT_MS),
        onOpen: () => this.#sayHello(),
        onText: (text) => this.#receive(text),
        onClosed: (closed) => {
          const wasHealthy = this.#isHealthy;
          clearInterval(this.#heartbeatTimer);
          clearTimeout(this.#echoTimer);
          this.#connection = null;
          this.#welcome = null;
          this.#isHealthy = false;
          if (this.#over.signal.aborted) resolve();
          else reject(disconnection(closed, wasHealthy));
        },
      });
    });
  }

  /** With a task to keep or a result to bring there is only the lease to find the master again. */
  #patienceMs(otherwiseMs: number): number {
    const isAwaited = this.#guard.held !== null || this.#running().length > 0;
    return isAwaited ? this.#guard.graceMs : otherwiseMs;
  }

  #sayHello(): void {
    this.#guard.noticeLostLease();
    const { settings, now } = this.#options;
    this.#helloSentAt = now();
    const hello: SentHello = {
      type: 'hello',
      executor_id: settings.executorId,
      incarnation: settings.incarnation,
      types: [...settings.types],
      labels: [...settings.labels],
      reserve: [...settings.reserve],
      slots: 1,
      ...(this.#sessionId !== undefined && { session: this.#sessionId }),
      received: this.#sessionId === undefined ? 0 : this.#outbox.session.received,
      running: this.#running(),
      sdk: settings.sdk,
      host: settings.host,
      pid: process.pid,
    };
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
      case 'heartbeat':
        this.#isHealthy = true;
        clearTimeout(this.#echoTimer);
        this.#guard.renewLease(Math.min(frame.n, this.#options.now()), this.#welcome.lease_ms);
        return this.#acknowledged(frame.ack);
      case 'ack':
        return this.#acknowledged(frame.ack);
      default:
        return this.#deliver(frame, this.#welcome);
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
    this.#welcome = welcome;
    this.#unreachableTold = false;
    this.#connection?.established();
    this.#guard.renewLease(this.#helloSentAt, welcome.lease_ms);
    for (const { seq, message } of resend) this.#write(seq, message);
    if (!welcome.resumed) {
      this.#sessionId = welcome.session;
      this.#guard.dropOffer();
      this.#outbox.moveToNewSession((key) => this.#guard.holds(key));
    }
    this.#beat();
    this.#heartbeatTimer = setInterval(() => this.#beat(), welcome.heartbeat_ms);
    const how = welcome.resumed ? 'resumed' : 'new';
    this.#event('connected', `connected to the master (${how} session, term ${welcome.term})`);
  }

  #deliver(frame: Extract<MasterFrame, { seq: number }>, welcome: WelcomeFrame): void {
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
    if (frame.type === 'assign') this.#offer(frame.task, welcome);
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
    if (held?.state !== 'accepted') return;
    if (this.#outbox.unacked('accept').length > 0) return;
    this.#guard.begin();
    this.#options.tell({ type: 'begin', ...keyOf(held) });
  }

  #offer(task: AssignedTask, { limits }: WelcomeFrame): void {
    const key = { taskId: task.id, attempt: task.attempt };
    const refusal = this.#refusal(task.type);
    if (refusal === null) {
      this.#guard.hold(key);
      return this.#options.tell({ type: 'assigned', task, limits });
    }
    this.#outbox.send({ type: 'reject', ...key, body: rejectBody(key, refusal) });
  }

  #refusal(type: string): Refusal | null {
    if (!this.#options.settings.types.includes(type)) return { code: 405, message: 'no handler' };
    if (this.#isDraining) return { code: 406, message: 'draining' };
    if (this.#guard.held !== null) return { code: 406, message: 'busy' };
    return this.#guard.hasLease ? null : { code: 406, message: 'no lease' };
  }

  /** The attempt is over, or was never begun. */
  #end(message: Outgoing): void {
    if (this.#guard.release(message)) {
      return this.#outbox.conclude(message);
    }
    // The offer was taken back before it was answered: nobody waits for that.
    if (message.type === 'reject') return;
    this.#outbox.dropReports();
    this.#event('result_dropped', 'the lease was lost before the attempt ended', message);
  }

  /** Without a connection the frame waits in the session, which sends it on resuming. */
  #write(seq: number, message: Outgoing): void {
    if (this.#welcome === null) return;
    this.#connection?.send(encodeFrame(seq, this.#outbox.session.announceAck(), message.body));
  }

  /** The number of a heartbeat is the time it was sent: its echo renews the lease from then. */
  #beat(): void {
    this.#guard.noticeLostLease();
    if (this.#welcome === null) return;
    const now = this.#options.now();
    const { held } = this.#guard;
    const lagMs = this.#pingedAt === null ? this.#loopLagMs : now - this.#pingedAt;
    const busy = held === null ? 'idle' : 'busy';
    const heartbeat: ExecutorFrame = {
      type: 'heartbeat',
      n: Math.floor(now),
      ack: this.#outbox.session.announceAck(),
      state: this.#isDraining ? 'draining' : busy,
      running: this.#running(),
      loop_lag_ms: Math.round(lagMs),
      rss_bytes: process.memoryUsage.rss(),
    };
    this.#connection?.send(JSON.stringify(heartbeat));
    // A dead connection must be noticed with enough of the lease left to make another.
    clearTimeout(this.#echoTimer);
    this.#echoTimer = setTimeout(
      () => this.#connection?.terminate(),
      this.#welcome.heartbeat_ms * ECHO_FRACTION,
    );
    if (this.#pingedAt === null) {
      this.#pingedAt = now;
      this.#options.tell({ type: 'ping' });
    }
  }

  #running(): RunningAttempt[] {
    const { held } = this.#guard;
    const finished = this.#outbox.unacked('result');
    return [
      ...(held?.state === 'accepted' || held?.state === 'running'
        ? [runningAttempt(held, 'running')]
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

  #tellFailure(error: Error, wasHealthy: boolean): void {
    if (wasHealthy) this.#event('disconnected', `disconnected from the master: ${error.message}`);
    else if (!this.#unreachableTold) {
      this.#unreachableTold = true;
      this.#event('unreachable', `cannot reach the master, trying on: ${error.message}`);
    }
  }

  #event(type: ExecutorEvent['type'], message: string, key?: AttemptKey): void {
    const about = key === undefined ? {} : keyOf(key);
    this.#options.tell({ type: 'event', event: { type, message, ...about } });
  }
}

function runningAttempt(key: AttemptKey, state: RunningAttempt['state']): RunningAttempt {
  return { task_id: key.taskId, attempt: key.attempt, state };
}
