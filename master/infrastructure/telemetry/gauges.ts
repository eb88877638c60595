/** Metrics that are read at the moment of a scrape: what waits and runs, who is there, and how full it is. */
import { setImmediate } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import type { Fill } from '../../domain/bounds.ts';
import { type Executor, stateOf } from '../../domain/model/executor.ts';
import { type Backlog, NO_BACKLOG } from '../../domain/views/backlog.ts';
import type { Alert } from '../../domain/alerts/alert.ts';
import type { Labels } from './labels.ts';

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
  backlog(): Promise<Backlog>;
}

/** Something that holds no more than it may. */
export interface Bounded {
  fills(): readonly Fill[];
}

/** What is alerted of now, in all namespaces. */
export interface Raised {
  readonly raisedNow: readonly Pick<Alert, 'kind' | 'severity'>[];
}

/** What the master shows to whoever connects by TLS. */
export interface Certified {
  readonly secondsLeft: number;
  readonly isStale: boolean;
}

/** What reads all metrics at once, as they are then. */
export type Scrape = <T>(read: () => Promise<T>) => Promise<T>;

/** From now on scrapes read the fleet and the bounds from here. */
export function watchGauges(
  registry: Registry,
  labels: Labels,
  scraped: Scraped,
  bounded: readonly Bounded[],
  alerts: Raised,
  certificate: Certified | null,
): Scrape {
  const gauge = gaugesIn(registry);
  // Each costs a look at every lane: one for all gauges of a scrape, and none is kept after it.
  let backlogs = new Map<ScrapedNamespace, Backlog>();
  watchNamespaces(gauge, labels, scraped, (master) => backlogs.get(master) ?? NO_BACKLOG);
  watchProcess(gauge, scraped, bounded);
  watchCertificate(gauge, certificate);
  gauge('alerts_raised', 'Alerts that last, silenced ones too.', ['kind', 'severity'], (raised) => {
    for (const { kind, severity } of alerts.raisedNow) raised.inc({ kind, severity });
  });
  return async (read) => {
    const found = new Map<ScrapedNamespace, Backlog>();
    for (const { master } of scraped.leaders) {
      found.set(master, await master.backlog());
      await setImmediate();
    }
    // Gauges are read while `read` is called: another scrape finds its own.
    backlogs = found;
    const text = read();
    backlogs = new Map();
    return text;
  };
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

function watchCertificate(gauge: MakeGauge, certificate: Certified | null): void {
  gauge('tls_certificate_seconds_left', 'Until the certificate expires.', [], (seconds) => {
    if (certificate !== null) seconds.set(certificate.secondsLeft);
  });
  gauge('tls_certificate_stale', '1: another one is there, and cannot be used.', [], (stale) => {
    if (certificate !== null) stale.set(certificate.isStale ? 1 : 0);
  });
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
        for (const [state, count] of statesOf(of)) tasks.inc({ namespace, type, state }, count);
      }
    }),
  );
  gauge('tasks_kept', 'Tasks that wait, by what keeps the first.', [ns, 'type', 'reason'], (kept) =>
    each((namespace, master) => {
      for (const { type, reason, count } of backlogOf(master).kept) {
        if (reason !== null) kept.inc({ namespace, type: labels.typeOf(type), reason }, count);
      }
    }),
  );
  gauge('group_tasks', 'Tasks that wait or run, by group.', [ns, 'group', 'state'], (tasks) =>
    each((namespace, master) => {
      for (const { group: name, ...of } of backlogOf(master).groups) {
        const group = labels.groupOf(name);
        for (const [state, count] of statesOf(of)) tasks.inc({ namespace, group, state }, count);
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

type Counts = Pick<
  Backlog['types'][0],
  'waitingCount' | 'heldCount' | 'runningCount' | 'suspendedCount'
>;

function statesOf({ waitingCount, heldCount, runningCount, suspendedCount }: Counts) {
  return [
    ['waiting', waitingCount],
    ['held', heldCount],
    ['running', runningCount],
    ['suspended', suspendedCount],
  ] as const;
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
