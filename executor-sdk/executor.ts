/**
 * The handlers' side of an executor: runs one task at a time on this thread, while the session
 * lives in a worker thread (`process/open-session.ts`) whose heartbeats no handler can hold up. It
 * says how attempts end; whether and when that is sent is the session's business.
 */
import type { MessagePort } from 'node:worker_threads';
import { beginSpan, type ExecutorMessage } from '@soda-scheduler/protocol';
import { ChildGroups } from './children/child-groups.ts';
import { ExecutorRefused, TaskAborted } from './errors.ts';
import type { AbortReason } from './errors.ts';
import { checkHandler, checkOptions, namespaceIn, sessionSettings } from './executor-options.ts';
import type { ExecutorOptions } from './executor-options.ts';
import { eventOf, logFormat, print, thrownIn } from './events.ts';
import type { EventDraft, ExecutorEvent, LogFormat } from './events.ts';
import { headlineOf } from './failure.ts';
import { outcomeOf, rejectBody } from './outcome.ts';
import type { HandlerEnd, Refusal } from './outcome.ts';
import { openSession } from './process/open-session.ts';
import { type Prepare, Preparations } from './preparation.ts';
import { ReadinessCheck } from './readiness.ts';
import { monotonicClock } from './session/clock.ts';
import { logEnd } from './log/end-line.ts';
import { AttemptLog } from './log/task-log.ts';
import { AlertReport } from './reports/alert-report.ts';
import { EventReport } from './reports/event-report.ts';
import { failureIn, traceOf } from './reports/failure-event.ts';
import { alertPace, eventPace } from './reports/pace.ts';
import { ProgressReport } from './reports/progress-report.ts';
import { type GoesBySignals, goBySignals, hasStopped } from './process/signals.ts';
import { fencingToken, taskOf } from './task-context.ts';
import type { Handler, Progress, Task } from './task-context.ts';
import {
  type AttemptKey,
  type FromSession,
  keyOf,
  nameOf,
  type ToSession,
} from './thread-messages.ts';

const DRAIN_TIMEOUT_MS = 10_000;
/** How long an aborted handler may keep a process alive that was told to stop. */
const ABORT_GRACE_MS = 10_000;

type Offered = Extract<FromSession, { type: 'assigned' }>;

interface RunningAttempt extends AttemptKey {
  readonly abort: AbortController;
  /** Lets the handler begin. */
  readonly begin: () => void;
  readonly ended: Promise<void>;
}

export interface HandlerOptions<Params = unknown> {
  /** Called when a booking of tasks of this type has this executor, before its window. */
  readonly prepare?: Prepare<Params>;
}

/** Made by `createExecutor`. */
export class Executor {
  readonly #options: ExecutorOptions;
  readonly #namespace: string;
  readonly #logFormat: LogFormat;
  readonly #handlers = new Map<string, Handler>();
  readonly #paces = { event: eventPace(), alert: alertPace() };
  readonly #preparations = new Preparations({
    tell: (event) => this.#event(event),
    onBound: (isBound) => this.#readiness?.bind(isBound),
    onFailure: () => this.checkReady(),
  });
  readonly #bySignals: GoesBySignals;
  #session: MessagePort | null = null;
  #readiness: ReadinessCheck | null = null;
  #executorId = '';
  #running: RunningAttempt | null = null;
  #isStopping = false;
  #stopped: Promise<void> = Promise.resolve();
  #connected: () => void = () => undefined;

  /** @throws {TypeError} an option is wrong, or there is no such option. */
  constructor(options: ExecutorOptions) {
    checkOptions(options);
    this.#options = options;
    this.#namespace = namespaceIn(options);
    this.#logFormat = logFormat(process.env);
    const stopTimeoutMs = this.#drainTimeoutMs + 2 * ABORT_GRACE_MS;
    this.#bySignals = { stopTimeoutMs, stop: (signal) => this.#stopBy(signal) };
  }

  /**
   * Names the handler of a task type: one handler a type, and all of them before `start`.
   * @throws {TypeError} this is none, there is one already, or the executor has been started.
   */
  handle<Params = unknown>(
    type: string,
    handler: Handler<Params>,
    options: HandlerOptions<Params> = {},
  ): this {
    if (this.#session !== null) throw new TypeError('handle() comes before start().');
    checkHandler(type, handler, options);
    if (this.#handlers.has(type)) throw new TypeError(`There is a handler for ${type} already.`);
    this.#handlers.set(type, handler as Handler);
    this.#preparations.add(type, options.prepare as Prepare | undefined);
    return this;
  }

  /**
   * Connects, and takes tasks from then on. Resolves once the master has answered for the first
   * time, and keeps trying until it does. Once only.
   * @throws {TypeError} there is no handler, or there are too many.
   * @throws {ExecutorRefused} the master refuses this executor, for example because of its token.
   */
  async start(): Promise<void> {
    if (this.#session !== null) throw new TypeError('An executor starts once.');
    const { isAny: prepares } = this.#preparations;
    const settings = sessionSettings(this.#options, [...this.#handlers.keys()], prepares);
    this.#executorId = settings.executorId;
    const session = openSession(settings);
    this.#session = session;
    this.#watchReadiness();
    const connected = new Promise<void>((resolve) => {
      this.#connected = resolve;
    });
    this.#stopped = new Promise((resolve, reject) => {
      let refusal: string | null | undefined;
      session.on('message', (message: FromSession) => {
        if (message.type === 'ended') refusal = message.refusal;
        else this.#take(message);
      });
      session.once('close', () => {
        // Its thread has died, and this process is about to.
        if (refusal === undefined) return;
        this.#ended(refusal);
        if (refusal === null) resolve();
        else reject(new ExecutorRefused(refusal));
      });
    });
    // Who neither waits in `start` nor calls `stop` learns of a refusal by the event.
    this.#stopped.catch(() => undefined);
    if (this.#handlesSignals) goBySignals(this.#bySignals);
    await Promise.race([connected, this.#stopped]);
  }

  /** Has `ready` asked and `scratchDir` looked at anew, at once or a second after the last time. */
  checkReady(): void {
    this.#readiness?.checkSoon();
  }

  /**
   * Takes no new task, lets a running one go on for `drainTimeoutMs`, then aborts it with reason
   * `drain`, which gives it back at no cost. Resolves when the handler has ended, its result is
   * acknowledged (or the master was out of reach for 10 s) and the session is closed.
   * @throws {ExecutorRefused} the session had ended before, by a refusal.
   */
  async stop(): Promise<void> {
    if (!this.#isStopping) {
      this.#isStopping = true;
      await this.#drain();
      this.#tell({ type: 'leave' });
    }
    await this.#stopped;
  }

  #watchReadiness(): void {
    const { ready, scratchDir } = this.#options;
    if (ready === undefined && scratchDir === undefined) return;
    this.#readiness = new ReadinessCheck({
      ready: ready ?? (() => true),
      scratchDir,
      clock: monotonicClock,
      onChange: (now, isNews, why) => {
        this.#tell({ type: 'ready', ready: now });
        if (!isNews) return;
        if (now.ok) this.#event({ type: 'ready', message: 'ready' });
        else this.#event({ type: 'not_ready', ...why, message: `not ready: ${now.reason}` });
      },
    });
    this.#readiness.start();
  }

  get #handlesSignals(): boolean {
    return this.#options.handleSignals ?? true;
  }

  get #drainTimeoutMs(): number {
    return this.#options.drainTimeoutMs ?? DRAIN_TIMEOUT_MS;
  }

  #stopBy(signal: NodeJS.Signals): void {
    this.#event({ type: 'draining', message: `${signal}: stopping; once more to exit at once` });
    // A refusal is told by its event.
    this.stop().catch(() => undefined);
  }

  async #drain(): Promise<void> {
    this.#tell({ type: 'drain' });
    this.#preparations.end();
    const running = this.#running;
    if (running === null) return;
    const timer = setTimeout(() => this.#abort(running, 'drain'), this.#drainTimeoutMs);
    await running.ended;
    clearTimeout(timer);
  }

  #take(message: Exclude<FromSession, { type: 'ended' }>): void {
    switch (message.type) {
      case 'assigned':
        return this.#begin(message);
      case 'begin':
        return this.#runningOf(message)?.begin();
      case 'abort': {
        const running = this.#runningOf(message);
        if (running !== null) this.#abort(running, message.reason);
        return;
      }
      case 'booked':
        if (!this.#isStopping) this.#preparations.take(message.booking);
        return;
      case 'ping':
        return this.#tell({ type: 'pong' });
      case 'event':
        if (message.event.type === 'connected') this.#connected();
        return this.#event(message.event);
    }
  }

  /** An order may come late: it is about one attempt, and no other. */
  #runningOf({ taskId, attempt }: AttemptKey): RunningAttempt | null {
    const running = this.#running;
    return running?.taskId === taskId && running.attempt === attempt ? running : null;
  }

  #begin(offer: Offered): void {
    const { task: assigned } = offer;
    const key = { taskId: assigned.id, attempt: assigned.attempt };
    const abort = new AbortController();
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    abort.signal.addEventListener('abort', begin);
    const ended = this.#run(offer, key, abort.signal, begun).finally(() => {
      // An offer of a session that is over may be answered after the next one has come.
      if (this.#running === running) this.#running = null;
    });
    const running = { ...key, abort, begin, ended };
    this.#running = running;
  }

  async #run(
    offer: Offered,
    key: AttemptKey,
    signal: AbortSignal,
    begun: Promise<void>,
  ): Promise<void> {
    const { task: assigned, checkpointText, limits, reportsTimeouts, reportsParts } = offer;
    const task = taskOf(offer, this.#namespace);
    const { attempt } = key;
    const refusal = await this.#refusal(task, key, signal);
    if (refusal !== null) {
      return this.#tell({ type: 'reject', ...key, body: rejectBody(key, refusal) });
    }
    const accept: ExecutorMessage = { type: 'accept', task_id: task.id, attempt };
    this.#tell({ type: 'accept', ...key, body: JSON.stringify(accept) });
    await begun;
    if (!signal.aborted) {
      const message = `started ${task.type} ${task.id}`;
      this.#event({ type: 'task_started', message, ...key, ...traceOf(task) });
    }

    const send = (type: 'progress' | 'checkpoint' | 'event' | 'alert', body: string): void =>
      this.#tell({ type, ...key, body });
    const report = new ProgressReport(key, { limits, reportsParts, send });
    const told = new EventReport(key, this.#paces.event, send);
    const log = new AttemptLog((lines) => this.#tell({ type: 'log', ...key, lines }));
    const raised = new AlertReport(key, this.#paces.alert, send);
    const groups = new ChildGroups(signal, (pid, isAlive) => {
      this.#tell({ type: 'group', pid, isAlive });
    });
    const end = await this.#handlerEnd(task, {
      signal,
      attempt,
      token: fencingToken(task.namespace, assigned.term, attempt),
      lastCheckpoint: checkpointText === undefined ? undefined : JSON.parse(checkpointText),
      lastCheckpointText: checkpointText,
      progress: (given: number | Progress, state?: unknown) => report.progress(given, state),
      checkpoint: (value) => report.checkpoint(value),
      event: (name, data) => told.event(name, data),
      log,
      alert: (severity, text, fields) => raised.alert(severity, text, fields),
      spawn: (command, args, options) => groups.spawn(command, args, options),
    });
    groups.close();
    report.close();
    told.close();
    raised.close();
    const aborted = signal.aborted ? (signal.reason as TaskAborted).reason : null;
    const outcome = outcomeOf(key, end, {
      aborted,
      reportsTimeouts,
      bytesMax: limits.result_bytes,
    });
    logEnd(log, end, { aborted, problem: outcome.problem });
    log.close();
    this.#tell({ type: 'result', ...key, body: outcome.body });
    // What made it fail may be in the way of the next one too.
    if ('error' in end && aborted === null) this.checkReady();
    const failed = failureIn(task, key, end, { aborted, problem: outcome.problem });
    if (failed !== null) this.#event(failed);
    const message = `${task.type} ${task.id} ${outcome.outcome}`;
    this.#event({ type: 'task_ended', message, ...key, ...traceOf(task) });
  }

  async #handlerEnd(task: Task, context: Parameters<Handler>[1]): Promise<HandlerEnd> {
    const handler = this.#handlers.get(task.type);
    const { namespace, type, id: taskId, traceparent: parent } = task;
    const { attempt } = context;
    const span = beginSpan({ operation: 'process', namespace, type, taskId, attempt, parent });
    const given = { ...task, traceparent: span.traceparent ?? parent };
    try {
      context.signal.throwIfAborted();
      const value = await span.within(() => handler?.(given, context));
      span.end();
      return { value };
    } catch (error) {
      span.end(error);
      return { error };
    }
  }

  async #refusal(task: Task, key: AttemptKey, signal: AbortSignal): Promise<Refusal | null> {
    if (this.#isStopping) return { code: 406, message: 'stopping' };
    const unready = this.#readiness?.problem ?? null;
    if (unready !== null) return { code: 406, message: `not ready: ${unready}` };
    if (this.#options.canAccept === undefined) return null;
    let answer: unknown;
    try {
      answer = await Promise.race([this.#options.canAccept(task), onceAborted(signal)]);
    } catch (error) {
      answer = `canAccept failed: ${headlineOf(error)}`;
      const what = `canAccept failed when it was asked for ${task.type} ${task.id}`;
      this.#event({ type: 'can_accept_failed', ...thrownIn(what, error), ...key });
    }
    if (signal.aborted) return { code: 406, message: 'called off before it began' };
    if (answer === true || answer === undefined) return null;
    if (typeof answer === 'string') return { code: 400, message: answer.slice(0, 1024) };
    const message = `canAccept answered ${typeof answer}`;
    const hint = `${message}, which is neither true nor text`;
    this.#event({ type: 'can_accept_failed', message: hint, ...key });
    return { code: 400, message };
  }

  #abort(running: RunningAttempt, reason: AbortReason): void {
    if (running.abort.signal.aborted) return;
    const error = new TaskAborted(reason, nameOf(running));
    this.#event({ type: 'task_aborted', message: error.message, ...keyOf(running) });
    running.abort.abort(error);
  }

  #tell(message: ToSession): void {
    this.#session?.postMessage(message);
  }

  #ended(refusal: string | null): void {
    this.#preparations.end();
    this.#readiness?.stop();
    hasStopped(this.#bySignals);
    if (refusal === null) return this.#event({ type: 'stopped', message: 'stopped' });
    if (this.#handlesSignals) process.exitCode = 1;
    this.#event({ type: 'stopped', level: 'error', message: `refused: ${refusal}` });
  }

  /** Whoever listens does not end a task by failing to. */
  #event(draft: EventDraft): void {
    const event = eventOf(draft);
    const { onEvent } = this.#options;
    if (onEvent === undefined) return this.#print(event);
    const complain = (error: unknown): void => {
      this.#print(eventOf({ type: 'listener_failed', ...thrownIn('onEvent failed', error) }));
    };
    try {
      const listening: unknown = onEvent(event);
      if (listening instanceof Promise) listening.catch(complain);
    } catch (error) {
      complain(error);
    }
  }

  #print(event: ExecutorEvent): void {
    const context = { format: this.#logFormat, executorId: this.#executorId, at: new Date() };
    print(event, context);
  }
}

function onceAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
