/**
 * An executor process on virtual time. It follows the rules of the SDK (`session-client.ts` and
 * `attempt-guard.ts`, which are bound to sockets and timers of the platform) with the same
 * `Session`, the same `Lease` and the same schemas. What its handlers do stands in `handler.ts`.
 */
import { echoMs, Lease } from '../../../executor-sdk/session/lease.ts';
import {
  type AssignedTask,
  type CancelReason,
  CloseCode,
  decodeFrame,
  encodeFrame,
  type ExecutorMessage,
  type SentHello,
  isFinalClose,
  type MasterFrame,
  masterFrame,
  type RunningAttempt,
  Session,
  type WelcomeFrame,
} from '@soda-scheduler/protocol';
import type { ExecutorKind, ExecutorOptions } from './executor-kind.ts';
import { drawPlan, Handler, type Held } from './handler.ts';
import { nameOf } from '../link.ts';
import type { Socket } from '../network.ts';
import type { Process } from '../world.ts';

export class SimExecutor {
  readonly kind: ExecutorKind;
  readonly process: Process;
  readonly #options: ExecutorOptions;
  readonly #lease = new Lease();
  #session = new Session<ExecutorMessage>();
  #sessionId: string | undefined;
  #socket: Socket | null = null;
  #welcome: WelcomeFrame | null = null;
  #isHealthy = false;
  #failureCount = 0;
  #helloSentAt = 0;
  #term = 0;
  #held: Held | null = null;
  readonly #macs = new Map<string, string>();
  #isDraining = false;
  #isLeaving = false;
  #stopBeat: () => void = () => undefined;
  #stopEcho: (() => void) | null = null;
  #stopLease: () => void = () => undefined;
  #stopGrace: () => void = () => undefined;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.kind = options.kind;
    this.process = options.process;
  }

  get held(): Readonly<Held> | null {
    return this.#held;
  }

  start(): void {
    this.#connect();
    if (this.kind.isRestless) this.#breakLater();
  }

  #breakLater(): void {
    this.process.after(this.process.world.random.between(200, 4_000), () => {
      this.#socket?.terminate();
      this.#breakLater();
    });
  }

  /** Takes nothing new, ends what it runs, and leaves for good. */
  leave(): void {
    this.process.world.log(`${this.process.name} drains to leave`);
    this.#isDraining = true;
    this.#isLeaving = true;
    this.#beat();
    this.#leaveOnceDone();
  }

  /** Ends at once, as by SIGKILL; the processes of its handler with it. */
  kill(why: string): void {
    this.#held?.handler.kill(why);
    this.process.kill();
    this.#options.network.endAll(this.process);
    this.#options.onEnd();
  }

  accept(held: Held): boolean {
    this.#noticeLostLease();
    if (this.#held !== held || held.state !== 'offered') return false;
    held.state = 'accepted';
    this.#send({ type: 'accept', task_id: held.taskId, attempt: held.attempt });
    return true;
  }

  progress(held: Held, news: { percent?: number; checkpoint?: unknown }): void {
    this.#noticeLostLease();
    if (this.#held !== held || held.state !== 'running') return;
    this.#send({ type: 'progress', task_id: held.taskId, attempt: held.attempt, ...news });
  }

  /** The handler is done, by a result or a rejection. */
  end(held: Held, message: Extract<ExecutorMessage, { type: 'result' | 'reject' }>): void {
    this.#noticeLostLease();
    if (this.#held !== held) return;
    const counts = held.state !== 'fenced';
    this.#held = null;
    this.#stopGrace();
    this.#stopLease();
    if (counts) this.#send(message);
    else this.#connect();
    this.#leaveOnceDone();
  }

  get #isAwaited(): boolean {
    return this.#held !== null || this.#running().length > 0;
  }

  #connect(): void {
    // An attempt whose lease was lost must end before anything is said to a master.
    if (this.#socket !== null || this.#held?.state === 'fenced' || !this.process.isAlive) return;
    const socket = this.#options.dial(this.process);
    if (socket === null) return this.#reconnectLater();
    this.#socket = socket;
    socket.events = {
      onText: (text) => this.#receive(text),
      onClosed: (code) => this.#closed(socket, code),
    };
    this.process.after(this.#options.network.latencyMs(), () => {
      if (this.#socket === socket) this.#sayHello(socket);
    });
    this.process.after(this.#isAwaited ? this.#lease.handshakeMsMax : 10_000, () => {
      if (this.#socket === socket && this.#welcome === null) socket.terminate();
    });
  }

  #closed(socket: Socket, code: number): void {
    const wasHealthy = this.#isHealthy;
    if (this.#socket !== socket) return;
    this.#stopBeat();
    this.#echoed();
    this.#socket = null;
    this.#welcome = null;
    this.#isHealthy = false;
    this.process.world.log(`${this.process.name} disconnected ${code}`);
    if (isFinalClose(code)) return this.kill('its id connected again');
    if (wasHealthy) this.#failureCount = 0;
    if (wasHealthy && code === CloseCode.reattach) return this.#connect();
    this.#reconnectLater();
  }

  #reconnectLater(): void {
    const capMs = this.#isAwaited ? this.#lease.reconnectWaitMsMax : 30_000;
    const waitMs = Math.min(capMs, 500 * 2 ** Math.min(this.#failureCount, 20));
    this.#failureCount++;
    this.process.after(this.process.world.random.next() * waitMs, () => this.#connect());
  }

  #sayHello(socket: Socket): void {
    this.#noticeLostLease();
    if (this.#socket !== socket) return;
    this.#helloSentAt = this.process.now();
    const { id, types, labels, reserve } = this.kind;
    const hello: SentHello = {
      type: 'hello',
      executor_id: id,
      incarnation: this.#options.incarnation,
      features: this.kind.isOld ? [] : ['mac'],
      types: [...types],
      labels: [...labels],
      reserve: [...reserve],
      slots: 1,
      ...(this.#sessionId !== undefined && { session: this.#sessionId }),
      received: this.#sessionId === undefined || this.kind.isMute ? 0 : this.#session.received,
      running: this.#running(),
    };
    socket.send(JSON.stringify(hello));
  }

  #receive(text: string): void {
    this.#noticeLostLease();
    if (this.#socket === null || !this.#socket.isOpen) return;
    const decoded = decodeFrame(masterFrame, text);
    if ('problem' in decoded) return this.#bad(decoded.problem);
    const { frame } = decoded;
    if (frame.type === 'welcome') return this.#begin(frame);
    if (this.#welcome === null) return this.#bad(`expected welcome, not ${frame.type}`);
    if (frame.type === 'heartbeat') {
      this.#isHealthy = true;
      this.#echoed();
      this.#renewLease(frame.n, this.#welcome.lease_ms);
      return this.#acknowledged(frame.ack);
    }
    if (frame.type === 'ack') return this.#acknowledged(frame.ack);
    this.#deliver(frame);
  }

  #begin(welcome: WelcomeFrame): void {
    if (welcome.term < this.#term) return this.#socket?.close(CloseCode.staleTerm);
    this.#term = welcome.term;
    const resend = welcome.resumed ? this.#session.resume(welcome.received) : [];
    if (resend === null) {
      this.#sessionId = undefined;
      return this.#socket?.close(CloseCode.gap);
    }
    this.#welcome = welcome;
    this.#renewLease(this.#helloSentAt, welcome.lease_ms);
    for (const { seq, message } of resend) this.#write(seq, message);
    if (!welcome.resumed) this.#startSession(welcome.session);
    this.#beat();
    const { name, world } = this.process;
    world.log(`${name} ${welcome.resumed ? 'resumed' : 'began'} ${welcome.session}`);
  }

  #startSession(sessionId: string): void {
    const { taskId, attempt } = this.#held ?? {};
    const kept = this.#session.unacked().filter((message) => {
      if (message.type === 'result') return true;
      const isHeld = message.task_id === taskId && message.attempt === attempt;
      return message.type === 'accept' && isHeld;
    });
    this.#session = new Session();
    this.#sessionId = sessionId;
    if (this.#held?.state === 'offered') {
      this.#held.handler.forget();
      this.#held = null;
      this.#stopLease();
    }
    for (const message of kept) this.#send(message);
  }

  #deliver(frame: Extract<MasterFrame, { seq: number }>): void {
    const receipt = this.#session.receive(frame.seq, frame.ack);
    if (receipt === 'duplicate') return;
    if (receipt !== 'deliver') return this.#bad(receipt);
    this.#session.confirm(frame.seq);
    this.#options.ledger.frames.delivered(`${this.#sessionId} out`, frame.seq, nameOf(frame));
    if (frame.type === 'assign') this.#offer(frame.task);
    else if (frame.type === 'cancel') {
      const { taskId, attempt } = this.#held ?? {};
      if (taskId === frame.task_id && attempt === frame.attempt) {
        this.#abort(frame.reason, frame.grace_ms);
      }
    }
    // After the frame itself: it may call off the very attempt whose acceptance it acknowledges.
    this.#beginOnceAcknowledged();
  }

  /** Until then another executor may have the task: the answer may have come too late. */
  #beginOnceAcknowledged(): void {
    const held = this.#held;
    if (held?.state !== 'accepted') return;
    if (this.#session.unacked().some(({ type }) => type === 'accept')) return;
    held.state = 'running';
    held.handler.run();
  }

  #offer(task: AssignedTask): void {
    const about = { task_id: task.id, attempt: task.attempt };
    const refusal = this.#refusal();
    if (refusal !== null) {
      return this.#send({ type: 'reject', ...about, code: 406, message: refusal });
    }
    const { ledger, faults, longRunChance } = this.#options;
    const { random } = this.process.world;
    const plan = drawPlan(random, faults, longRunChance, this.kind);
    const handler = new Handler(this, ledger, plan);
    if (task.mac !== undefined) this.#macs.set(`${task.id}/${task.attempt}`, task.mac);
    const held: Held = { taskId: task.id, attempt: task.attempt, state: 'offered', handler };
    this.#held = held;
    this.#watchLease();
    handler.begin(held);
  }

  #refusal(): string | null {
    if (this.#isDraining) return 'draining';
    if (this.#held !== null) return 'busy';
    return this.#lease.isLost(this.process.now()) ? 'no lease' : null;
  }

  #abort(reason: CancelReason | 'lease_lost', graceMs: number): void {
    this.#held?.handler.abort(reason);
    if (reason === 'canceled' || reason === 'deadline' || this.kind.isRogue) return;
    this.#stopGrace();
    this.#stopGrace = this.process.after(graceMs, () => {
      this.process.world.log(`${this.process.name}: the attempt did not end (${reason})`);
      this.kill('ended by its guard');
    });
  }

  #renewLease(sentAt: number, leaseMs: number): void {
    this.#lease.renew(sentAt, leaseMs);
    this.#watchLease();
  }

  #watchLease(): void {
    if (this.#held === null) return;
    this.#stopLease();
    this.#stopLease = this.process.after(this.#lease.abortAt - this.process.now(), () =>
      this.#noticeLostLease(),
    );
  }

  /** To be called before anything is sent or believed: the process may have been stopped. */
  #noticeLostLease(): void {
    const held = this.#held;
    if (held === null || held.state === 'fenced' || this.kind.isRogue) return;
    if (!this.#lease.isLost(this.process.now())) return;
    held.state = 'fenced';
    this.#sessionId = undefined;
    this.#socket?.terminate();
    this.process.world.log(`${this.process.name} has lost its lease`);
    const leftMs = this.#lease.exitAt - this.process.now();
    this.#abort('lease_lost', Math.max(leftMs, this.#lease.marginMs / 2));
  }

  #beat(): void {
    this.#stopBeat();
    this.#noticeLostLease();
    if (this.#welcome === null || this.#socket === null) return;
    const { heartbeat_ms: heartbeatMs, lease_ms: leaseMs } = this.#welcome;
    const busy = this.#held === null ? 'idle' : 'busy';
    const heartbeat = {
      type: 'heartbeat',
      n: this.process.now(),
      ack: this.#ack(),
      state: this.#isDraining ? 'draining' : busy,
      running: this.#running(),
    };
    this.#socket.send(JSON.stringify(heartbeat));
    const socket = this.#socket;
    this.#stopEcho ??= this.process.after(echoMs(heartbeatMs, leaseMs), () => socket.terminate());
    this.#stopBeat = this.process.after(heartbeatMs, () => this.#beat());
  }

  #echoed(): void {
    this.#stopEcho?.();
    this.#stopEcho = null;
  }

  #running(): RunningAttempt[] {
    const held = this.#held;
    const running: RunningAttempt[] =
      held?.state === 'accepted' || held?.state === 'running'
        ? [this.#proven({ task_id: held.taskId, attempt: held.attempt, state: 'running' as const })]
        : [];
    for (const message of this.#session.unacked()) {
      if (message.type !== 'result') continue;
      const { task_id, attempt } = message;
      running.push(this.#proven({ task_id, attempt, state: 'finished' }));
    }
    return running;
  }

  /** One that never acknowledges is not known to have heard anything. */
  #ack(): number {
    return this.kind.isMute ? 0 : this.#session.announceAck();
  }

  /** With what came with the offer, where there was such a thing. */
  #proven<T extends { task_id: string; attempt: number }>(about: T): T & { mac?: string } {
    const mac = this.#macs.get(`${about.task_id}/${about.attempt}`);
    return mac === undefined || this.kind.isOld ? about : { ...about, mac };
  }

  #send(unproven: ExecutorMessage): void {
    const message = this.#proven(unproven);
    const frame = this.#session.send(message, 100);
    if (frame === null) return this.kill('the master does not acknowledge');
    this.#options.ledger.frames.sent(`${this.#sessionId} in`, frame.seq, nameOf(message));
    this.#write(frame.seq, message);
  }

  #write(seq: number, message: ExecutorMessage): void {
    if (this.#welcome === null) return;
    this.#socket?.send(encodeFrame(seq, this.#ack(), JSON.stringify(message)));
  }

  #acknowledged(ack: number): void {
    if (!this.#session.acknowledged(ack)) this.#bad('ack: beyond what was sent');
    this.#beginOnceAcknowledged();
    this.#leaveOnceDone();
  }

  #leaveOnceDone(): void {
    const waits = this.#session.unacked().some(({ type }) => type === 'result');
    if (!this.#isLeaving || this.#held !== null || waits || !this.process.isAlive) return;
    this.process.world.log(`${this.process.name} leaves`);
    this.#isLeaving = false;
    this.#socket?.close(CloseCode.leaving);
    this.process.kill();
    this.#options.onEnd();
  }

  #bad(problem: string): void {
    this.process.world.violate('I8', `${this.process.name} got a bad frame: ${problem}`);
    this.#socket?.close(CloseCode.badFrame);
  }
}
