/** Starts the HTTP server of the master on a free port of loopback, and calls it. */
import { once } from 'node:events';
import { type Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type HttpServer, createHttpServer } from '../../master/access/http/server.ts';
import { Connections } from '../../master/access/http/connections.ts';
import { type ConfiguredTokens, createAuthorizer } from '../../master/access/auth.ts';
import { Logins } from '../../master/access/console/logins.ts';
import type { ServedFiles } from '../../master/access/http/files.ts';
import { Alerts } from '../../master/application/alerts/alerts.ts';
import { AuditTrail } from '../../master/application/process/audit-trail.ts';
import { Duties } from '../../master/application/process/duties.ts';
import { Tokens } from '../../master/application/process/tokens.ts';
import type { DiskSpace, Log } from '../../master/application/ports.ts';
import { AddressPolicy } from '@soda-scheduler/address-policy';
import { MemoryStore } from '../../master/infrastructure/memory/store.ts';
import { createMetrics } from '../../master/infrastructure/telemetry/metrics.ts';
import { ManualClock } from './manual-clock.ts';
import { StandInHandle, StandInNamespaces } from './stand-in-handle.ts';

export const noTokens: ConfiguredTokens = {
  submitToken: null,
  executorToken: null,
  adminToken: null,
};

/** The fields that tests read, of whatever body it is; reading one that is not there fails. */
export interface AnyBody {
  readonly task_id: string;
  readonly code: number;
  readonly detail: string;
  readonly same_request: boolean;
  readonly errors: readonly { readonly field: string; readonly message: string }[];
  readonly results: readonly {
    readonly task_id: string | null;
    readonly code: number;
    readonly message: string;
    readonly same_request: boolean;
  }[];
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; `T` is what the test expects of it. */
  json<T = AnyBody>(): T;
}

export interface Call {
  readonly headers?: Readonly<Record<string, string>>;
  /** A string or bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
  /** With connections that it keeps; each call has one of its own otherwise. */
  readonly agent?: Agent;
}

interface HttpFaceOptions {
  readonly configured?: ConfiguredTokens;
  readonly timeoutsMs?: { readonly headers: number; readonly request: number };
  readonly connectionCountMax?: number;
  readonly console?: ServedFiles;
  readonly docs?: ServedFiles;
  /** Of the master: logins are for one. */
  readonly place?: string;
  readonly trustedProxies?: readonly string[];
}

export class HttpFace {
  readonly master = new StandInHandle();
  readonly namespaces = new StandInNamespaces(this.master);
  /** Of the embedded database. */
  disk: DiskSpace | null = null;
  readonly duties = new Duties({ now: () => 1_800_000_000_000 });
  readonly logged: {
    readonly level: string;
    readonly message: string;
  }[] = [];
  /** What each of them says beside its message. */
  readonly loggedFields: (Record<string, unknown> | undefined)[] = [];
  readonly clock = new ManualClock();
  readonly store = new MemoryStore();
  readonly tokens = new Tokens({
    store: this.store,
    clock: this.clock,
    log: this.#log(),
    ask: (question) => question(),
    onChange: () => undefined,
  });
  readonly alerts = new Alerts({
    store: this.store,
    clock: this.clock,
    log: this.#log(),
    rareLog: this.#log(),
    duties: new Duties(this.clock),
    sender: {
      send: async () => ({ error: null, isFinal: false }),
      refusalOf: () => null,
    },
    ask: (question) => question(),
    look: () => [],
    disk: async () => null,
    newId: () => 'al-1',
  });
  readonly http: HttpServer;
  port = 0;
  readonly #sockets: Socket[] = [];

  constructor({
    configured = noTokens,
    timeoutsMs,
    connectionCountMax = 1_000,
    console = new Map(),
    docs = new Map(),
    place = 'here',
    trustedProxies = [],
  }: HttpFaceOptions = {}) {
    const metrics = createMetrics('2.0.0-test');
    const { namespaces } = this;
    metrics.watch(namespaces, [namespaces], { raisedNow: [] });
    const policy = new AddressPolicy(['127.0.0.0/8'], 'SODA_NOTIFY_ALLOW');
    this.http = createHttpServer({
      namespaces,
      authorizer: createAuthorizer(
        { ...configured, trustedProxies },
        this.tokens,
        new Logins(place, () => this.clock.now()),
        this.#log(),
      ),
      console,
      docs,
      tokens: this.tokens,
      audit: new AuditTrail({
        store: this.store,
        clock: this.clock,
        log: this.#log(),
        ask: (question) => question(),
      }),
      alerts: this.alerts,
      duties: this.duties,
      disk: async () => this.disk,
      certificate: null,
      connections: new Connections(connectionCountMax, this.#log()),
      metrics,
      log: this.#log(),
      rareLog: this.#log(),
      host: '127.0.0.1',
      port: 0,
      version: '2.0.0-test',
      feedLevel: 'ends',
      refusalOfReceiver: (url) => policy.checkUrl(new URL(url))?.message ?? null,
      ...(timeoutsMs === undefined ? {} : { timeoutsMs }),
    });
  }

  async open(): Promise<this> {
    await this.tokens.load();
    this.port = (await this.http.listen()).port;
    return this;
  }

  /** Ends the connections that were dialled, whatever is under way on them. */
  hangUp(): void {
    for (const socket of this.#sockets.splice(0)) socket.destroy();
  }

  close(): Promise<void> {
    return this.http.close();
  }

  /** A connection on which anything may be said. */
  async dial(): Promise<Socket> {
    const socket = connect(this.port, '127.0.0.1');
    this.#sockets.push(socket);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }

  post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    return this.call('POST', path, { body, headers });
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}) {
    return this.call('GET', path, { headers });
  }

  call(method: string, path: string, call: Call = {}): Promise<Answer> {
    const { headers = {}, body, agent = false } = call;
    const payload =
      body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
        ? body
        : JSON.stringify(body);
    const jsonHeaders = payload === undefined ? {} : { 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const req = request(
        {
          host: '127.0.0.1',
          port: this.port,
          method,
          path,
          agent,
          headers: { ...jsonHeaders, ...headers },
        },
        (res) => {
          let text = '';
          res.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
          });
          res.on('end', () =>
            resolve({
              status: res.statusCode ?? 0,
              headers: res.headers,
              text,
              json: () => JSON.parse(text),
            }),
          );
        },
      );
      req.on('error', reject);
      req.end(payload);
    });
  }

  #log(): Log {
    const at = (level: string) => (message: string, fields?: Record<string, unknown>) => {
      this.logged.push({ level, message });
      this.loggedFields.push(fields);
    };
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  }
}

/** All that comes until the server hangs up. */
export async function everythingFrom(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  await once(socket, 'close');
  return text;
}
