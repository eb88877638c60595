/** A notifier between a receiver on loopback, which answers as the test says, and a manual clock. */
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Notifier, StoredTask } from '../../../master/application/ports.ts';
import type { Event } from '../../../master/domain/events.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import { AddressPolicy } from '@soda-scheduler/address-policy';
import {
  HttpNotifier,
  type HttpNotifierOptions,
  type Sender,
} from '../../../master/infrastructure/callbacks/http-notifier.ts';
import { ManualClock } from '../manual-clock.ts';
import { notificationOf, sampleTask } from '../task.ts';

export type Tried = Extract<Event, { type: 'notificationTried' }>;
export type PutOff = Extract<Event, { type: 'notificationPutOff' }>;

export interface Call {
  readonly request: IncomingMessage;
  readonly body: string;
  readonly response: ServerResponse;
}

export const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

/** Hands out what was put in, in order, to whoever asks, now or later. */
class Inbox<T> {
  readonly #items: T[] = [];
  readonly #takers: ((item: T) => void)[] = [];

  put(item: T): void {
    const taker = this.#takers.shift();
    if (taker === undefined) this.#items.push(item);
    else taker(item);
  }

  take(): Promise<T> {
    const item = this.#items.shift();
    return item === undefined
      ? new Promise((resolve) => this.#takers.push(resolve))
      : Promise.resolve(item);
  }

  takeMany(count: number): Promise<T[]> {
    return Promise.all(Array.from({ length: count }, () => this.take()));
  }

  get count(): number {
    return this.#items.length;
  }
}

/** One that has succeeded. */
export function taskOf(id: string, change: Partial<Task> = {}): Task {
  return sampleTask({
    id,
    type: 'transcode',
    user: { group: 'video', project: null, env: 'test', user: null },
    submittedAt: 1_700_000_000_000,
    state: 'succeeded',
    attempt: 2,
    attemptsUsed: 1,
    executorId: 'e1',
    lastOutcome: 'succeeded',
    result: '{"frames":9007199254740993}',
    finishedAt: 1_700_000_060_000,
    ...change,
  });
}

export class NotifierBench {
  readonly clock = new ManualClock();
  readonly calls = new Inbox<Call>();
  readonly tries: Inbox<Tried> = new Inbox();
  readonly putOffs: Inbox<PutOff> = new Inbox();
  readonly stored = new Map<string, StoredTask>();
  readonly server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => this.calls.put({ request, body, response }));
  });
  notifier = this.notifierWith({});
  /** Of `default`. */
  own: Notifier = this.notifier.of(this.sender());
  port = 0;

  async open(): Promise<this> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
    return this;
  }

  async close(): Promise<void> {
    this.notifier.stop();
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** Takes the place of the notifier so far. */
  replace(options: Partial<HttpNotifierOptions>): void {
    this.notifier.stop();
    this.notifier = this.notifierWith(options);
    this.own = this.notifier.of(this.sender());
  }

  sender(namespace = 'default'): Sender {
    return {
      namespace,
      post: (event) => {
        if (event.type === 'notificationTried') this.tries.put(event);
        if (event.type === 'notificationPutOff') this.putOffs.put(event);
      },
      findTask: async (id) => this.stored.get(id) ?? null,
    };
  }

  /** Every name is this machine. */
  notifierWith(options: Partial<HttpNotifierOptions>): HttpNotifier {
    return new HttpNotifier({
      secrets: [secret],
      policy: new AddressPolicy(['127.0.0.0/8'], 'SODA_NOTIFY_ALLOW'),
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      clock: this.clock,
      log: { debug() {}, info() {}, warn() {}, error() {} },
      ...options,
    });
  }

  get base(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  deliver(task: Task, url = `${this.base}/done`, term = 1): void {
    this.own.deliver(notificationOf(task, { url }), task, term);
  }

  /** A task of this seq, to the receiver under another name. */
  deliverTo(host: string, seq: number): void {
    this.deliver(taskOf(`t${seq}`, { seq }), `http://${host}:${this.port}/`);
  }

  /** The next call is answered so; and this is what the domain is told. */
  async answered(status: number, headers = {}, body = ''): Promise<Tried> {
    const { response } = await this.calls.take();
    response.writeHead(status, headers).end(body);
    return this.tries.take();
  }
}
