/**
 * Counters and histograms in the words of Prometheus. Labels never hold a task id, a user or a
 * host; task types and namespaces are the users' words, so that only so many of them get a label of
 * their own.
 */
import { DEFAULT_NAMESPACE } from '@soda-scheduler/protocol';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Observer } from '../../application/ports.ts';
import type { Backlog } from '../../domain/views/backlog.ts';
import {
  type Fill,
  LIMIT_LABELS_MAX,
  NAMESPACE_LABELS_MAX,
  TYPE_LABELS_MAX,
} from '../../domain/bounds.ts';
import type { Observation } from '../../domain/effects.ts';
import { type Executor, stateOf } from '../../domain/model/executor.ts';
import type { Task } from '../../domain/model/task.ts';

const FAST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const SLOW_SECONDS = [0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400];
const executorStates = ['connecting', 'idle', 'offered', 'busy', 'draining'] as const;

/** What is read at the moment of a scrape. */
export interface Scraped {
  readonly status: string;
  /** Those that are led. */
  readonly leaders: readonly { readonly master: ScrapedNamespace }[];
}

interface ScrapedNamespace {
  readonly namespace: string;
  readonly term: number;
  executors(): readonly Executor[];
  backlog(): Backlog;
}

/** Something that holds no more than it may. */
export interface Bounded {
  fills(): readonly Fill[];
}

export interface Metrics {
  /** Counts what happens in one namespace. */
  of(namespace: string): Observer;
  answered(route: string, status: number, seconds: number): void;
  render(): Promise<{ readonly contentType: string; readonly text: string }>;
  /** From now on scrapes read the fleet and the bounds from here. Until then those gauges are empty. */
  watch(scraped: Scraped, bounded: readonly Bounded[]): void;
}

export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const meters = createMeters(registry);
  const others = boundedLabels(NAMESPACE_LABELS_MAX, '(other)');
  const labels: Labels = {
    typeOf: boundedLabels(TYPE_LABELS_MAX, 'other'),
    limitOf: boundedLabels(LIMIT_LABELS_MAX, null),
    // It keeps its name, however many others have work first.
    namespaceOf: (name) => (name === DEFAULT_NAMESPACE ? name : others(name)),
  };
  const backlogs = new Map<ScrapedNamespace, Backlog>();
  meters.buildInfo.set({ version, node: process.version }, 1);

  return {
    of: (namespace) => ({
      observe: (seen) => count(meters, labels.typeOf, labels.namespaceOf(namespace), seen),
      turned: (eventCount, commitMs) => {
        meters.turnEvents.observe(eventCount);
        if (commitMs > 0) meters.dbSeconds.observe({ op: 'commit' }, commitMs / 1000);
      },
    }),
    answered: (route, status, seconds) => {
      meters.httpRequests.inc({ route, status });
      meters.httpSeconds.observe({ route }, seconds);
    },
    render: async () => {
      // Each costs a look at every lane: one for all gauges of a scrape, and none is kept after it.
      const text = await registry.metrics().finally(() => backlogs.clear());
      return { contentType: registry.contentType, text };
    },
    watch: (scraped, bounded) => {
      const gauge = gaugesIn(registry);
      watchNamespaces(gauge, labels, scraped, (master) => {
        const backlog = backlogs.get(master) ?? master.backlog();
        backlogs.set(master, backlog);
        return backlog;
      });
      watchProcess(gauge, scraped, bounded);
    },
  };
}

type Meters = ReturnType<typeof createMeters>;

/** What a name is called in a label. */
interface Labels {
  readonly typeOf: (type: string) => string;
  /** Null: it has no figures, for those of several limits have no sum. */
  readonly limitOf: (limit: string) => string | null;
  /** Asked only once there is something to count: the first so many with work are those with a name. */
  readonly namespaceOf: (namespace: string) => string;
}

function createMeters(registry: Registry) {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name: `scheduler_${name}`, help, labelNames: [...labelNames], registers });
  const histogram = <L extends string>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly L[] = [],
  ) =>
    new Histogram({
      name: `scheduler_${name}`,
      help,
      buckets: [...buckets],
      labelNames: [...labelNames],
      registers,
    });

  const ns = 'namespace';
  const callbacksEnded = counter('callbacks_ended_total', 'Callbacks tried no more.', [
    ns,
    'state',
  ]);
  // Before the first: an increase is seen only from a value that was there.
  for (const state of ['delivered', 'gave_up']) {
    callbacksEnded.inc({ namespace: DEFAULT_NAMESPACE, state }, 0);
  }

  return {
    submitted: counter('tasks_submitted_total', 'Tasks accepted.', [ns, 'type']),
    finished: counter('tasks_finished_total', 'Tasks that ended.', [ns, 'type', 'result']),
    startsOverdue: counter('tasks_start_overdue_total', 'Tasks not started in time.', [ns, 'type']),
    attempts: counter('task_attempts_total', 'Attempts that ended.', [ns, 'type', 'result']),
    rejected: counter('dispatch_rejected_total', 'Offers not taken.', [ns, 'reason']),
    leasesExpired: counter('leases_expired_total', 'Executors lost.', [ns]),
    staleAttempts: counter('stale_attempts_total', 'Reports of ended attempts, refused.', [ns]),
    callbacks: counter('callbacks_total', 'Tries to deliver a callback.', [ns, 'result']),
    callbacksEnded,
    httpRequests: counter('http_requests_total', 'Requests answered.', ['route', 'status']),
    waited: histogram('schedule_to_start_seconds', 'From due to started.', SLOW_SECONDS, [ns]),
    ran: histogram('task_duration_seconds', 'From the last start to the end.', SLOW_SECONDS, [ns]),
    dbSeconds: histogram('db_seconds', 'Time in the store.', FAST_SECONDS, ['op']),
    httpSeconds: histogram('http_request_seconds', 'Time to answer.', FAST_SECONDS, ['route']),
    turnEvents: histogram(
      'turn_events',
      'Events that one turn of the engine took.',
      [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
    ),
    buildInfo: new Gauge({
      name: 'scheduler_build_info',
      help: 'Always 1; its labels tell what runs.',
      labelNames: ['version', 'node'],
      registers,
    }),
  };
}

function count(
  meters: Meters,
  typeOf: Labels['typeOf'],
  namespace: string,
  seen: Observation,
): void {
  switch (seen.event) {
    case 'task_accepted':
      meters.submitted.inc({ namespace, type: typeOf(seen.task.type) });
      break;
    case 'task_started':
      meters.waited.observe({ namespace }, seen.waitedMs / 1000);
      break;
    case 'start_overdue':
      meters.startsOverdue.inc({ namespace, type: typeOf(seen.task.type) });
      break;
    case 'attempt_ended': {
      const { outcome } = seen.attempt;
      meters.attempts.inc({ namespace, type: typeOf(seen.task.type), result: outcome });
      if (outcome === 'rejected' || outcome === 'assign_timeout') {
        meters.rejected.inc({ namespace, reason: outcome });
      }
      break;
    }
    case 'task_finished':
      meters.finished.inc({ namespace, type: typeOf(seen.task.type), result: seen.task.state });
      observeDuration(meters, namespace, seen.task);
      break;
    case 'executor_lost':
      meters.leasesExpired.inc({ namespace });
      break;
    case 'stale_attempt':
      meters.staleAttempts.inc({ namespace });
      break;
    case 'notification_tried':
      meters.callbacks.inc({ namespace, result: seen.outcome });
      break;
    case 'notification_ended':
      meters.callbacksEnded.inc({ namespace, state: seen.notification.state });
      break;
    case 'executor_joined':
    case 'executor_left':
    case 'executor_readiness':
    case 'overdue_swept':
    case 'work_ended':
    case 'restored':
      break;
  }
}

function observeDuration(meters: Meters, namespace: string, { startedAt, finishedAt }: Task): void {
  if (startedAt === null || finishedAt === null) return;
  meters.ran.observe({ namespace }, (finishedAt - startedAt) / 1000);
}

/** Makes gauges that are read at the moment of a scrape. */
function gaugesIn(registry: Registry) {
  return <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    collect: (gauge: Gauge<L>) => void,
  ) =>
    registry.registerMetric(
      new Gauge({
        name: `scheduler_${name}`,
        help,
        labelNames: [...labelNames],
        registers: [],
        collect() {
          this.reset();
          collect(this);
        },
      }),
    );
}

type MakeGauge = ReturnType<typeof gaugesIn>;

function watchNamespaces(
  gauge: MakeGauge,
  labels: Labels,
  scraped: Scraped,
  backlogOf: (master: ScrapedNamespace) => Backlog,
): void {
  const ns = 'namespace';
  const each: Each = (read) => {
    for (const { master } of scraped.leaders) read(labels.namespaceOf(master.namespace), master);
  };

  gauge('executors', 'Executors the master knows, by state.', [ns, 'state'], (executors) =>
    each((namespace, master) => {
      for (const state of executorStates) executors.inc({ namespace, state }, 0);
      for (const executor of master.executors()) {
        executors.inc({ namespace, state: stateOf(executor) });
      }
    }),
  );
  gauge('executors_not_ready', 'Executors that say that they cannot work.', [ns], (unready) =>
    each((namespace, master) => {
      const here = master.executors().filter(({ connected }) => connected);
      unready.inc({ namespace }, here.filter(({ readiness }) => !readiness.ok).length);
    }),
  );
  gauge('executors_without_mac', 'Executors that cannot prove what they run.', [], (count) =>
    each((_namespace, master) => {
      const joined = master.executors().filter(({ sessionId }) => sessionId !== null);
      count.inc(joined.filter(({ usesMac }) => !usesMac).length);
    }),
  );
  watchTasks(gauge, labels, each, backlogOf);
  watchLimits(gauge, labels, each, backlogOf);
  gauge('cache_entries', 'Waiting tasks held in memory.', [ns], (entries) =>
    each((namespace, master) => entries.inc({ namespace }, backlogOf(master).cachedCount)),
  );
  gauge('callback_pending', 'Callbacks in flight or due again, as memory knows.', [ns], (pending) =>
    each((namespace, master) => pending.inc({ namespace }, backlogOf(master).pendingCallbackCount)),
  );
}

type Each = (read: (namespace: string, master: ScrapedNamespace) => void) => void;

function watchTasks(
  gauge: MakeGauge,
  labels: Labels,
  each: Each,
  backlogOf: (master: ScrapedNamespace) => Backlog,
): void {
  const ns = 'namespace';
  gauge('tasks', 'Tasks that wait or run.', [ns, 'type', 'state'], (tasks) =>
    each((namespace, master) => {
      for (const { type: name, ...of } of backlogOf(master).types) {
        const type = labels.typeOf(name);
        const counts = { waiting: of.waitingCount, held: of.heldCount, running: of.runningCount };
        const all = Object.entries({ ...counts, suspended: of.suspendedCount });
        for (const [state, count] of all) tasks.inc({ namespace, type, state }, count);
      }
    }),
  );
  gauge('tasks_paused', 'Of those that wait, how many a pause keeps.', [ns, 'type'], (paused) =>
    each((namespace, master) => {
      for (const { type: name, pausedCount } of backlogOf(master).types) {
        paused.inc({ namespace, type: labels.typeOf(name) }, pausedCount);
      }
    }),
  );
  gauge(
    'oldest_waiting_seconds',
    'How long the first due task has waited.',
    [ns, 'type'],
    (oldest) => {
      const found: { namespace: string; type: string; waitedMs: number }[] = [];
      each((namespace, master) => {
        for (const { type, oldestWaitingMs: waitedMs } of backlogOf(master).types) {
          found.push({ namespace, type: labels.typeOf(type), waitedMs });
        }
      });
      // Where several share their labels, the longest wait is the one that stays.
      found.sort((a, b) => a.waitedMs - b.waitedMs);
      for (const { namespace, type, waitedMs } of found) {
        oldest.set({ namespace, type }, waitedMs / 1000);
      }
    },
  );
}

function watchLimits(
  gauge: MakeGauge,
  labels: Labels,
  each: Each,
  backlogOf: (master: ScrapedNamespace) => Backlog,
): void {
  const named = ['namespace', 'limit'] as const;
  gauge('limit_used', 'What is taken of a shared limit, where most is.', named, (taken) =>
    each((namespace, master) => {
      for (const { name, used } of backlogOf(master).limits) {
        const limit = labels.limitOf(name);
        if (limit !== null) taken.set({ namespace, limit }, used);
      }
    }),
  );
  gauge('limit_max', 'How much there is of it.', named, (most) =>
    each((namespace, master) => {
      for (const { name, max } of backlogOf(master).limits) {
        const limit = labels.limitOf(name);
        if (limit !== null) most.set({ namespace, limit }, max);
      }
    }),
  );
}

function watchProcess(gauge: MakeGauge, scraped: Scraped, bounded: readonly Bounded[]): void {
  gauge(
    'bound_used',
    'What is held of something bounded; its name has the unit.',
    ['bound'],
    (held) => {
      for (const { bound, used } of fullest(bounded)) held.set({ bound }, used);
    },
  );
  gauge('bound_limit', 'The most that may be held of it.', ['bound'], (held) => {
    for (const { bound, limit } of fullest(bounded)) held.set({ bound }, limit);
  });
  gauge('is_leader', '1 while this master takes work.', [], (leader) =>
    leader.set(scraped.status === 'ready' ? 1 : 0),
  );
  gauge('namespaces_led', 'Namespaces that have something to do, and `default`.', [], (led) =>
    led.set(scraped.leaders.length),
  );
  gauge('term', 'Of `default`: grows with every start or take-over.', [], (term) =>
    term.set(scraped.leaders[0]?.master.term ?? 0),
  );
}

/** Of several with one name the one that is fullest. */
function fullest(bounded: readonly Bounded[]): Iterable<Fill> {
  const byName = new Map<string, Fill>();
  for (const fill of bounded.flatMap((holder) => holder.fills())) {
    const known = byName.get(fill.bound);
    if (known !== undefined && known.used / known.limit >= fill.used / fill.limit) continue;
    byName.set(fill.bound, fill);
  }
  return byName.values();
}

/** The first so many names stay themselves: a label once given never changes its meaning. */
function boundedLabels<Rest extends string | null>(
  countMax: number,
  rest: Rest,
): (name: string) => string | Rest {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size >= countMax) return rest;
    known.add(name);
    return name;
  };
}
