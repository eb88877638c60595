/**
 * The alerts of one master process: what looks, writes and tells is what is shipped. Simulated are the store under it, and
 * receivers that fail, hang and vanish.
 */
import { Alerts } from '../../../master/application/alerts/alerts.ts';
import { type Watching, watch } from '../../../master/application/alerts/watch.ts';
import type { Master } from '../../../master/application/master.ts';
import type {
  AlertDelivery,
  AlertSender,
  AlertStore,
  AlertTry,
  Clock,
  Log,
  Observer,
} from '../../../master/application/ports.ts';
import { DEFAULT_NAMESPACE_ID, TermLost } from '../../../master/application/ports.ts';
import { Duties } from '../../../master/application/process/duties.ts';
import { type AlertReceiver, plainRule } from '../../../master/domain/alerts/rule.ts';
import type { Health } from '../../../master/domain/health/health.ts';
import type { State } from '../../../master/domain/state/state.ts';
import { memoryAlerts } from '../../../master/infrastructure/memory/alerts.ts';
import { MemoryAudit } from '../../../master/infrastructure/memory/audit.ts';
import {
  AlertChecks,
  LOOK_COUNT,
  NOBODY_SECONDS,
  NobodyChecks,
} from '../checks/observing/alerts.ts';
import { HealthChecks } from '../checks/observing/health.ts';
import { sightOf } from '../checks/observing/sight.ts';
import type { Faults } from '../faults.ts';
import type { Ledger } from '../ledger.ts';
import { Random } from '../random.ts';
import type { SimStore } from '../store.ts';
import type { Process, World } from '../world.ts';

const HOOK = { channel: 'webhook', to: [], url: '', secret: null, template: null } as const;
/** A master looks every quarter of a minute, and for executors a minute after its start: few runs would be long enough for that. */
const LONG_MS = 15_000;
const HASTE = 5;
const EARLY_MS = 60_000 / HASTE;

/** Of all masters of a run. */
export interface AlertWorld {
  readonly rows: AlertStore;
  readonly checks: AlertChecks;
}

/** With what people have set before it begins. */
export function alertWorld(world: World): AlertWorld {
  const rows = memoryAlerts(new MemoryAudit());
  const checks = new AlertChecks(world);
  for (const name of ['r1', 'r2']) {
    void rows.setReceiver(name, { name, ...HOOK });
    checks.receivers.add(name);
  }
  const nobody = { ...plainRule('no_executor', 'no_executor'), threshold: NOBODY_SECONDS };
  const message = { ...plainRule('message', 'message'), windowMs: 10_000 };
  for (const rule of [nobody, message]) {
    void rows.setRule(rule.name, { ...rule, repeatMs: 15_000, checkCount: LOOK_COUNT });
  }
  return { rows, checks };
}

/** What alerts stand on. */
export interface AlertPorts {
  readonly store: AlertStore;
  readonly sender: AlertSender;
}

interface SimAlertsOptions {
  readonly process: Process;
  readonly all: AlertWorld;
  readonly ledger: Ledger;
  readonly faults: Faults;
  readonly seed: number;
  readonly log: Log;
  readonly store: SimStore;
  readonly master: () => Pick<Master, 'term' | 'health'>;
  readonly state: () => State | null;
  readonly leaseMs: number;
  /** Wraps the ports, to inject a bug. */
  readonly sabotage?: ((ports: AlertPorts) => AlertPorts) | undefined;
}

export class SimAlerts {
  readonly alerts: Alerts;
  readonly observer: Observer;
  /** When it began, by its clock; null: it has not. */
  startedAt: number | null = null;
  readonly #options: SimAlertsOptions;
  readonly #watched: Watching;
  readonly #nobody: NobodyChecks;
  readonly #health: HealthChecks;
  readonly #random: Random;
  #lastId = 0;

  constructor(options: SimAlertsOptions) {
    const { process, log, all, seed, leaseMs, sabotage = (ports) => ports } = options;
    this.#options = options;
    this.#random = new Random(seed ^ 0xa1e27);
    this.#nobody = new NobodyChecks(process.world, all.checks);
    this.#health = new HealthChecks(process.world, leaseMs);
    const led = { id: DEFAULT_NAMESPACE_ID, name: 'default' };
    const { watched, observer } = watch(led, process, (message) => {
      all.checks.said.add(message.subject);
      this.alerts.hear(message);
    });
    this.#watched = watched;
    this.observer = observer;
    const { store, sender } = sabotage({
      store: this.#store(),
      sender: {
        send: (receiver, message) => this.#send(receiver, message),
        refusalOf: () => null,
      },
    });
    this.alerts = new Alerts({
      ...{ log, rareLog: log, sender, clock: hasty(process), duties: new Duties(process) },
      store: { alerts: store },
      ask: (question) => question(),
      look: () => [this.#look()],
      disk: async () => null,
      newId: () => `${process.name}-al${++this.#lastId}`,
    });
  }

  start(): void {
    this.startedAt = this.#options.process.now();
    this.alerts.start();
  }

  #look() {
    const { process, ledger, faults, state: stateOf, master } = this.#options;
    const state = stateOf();
    const { term } = master();
    // Whoever was deposed may believe what he likes.
    if (state !== null && term === ledger.term) {
      const sight = sightOf(state, ledger, process.now());
      const isEarly = process.now() - (this.startedAt ?? 0) < EARLY_MS;
      if (!isEarly) this.#nobody.looked(sight, !faults.has('store'));
      const told = (health: Health | null): void => {
        if (health !== null) this.#health.looked({ ...sight, flow: health.flow.state });
      };
      master()
        .health()
        .then(told, () => undefined);
    }
    return { ...this.#watched, state };
  }

  /** Writes of whoever was deposed are refused. */
  #store(): AlertStore {
    const { all, store, ledger, master } = this.#options;
    const { rows, checks } = all;
    const asOwner = (write: () => Promise<void>) =>
      store.beside(async () => {
        if (master().term !== ledger.term) throw new TermLost('another master has begun a term');
        await write();
      });
    return {
      load: (now) => store.beside(() => rows.load(now)),
      listCleared: (...of) => store.beside(() => rows.listCleared(...of)),
      drop: (before) => asOwner(() => rows.drop(before)),
      setRule: (...of) => asOwner(() => rows.setRule(...of)),
      setReceiver: (name, ...of) =>
        asOwner(async () => {
          await rows.setReceiver(name, ...of);
          checks.receivers.delete(name);
        }),
      write: (alerts, deliveries, audit) =>
        asOwner(async () => {
          await rows.write(alerts, deliveries, audit);
          checks.written(alerts, deliveries, this.#nobody);
        }),
    };
  }

  #send({ name }: AlertReceiver, message: Pick<AlertDelivery, 'id' | 'told'>): Promise<AlertTry> {
    const { all, faults, process } = this.#options;
    const { checks } = all;
    checks.sent(name, message);
    const misbehaves = faults.has('notify');
    const answer = this.#random.weighted({
      taken: 60,
      refused: misbehaves ? 15 : 0,
      hangs: misbehaves ? 10 : 0,
      answer_lost: misbehaves ? 10 : 0,
      gone: misbehaves ? 2 : 0,
    });
    process.world.log(`${process.name}: ${name} is told ${message.id}: ${answer}`);
    if (answer === 'taken' || answer === 'answer_lost') checks.received(name, message.told);
    const isFinal = answer === 'gone';
    const error = answer === 'taken' ? null : answer;
    const longestMs = answer === 'hangs' ? 20_000 : misbehaves ? 2_000 : 200;
    return new Promise((resolve) => {
      process.after(this.#random.between(1, longestMs), () => {
        if (isFinal) checks.gaveUp(name, message.told);
        resolve({ error, isFinal });
      });
    });
  }
}

/** What takes long for it takes less. */
function hasty(clock: Clock): Clock {
  return {
    now: () => clock.now(),
    departureMs: () => clock.departureMs(),
    followWall: () => clock.followWall(),
    soon: (call) => clock.soon(call),
    wakeAt: (at, call) => {
      const waitMs = at - clock.now();
      return clock.wakeAt(waitMs < LONG_MS ? at : clock.now() + waitMs / HASTE, call);
    },
  };
}
