/**
 * The real executor gateway on a real server, with a scripted engine behind it: events are
 * recorded and can be awaited; accepts, progress and results are confirmed at once unless told
 * otherwise. It decides nothing, so a test says itself what the master answers.
 */
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Actor } from '../../master/access/auth.ts';
import { ExecutorGateway } from '../../master/access/executors/gateway.ts';
import type { GatewayOptions } from '../../master/access/executors/gateway.ts';
import { ExecutorSessions } from '../../master/access/executors/sessions.ts';
import type { SessionsOptions } from '../../master/access/executors/sessions.ts';
import type { MasterStatus } from '../../master/application/master-handle.ts';
import type { Log } from '../../master/application/ports.ts';
import type { Event } from '../../master/domain/events.ts';
import type { Executor } from '../../master/domain/model/executor.ts';
import type { Task } from '../../master/domain/model/task.ts';
import { createClock } from '../../master/infrastructure/system.ts';
import { NOW, sampleTask } from './task.ts';

export type LinkOptions = Partial<
  SessionsOptions & Pick<GatewayOptions, 'authorize' | 'endOf' | 'log'>
>;

/** An executor of a master without tokens. */
export const ANYBODY: Actor = {
  name: null,
  role: 'admin',
  scope: null,
  address: '127.0.0.1',
  expiresAt: null,
  digest: null,
};

type EventOf<T extends Event['type']> = Extract<Event, { type: T }>;

const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

export class ScriptedMaster {
  status: MasterStatus = 'ready';
  readonly isFull = false;
  term = 1;
  confirmsResults = true;
  readonly events: Event[] = [];
  /** What it has assigned. */
  readonly tasks = new Map<string, Task>();
  /** The process that it knows under every id. */
  newest: Executor | null = null;
  newestSilentMs = Number.POSITIVE_INFINITY;
  readonly sessions: ExecutorSessions;
  readonly #gateway: ExecutorGateway;
  readonly server = createServer();
  readonly #posted = new EventEmitter();

  private constructor({
    authorize = () => ANYBODY,
    endOf = () => null,
    log = silentLog,
    ...options
  }: LinkOptions) {
    this.sessions = new ExecutorSessions({
      namespace: 'default',
      clock: createClock(),
      heartbeatMs: 200,
      leaseMs: 6_000,
      createId: randomUUID,
      ...options,
    });
    const use: GatewayOptions['namespaces']['use'] = async (_name, work) =>
      work({ sessions: this.sessions, master: this });
    this.#gateway = new ExecutorGateway({ authorize, endOf, namespaces: { use }, log });
    this.sessions.useSecrets(['c2VjcmV0']);
    this.sessions.attach(this);
    this.#gateway.attach(this.server);
  }

  /** Tokens may have become invalid. */
  checkTokens(): void {
    this.#gateway.checkTokens();
  }

  /** `port`: 0 for any free one. */
  static async start(options: LinkOptions = {}, port = 0): Promise<ScriptedMaster> {
    const master = new ScriptedMaster(options);
    master.server.listen(port, '127.0.0.1');
    await once(master.server, 'listening');
    return master;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  silentMs(): number {
    return this.newestSilentMs;
  }

  executorOf(): Executor | null {
    return this.newest;
  }

  attemptOf(taskId: string): Task | null {
    return this.tasks.get(taskId) ?? null;
  }

  post(event: Event): void {
    this.events.push(event);
    if ('frameSeq' in event && (event.type !== 'attemptEnded' || this.confirmsResults)) {
      this.sessions.confirm(event.sessionId, event.frameSeq);
    }
    this.#posted.emit('event');
  }

  of<T extends Event['type']>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type);
  }

  /** The `count`-th event of this type, now or later. */
  async nth<T extends Event['type']>(type: T, count = 1): Promise<EventOf<T>> {
    for (;;) {
      const event = this.of(type)[count - 1];
      if (event !== undefined) return event;
      await once(this.#posted, 'event');
    }
  }

  /** The first event of this type that fits, now or later. */
  async find<T extends Event['type']>(
    type: T,
    fits: (event: EventOf<T>) => boolean,
  ): Promise<EventOf<T>> {
    for (;;) {
      const event = this.of(type).find(fits);
      if (event !== undefined) return event;
      await once(this.#posted, 'event');
    }
  }

  assign(sessionId: string, fields: Partial<Task> & { id: string }): void {
    const task = sampleTask({
      type: 'test',
      params: 'null',
      user: { group: 'g', project: null, env: null, user: null },
      state: 'offered',
      attempt: 1,
      executorId: 'e1',
      offeredAt: NOW,
      ...fields,
    });
    this.tasks.set(task.id, task);
    this.sessions.send(sessionId, { type: 'assign', task }, this.term);
  }

  async close(): Promise<void> {
    this.sessions.shutdown();
    await this.#gateway.shutdown();
    this.server.close();
    if (this.server.listening) await once(this.server, 'close');
  }
}
