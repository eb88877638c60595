/**
 * The composition root: one configuration to one running master. The only file that sees every
 * layer. Owns the order of start and stop, and nothing else.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { createAuthorizer } from './access/auth.ts';
import { Logins } from './access/console/logins.ts';
import { authorizeExecutor } from './access/rights.ts';
import { JobTemplates } from './access/routes/jobs/templates.ts';
import { ExecutorGateway } from './access/executors/gateway.ts';
import { ExecutorSessions } from './access/executors/sessions.ts';
import { Connections } from './access/http/connections.ts';
import { createHttpServer, type HttpServer } from './access/http/server.ts';
import { Engine } from './application/engine/engine.ts';
import { all } from './application/engine/observers.ts';
import { TaskLogs } from './application/logs/task-logs.ts';
import { Master } from './application/master.ts';
import type { Clock, Disk, Log, NamespaceRecord, Observer, Store } from './application/ports.ts';
import { Namespaces } from './application/process/namespaces.ts';
import { Certificate } from './application/process/certificate.ts';
import { Duties } from './application/process/duties.ts';
import { Tokens } from './application/process/tokens.ts';
import type { Alerts } from './application/alerts/alerts.ts';
import { AuditTrail } from './application/process/audit-trail.ts';
import { type Part, Lifecycle } from './application/process/lifecycle.ts';
import { type Turnstiles, turnstiles } from './application/turnstile.ts';
import { alerting } from './alerting.ts';
import { watch } from './application/alerts/watch.ts';
import type { Config } from './config.ts';
import { policyOf } from './policy.ts';
import { upkeep } from './upkeep.ts';
import type { Tally } from './domain/bounds.ts';
import type { Pause } from './domain/model/pause.ts';
import { AddressPolicy } from '@soda-scheduler/address-policy';
import { HttpNotifier } from './infrastructure/callbacks/http-notifier.ts';
import { readBuiltFiles } from './infrastructure/built-files.ts';
import { openDataDirectory } from './infrastructure/data-directory.ts';
import { diskOf } from './infrastructure/disk.ts';
import { createMetrics, type Metrics } from './infrastructure/telemetry/metrics.ts';
import { NameResolver } from './infrastructure/callbacks/name-resolver.ts';
import { keepNotifySecret } from './infrastructure/notify-secret.ts';
import { openSqlStore } from './infrastructure/sql/open.ts';
import { tlsPairReader } from './infrastructure/tls-pair.ts';
import { connectionCountMax, createClock } from './infrastructure/system.ts';
import { spareLog } from './infrastructure/telemetry/spare-log.ts';
import {
  createLog,
  createLogObserver,
  logWith,
  type ProcessLog,
} from './infrastructure/telemetry/winston-log.ts';

export { type Config, configFields, loadConfig, redacted } from './config.ts';
export { StoreUnusable } from './application/ports.ts';
export { reachMysql } from './infrastructure/sql/open.ts';

const VERSION = readVersion();
/** Beside what is compiled, where the build puts it; the second is for tests, which run the sources. */
const builtIn = (folder: string) =>
  readBuiltFiles([`${folder}/`, `dist/${folder}/`].map((path) => new URL(path, import.meta.url)));
/** Executors send a heartbeat this often within a lease. */
const HEARTBEATS_PER_LEASE = 6;

export interface RunningMaster {
  /** `http://127.0.0.1:18890`: where it really listens. */
  readonly url: string;
  /** The secrets that callbacks are signed with, newest first. */
  readonly notifySecrets: readonly string[];
  /**
   * Drains and stops; safe to call twice. Takes seconds, and rejects where the database does not answer: what it was
   * asked last is stored or not, as after a crash.
   */
  stop(): Promise<void>;
  /** Resolves after `stop`; rejects as that does, or when the master had to end by itself: it was deposed. */
  readonly stopped: Promise<void>;
}

/**
 * Starts a master and resolves when it takes work. While the database does not answer it listens
 * already, says so on `/readyz`, and keeps trying until `signal` aborts; that also stops a master
 * that runs.
 * @throws {StoreUnusable} the database cannot be used as it is; the message says what to change.
 */
export async function runMaster(
  config: Config,
  options: { readonly logTo?: NodeJS.WritableStream; readonly signal?: AbortSignal } = {},
): Promise<RunningMaster> {
  const log = createLog(config.logLevel, options.logTo);
  let isSaid = false;
  const sayWhy = (error: unknown): void => {
    if (isSaid) return;
    isSaid = true;
    const reason = error instanceof Error ? error.message : String(error);
    log.error('the master has to end', { event: 'ended', reason });
  };
  const parts = await assemble(config, log).catch((error: unknown) => {
    sayWhy(error);
    throw error;
  });
  const { namespaces, gateway, http, notifySecrets } = parts;
  let url = '';
  const lifecycle = new Lifecycle([
    ...outside(parts),
    {
      async start() {
        const { port } = await http.listen().catch((error: unknown) => {
          throw inWords(error, config);
        });
        url = urlOf(config, port);
        // It listens, but takes no work before it has its database.
        log.info('the master starts', { event: 'starting', url, version: VERSION });
      },
      stop: () => http.close(),
    },
    { start: () => gateway.attach(http.server), stop: () => gateway.shutdown() },
    {
      async start() {
        await namespaces.start();
        if (namespaces.status === 'ready') {
          log.info('the master takes work', { event: 'ready', url });
        }
      },
      stop: () => namespaces.stop(),
    },
    parts.tokens,
    ...parts.duly,
    ...upkeep(parts, config, log),
  ]);
  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> =>
    (stopping ??= lifecycle.stop().then(
      () => log.info('the master has stopped', { event: 'stopped' }),
      (error: unknown) => {
        sayWhy(error);
        throw error;
      },
    ));
  const endFor = async (error: unknown): Promise<never> => {
    sayWhy(error);
    await stop().catch(() => undefined);
    throw error;
  };
  // Deposed: nothing may be written any more, so that only the rest is shut down.
  const stopped = namespaces.ended.then(stop, endFor);
  stopped.catch(() => undefined);

  const beTold = (): void => void stop().catch(() => undefined);
  if (options.signal?.aborted === true) beTold();
  else options.signal?.addEventListener('abort', beTold);
  try {
    // A start that waits for a frozen database is not waited for by whoever is told to stop.
    await Promise.race([lifecycle.start(), stopped]);
  } catch (error) {
    return await endFor(error);
  }
  return { url, notifySecrets, stop, stopped };
}

/** What the rest needs to its end; it begins by itself. */
function outside({ store, resolver, notifier }: Parts): Part[] {
  const start = (): void => undefined;
  return [
    { start, stop: () => store.close() },
    { start, stop: () => resolver.stop() },
    { start, stop: () => notifier.stop() },
  ];
}

function urlOf({ host, tlsCert }: Config, port: number): string {
  return `http${tlsCert === null ? '' : 's'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Of an address that cannot be listened on. */
function inWords(error: unknown, { host, port }: Config): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return error;
  const message =
    `port ${port} of ${host} is in use, perhaps by another master: ` +
    'stop that, or choose another port with --port or SODA_PORT, and another directory with ' +
    '--data-dir or SODA_DATA_DIR';
  return Object.assign(new Error(message, { cause: error }), { code: 'EADDRINUSE' });
}

type Parts = Awaited<ReturnType<typeof assemble>>;

/** Every part, each given what it needs; nothing has begun yet. */
async function assemble(config: Config, log: ProcessLog) {
  openDataDirectory(config.dataDir);
  const { databaseUrl, allowWeakDurability } = config;
  const pool = { max: config.dbPoolMax, idleMs: config.dbPoolIdleMs, waitMs: config.dbPoolWaitMs };
  const clock = createClock();
  // Never set: for what measures lengths of time, whatever becomes of terms.
  const evenClock = createClock();
  const duties = new Duties(evenClock);
  const certificate = await certificateOf(config, { clock: evenClock, log, duties });
  const spare = spareLog(log, () => performance.now());
  const rareLog = spareLog(log, () => performance.now(), { lineCount: 1, everyMs: 60_000 });
  const metrics = createMetrics(VERSION);
  const notifySecrets =
    config.notifySecrets.length > 0 ? config.notifySecrets : [keepNotifySecret(config.dataDir)];
  const store = await openSqlStore({ url: databaseUrl, allowWeakDurability, pool, log });
  const policy = new AddressPolicy(config.notifyAllow, 'SODA_NOTIFY_ALLOW');
  const resolver = new NameResolver(evenClock);
  const notifier = new HttpNotifier({
    secrets: notifySecrets,
    policy,
    resolve: (host) => resolver.resolve(host),
    clock: evenClock,
    log,
  });
  const shared: Shared = {
    config,
    clock,
    evenClock,
    store,
    notifier,
    metrics,
    log,
    spare,
    rareLog,
    // A container that takes the place of another has its name, and is process 1 as well.
    owner: `${hostname()}:${process.pid}:${randomUUID()}`,
    turnstiles: turnstiles(),
    tallies: { frames: { bytes: 0 }, sent: { bytes: 0 }, logged: { bytes: 0 } },
    engineDuties: duties.ofEngines(),
    ledCount: () => namespaces.ledCount,
    pauseOfAll: () => namespaces.pauseOfAll,
    hear: (message) => alerts.hear(message),
    refusalOf: (url) => policy.checkUrl(new URL(url))?.message ?? null,
  };
  const namespaces: Namespaces<ReturnType<typeof lead>> = new Namespaces({
    store,
    clock,
    log,
    duties,
    lead: (record) => lead(shared, record),
    onOpen: () => tokens.load(),
  });
  const tokens: Tokens = new Tokens({
    store,
    clock,
    log,
    ask: (question) => namespaces.ask(question),
    onChange: () => gateway.checkTokens(),
  });
  const audit = new AuditTrail({ store, clock, log, ask: (question) => namespaces.ask(question) });
  const disk = diskOf(databaseUrl);
  const of = { namespaces, duties, policy, disk };
  const { alerts, parts } = alerting(shared, { ...of, resolver, secrets: notifySecrets });
  const { gateway, http } = doors(shared, { ...of, tokens, audit, alerts, certificate });
  metrics.watch(namespaces, [namespaces, http, notifier, log], alerts, certificate);
  const duly = certificate === null ? parts : [...parts, certificate];
  const inside = { clock, store, notifier, resolver, namespaces, tokens, duties, notifySecrets };
  return { ...inside, gateway, http, duly };
}

/** Null: no TLS. */
async function certificateOf(
  { tlsCert: cert, tlsKey: key }: Config,
  of: Pick<Parameters<typeof Certificate.begin>[0], 'clock' | 'log' | 'duties'>,
): Promise<Certificate | null> {
  if (cert === null || key === null) return null;
  return Certificate.begin({ ...of, read: tlsPairReader({ cert, key }) });
}

/** Where clients and executors come in. */
function doors(
  { config, evenClock, metrics, log, spare, rareLog, refusalOf }: Shared,
  inside: {
    readonly namespaces: Namespaces<ReturnType<typeof lead>>;
    readonly tokens: Tokens;
    readonly audit: AuditTrail;
    readonly alerts: Alerts;
    readonly duties: Duties;
    readonly policy: AddressPolicy;
    readonly disk: Disk;
    readonly certificate: Certificate | null;
  },
): { readonly gateway: ExecutorGateway; readonly http: HttpServer } {
  const { namespaces, tokens, audit, alerts, duties, disk, certificate } = inside;
  const { host, port } = config;
  const logins = new Logins(`${hostname()} ${config.dataDir} ${port}`, () => evenClock.now());
  const authorizer = createAuthorizer(config, tokens, logins, rareLog);
  const connections = new Connections(connectionCountMax(), rareLog);
  const gateway = new ExecutorGateway({
    authorize(request, namespace) {
      const refusal = connections.refusalOf(request);
      if (refusal !== null) throw refusal;
      return authorizeExecutor(authorizer, request, namespace);
    },
    endOf: (actor) => authorizer.endOf(actor),
    namespaces,
    log: spare,
  });
  const http = createHttpServer({
    namespaces,
    authorizer,
    tokens,
    audit,
    alerts,
    connections,
    certificate,
    duties,
    console: builtIn('console'),
    docs: builtIn('docs'),
    disk,
    metrics,
    log,
    rareLog,
    host,
    port,
    version: VERSION,
    feedLevel: config.events,
    refusalOfReceiver: refusalOf,
  });
  return { gateway, http };
}

/** What all namespaces have in common. */
interface Shared {
  readonly config: Config;
  readonly clock: Clock;
  readonly evenClock: Clock;
  readonly store: Store;
  readonly notifier: HttpNotifier;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly spare: Log;
  readonly rareLog: Log;
  readonly owner: string;
  readonly turnstiles: Turnstiles;
  readonly tallies: Readonly<Record<'frames' | 'sent' | 'logged', Tally>>;
  readonly engineDuties: Observer;
  readonly ledCount: () => number;
  readonly pauseOfAll: () => Pause | null;
  readonly hear: Alerts['hear'];
  readonly refusalOf: (url: string) => string | null;
}

/** What leads one namespace; nothing of it has begun yet. */
function lead(shared: Shared, record: NamespaceRecord) {
  const { id, name } = record;
  const { config, metrics, owner, turnstiles: lines, evenClock } = shared;
  const { frames, sent, logged: held } = shared.tallies;
  const { leaseMs, logBytes: bytesMax } = config;
  const log = logWith(shared.log, { namespace: name });
  // When the process follows the wall clock, a namespace does as soon as its engine can.
  const clock = createClock(() => shared.clock.now());
  const store = shared.store.tasks(id);
  const logs = new TaskLogs({ store, clock: evenClock, log, bytesMax, held });
  const { watched, observer } = watch(record, clock, shared.hear);
  const sessions = new ExecutorSessions({
    namespace: name,
    clock: evenClock,
    heartbeatMs: Math.floor(leaseMs / HEARTBEATS_PER_LEASE),
    leaseMs,
    requiresMac: config.requireMac,
    createId: randomUUID,
    sent,
    logs,
    keepsEvents: config.events !== 'none',
  });
  const notifier = shared.notifier.of({
    namespace: name,
    post: (event) => engine.post(event),
    findTask: (taskId) => store.readTask(taskId),
  });
  const engine: Engine = new Engine({
    store,
    clock,
    link: sessions,
    notifier,
    observer: all([
      metrics.of(name),
      createLogObserver(log, config.logLevel, logWith(shared.spare, { namespace: name })),
      shared.engineDuties,
      observer,
    ]),
    log,
    policy: policyOf(config, shared.ledCount),
    owner,
    seed: clock.now() + id,
    pauseOfAll: shared.pauseOfAll,
    frames,
    rebuilds: lines.rebuilds,
    templates: new JobTemplates(name, shared.refusalOf),
  });
  const { outcomes, load } = watched;
  const of = { store, clock, namespace: name, turnstiles: lines, outcomes, load, logs };
  const master = new Master({ engine, ...of });
  sessions.attach(master);
  return { engine, sessions, logs, master, watched };
}

function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
