/**
 * A session of the SDK and the sessions of a master, without a socket between them and on a clock
 * that the test moves. The handlers' thread is played by the test: it accepts what it is offered.
 */
import type { DialOptions, Dialled } from '../../../executor-sdk/session/dial.ts';
import { SessionClient } from '../../../executor-sdk/session/session-client.ts';
import { sessionSettings } from '../../../executor-sdk/executor-options.ts';
import type { FromSession } from '../../../executor-sdk/thread-messages.ts';
import { ExecutorSessions } from '../../../master/access/executors/sessions.ts';
import type { Event } from '../../../master/domain/events.ts';
import { ManualClock, settled } from '../manual-clock.ts';
import { NOW, sampleTask } from '../task.ts';

export class MemoryLink {
  readonly clock = new ManualClock();
  readonly client: SessionClient;
  /** What the session said to the handlers, but for pings. */
  readonly told: (FromSession & { readonly at: number })[] = [];
  /** What was done to the processes of this executor. */
  readonly killed: { readonly what: 'groups' | 'process'; readonly at: number }[] = [];
  /** When its guard was to end them, each time that it was told. */
  readonly ends: { readonly endAt: number; readonly killAt: number }[] = [];
  readonly events: Event[] = [];
  /** `refuses`: nobody listens. `swallows`: what is dialled hears nothing. */
  master: 'answers' | 'refuses' | 'swallows' = 'answers';
  confirmsReports = true;
  /** Looks at each text on its way up; false: it does not arrive. */
  onUp: (text: string) => boolean = () => true;
  /** What becomes of each text on its way down. */
  onDown: (text: string) => string = (text) => text;
  sessions: ExecutorSessions;
  /** Of a master that begins. */
  leaseMs: number;
  #hangUp: ((code: number, reason: string) => void) | null = null;

  constructor({ leaseMs = 30_000, random = (): number => 0.5 } = {}) {
    this.leaseMs = leaseMs;
    this.sessions = this.#newSessions();
    this.client = new SessionClient({
      settings: sessionSettings({ url: 'http://master', id: 'e1' }, ['test']),
      predecessors: { bootId: '', died: [], fenced: [], onTold: () => undefined },
      clock: this.clock,
      random,
      rssBytes: () => 0,
      dial: (options) => this.#dial(options),
      tell: (message) => queueMicrotask(() => this.#told(message)),
      groups: {
        endBy: (endAt, killAt) => void this.ends.push({ endAt, killAt }),
        killAll: () => void this.killed.push({ what: 'groups', at: this.clock.now() }),
      },
      endProcess: () => this.killed.push({ what: 'process', at: this.clock.now() }),
    });
  }

  of<T extends Event['type']>(type: T): Extract<Event, { type: T }>[] {
    return this.events.filter((event): event is Extract<Event, { type: T }> => event.type === type);
  }

  /** Connects, and runs this task. */
  async run(taskId: string, fields: Parameters<typeof sampleTask>[0] = {}): Promise<void> {
    void this.client.run();
    await settled();
    this.assign(taskId, fields);
    await settled();
  }

  assign(taskId: string, fields: Parameters<typeof sampleTask>[0] = {}): void {
    const { sessionId } = this.of('executorConnected').at(-1)!;
    const state = { state: 'offered', attempt: 1, executorId: 'e1', offeredAt: NOW } as const;
    const task = sampleTask({ id: taskId, type: 'test', params: 'null', ...state, ...fields });
    this.sessions.send(sessionId, { type: 'assign', task }, 1);
  }

  /** The handler reports, or ends. */
  say(
    type: 'progress' | 'checkpoint' | 'event' | 'result',
    taskId: string,
    fields: object = {},
  ): void {
    const frame = type === 'checkpoint' ? 'progress' : type;
    const body = JSON.stringify({ type: frame, task_id: taskId, attempt: 1, ...fields });
    this.client.take({ type, taskId, attempt: 1, body });
  }

  /** The master is gone, and knows nothing of its sessions when it is back. */
  endMaster(how: 'refuses' | 'swallows'): void {
    this.master = how;
    this.sessions = this.#newSessions();
    if (how === 'refuses') this.hangUp();
  }

  hangUp(code = 1006, reason = 'gone'): void {
    this.#hangUp?.(code, reason);
  }

  #newSessions(): ExecutorSessions {
    let count = 0;
    const sessions: ExecutorSessions = new ExecutorSessions({
      namespace: 'default',
      clock: this.clock,
      heartbeatMs: this.leaseMs / 6,
      leaseMs: this.leaseMs,
      createId: () => `s${this.clock.now()}-${++count}`,
    });
    sessions.attach({
      term: 1,
      isFull: false,
      attemptOf: () => null,
      executorOf: () => null,
      silentMs: () => Infinity,
      post: (event) => {
        this.events.push(event);
        const isReport = event.type === 'progressReported' || event.type === 'eventTold';
        if ('frameSeq' in event && (!isReport || this.confirmsReports)) {
          sessions.confirm(event.sessionId, event.frameSeq);
        }
      },
    });
    return sessions;
  }

  #dial({ onOpen, onText, onClosed }: DialOptions): Dialled {
    const { sessions } = this;
    let isOpen = true;
    const end = (code: number, reason: string): void => {
      if (!isOpen) return;
      isOpen = false;
      if (connection !== null) sessions.closed(connection, code);
      queueMicrotask(() => onClosed({ code, reason, isFinal: false }));
    };
    const hears = () => isOpen && this.master !== 'swallows' && this.sessions === sessions;
    const connection =
      this.master === 'refuses'
        ? null
        : sessions.open({
            send: (text) => queueMicrotask(() => hears() && onText(this.onDown(text))),
            close: (code, reason) => queueMicrotask(() => hears() && end(code, reason)),
          });
    this.#hangUp = end;
    queueMicrotask(() => (connection === null ? end(1006, 'refused') : onOpen()));
    return {
      send: (text) => {
        if (connection === null || !hears() || !this.onUp(text)) return;
        queueMicrotask(() => isOpen && sessions.receive(connection, text));
      },
      unsentBytes: 0,
      close: end,
      giveUp: (why) => end(1006, why),
    };
  }

  #told(message: FromSession): void {
    if (message.type === 'ping') return this.client.take({ type: 'pong' });
    this.told.push({ ...message, at: this.clock.now() });
    if (message.type !== 'assigned') return;
    const { id: taskId, attempt } = message.task;
    const body = JSON.stringify({ type: 'accept', task_id: taskId, attempt });
    this.client.take({ type: 'accept', taskId, attempt, body });
  }
}
