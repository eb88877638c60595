/**
 * One run: a master (or two), executors, clients and receivers in a storm of faults, then a calm
 * in which everything that was accepted must come to its end. Returns what was found and the
 * trace; the same settings give the same trace, byte for byte.
 */
import { Random } from './random.ts';
import { MemoryTaskStore } from '../../master/infrastructure/memory/task-store.ts';
import { type AlertWorld, alertWorld } from './actors/alerts.ts';
import { Clients } from './actors/client.ts';
import { type FaultClasses, Faults, type Settings } from './faults.ts';
import { Fleet } from './actors/fleet.ts';
import { JobOperator } from './operators/job-operator.ts';
import { Ledger } from './ledger.ts';
import { MasterProcess, type Sabotage } from './actors/master-process.ts';
import { LogChecks } from './checks/observing/logs.ts';
import { AlertOperator } from './operators/alert-operator.ts';
import { BookingOperator } from './operators/booking-operator.ts';
import { BulkOperator } from './operators/bulk-operator.ts';
import type { Operator } from './operators/operator.ts';
import { SettingsOperator } from './operators/settings-operator.ts';
import { OrderOperator } from './operators/order-operator.ts';
import { LimitOperator } from './operators/limit-operator.ts';
import { TaskOperator } from './operators/task-operator.ts';
import { PauseOperator } from './operators/pause-operator.ts';
import { TypeOperator } from './operators/type-operator.ts';
import { Network, type Socket } from './network.ts';
import { type Process, World } from './world.ts';

/** Everything must have ended so long after the faults: retries, leases and callbacks included. */
const CALM_MS_MAX = 30 * 60_000;
/** Two leases: whatever was to follow has followed. */
const QUIET_MS = 40_000;
/** A master looks at its wall clock every ten seconds, and follows it ahead once that has lasted a minute. */
const FOLLOW_MS = 90_000;

export interface Outcome {
  /** Null: all invariants held. */
  readonly violation: string | null;
  readonly trace: readonly string[];
  readonly stepCount: number;
  readonly commitCount: number;
  readonly taskCount: number;
}

export async function simulate(settings: Settings, sabotage?: Sabotage): Promise<Outcome> {
  const run = new Run(settings, sabotage);
  await run.storm();
  await run.calm();
  return run.outcome();
}

class Run {
  readonly #settings: Settings;
  readonly #sabotage: Sabotage | undefined;
  readonly #world: World;
  readonly #faults: Faults;
  readonly #ledger: Ledger;
  readonly #network: Network;
  readonly #rows = new MemoryTaskStore();
  readonly #alerts: AlertWorld;
  readonly #logs: LogChecks | null;
  readonly #fleet: Fleet;
  readonly #clients: Clients;
  readonly #pauseOperator: PauseOperator;
  /** Those of this run, in the order in which they begin. */
  readonly #operators: readonly Operator[];
  readonly #masters = new Set<MasterProcess>();
  /** The one that the service address leads to. */
  #master: MasterProcess | null = null;
  #masterCount = 0;

  constructor(settings: Settings, sabotage: Sabotage | undefined) {
    this.#settings = settings;
    this.#sabotage = sabotage;
    this.#world = new World(settings.seed);
    this.#world.log(`seed ${settings.seed} ${JSON.stringify(settings)}`);
    const world = this.#world;
    const faults = new Faults(settings.faults);
    const ledger = new Ledger(world, faults, settings.policy);
    const network = new Network(world, settings.networkLatencyMsMax);
    this.#faults = faults;
    this.#ledger = ledger;
    this.#network = network;
    this.#alerts = alertWorld(world);
    this.#logs = settings.writesLogs ? new LogChecks(world, ledger, faults) : null;
    const dial = (from: Process) => this.#dial(from);
    const { longRunChance, flipsReadiness, hasDisks, usesRacks: hasRacks } = settings;
    this.#fleet = new Fleet(world, {
      ledger,
      faults,
      network,
      longRunChance,
      flipsReadiness,
      tells: settings.tellsEvents ? new Random(settings.seed ^ 0x7e115) : null,
      logs: this.#logs && { random: new Random(settings.seed ^ 0x106), checks: this.#logs },
      hears: settings.booksExecutors ? new Random(settings.seed ^ 0x4ea5) : null,
      hasDisks,
      hasRacks,
      dial,
      sabotage: sabotage?.executor,
    });
    const master = () => this.#reachable();
    const executorIds = () => this.#fleet.ids;
    this.#clients = new Clients({ world, settings, ledger, faults, master, executorIds });
    const options = { world, ledger, settings, master };
    this.#pauseOperator = new PauseOperator(options);
    const { limitsTypes, sharesTypes, routesTypes, booksExecutors } = settings;
    const operators: readonly (readonly [boolean, Operator])[] = [
      [settings.hasOperator, new SettingsOperator(options)],
      [limitsTypes || sharesTypes || routesTypes || booksExecutors, new TypeOperator(options)],
      [settings.usesLimits, new LimitOperator(options)],
      [settings.suspends, new TaskOperator(options)],
      [settings.pausesParts, this.#pauseOperator],
      [settings.runsOperations, new BulkOperator(options)],
      [settings.movesTasks, new OrderOperator(options)],
      [booksExecutors, new BookingOperator(options)],
      [settings.firesJobs, new JobOperator(options)],
      [settings.raisesAlerts, new AlertOperator(options, this.#alerts.checks)],
    ];
    this.#operators = operators.filter(([isThere]) => isThere).map(([, operator]) => operator);
  }

  async storm(): Promise<void> {
    this.#startMaster();
    this.#fleet.start(this.#settings.executorCount);
    this.#clients.start();
    for (const operator of this.#operators) operator.start();
    this.#setWallLater();
    this.#disturbLater();
    await this.#world.run(this.#settings.stormMs, () => false);
  }

  async calm(): Promise<void> {
    this.#world.log('calm');
    this.#faults.isStorm = false;
    this.#faults.storeDownUntil = 0;
    this.#faults.storeFrozenUntil = 0;
    for (const { process } of this.#masters) if (process.isPaused) process.resume();
    this.#fleet.heal();
    for (const operator of this.#operators) operator.calmDown();
    await this.#world.run(CALM_MS_MAX, () => this.#isSettled());
    if (!this.#isSettled()) this.#violate('I2', this.#unsettled());
    const wasSet = this.#world.wallsMs.length > 1;
    await this.#world.run(wasSet ? FOLLOW_MS : QUIET_MS, () => false);
    this.#checkEnd();
    await this.#ledger.usage.checkEnd(this.#rows);
  }

  outcome(): Outcome {
    const { violation, trace, stepCount } = this.#world;
    const { commitCount, history } = this.#ledger;
    return { violation, trace, stepCount, commitCount, taskCount: history.size };
  }

  #startMaster(): void {
    const count = ++this.#masterCount;
    const master = new MasterProcess({
      world: this.#world,
      name: `m${count}`,
      seed: this.#settings.seed + count,
      settings: this.#settings,
      rows: this.#rows,
      ledger: this.#ledger,
      faults: this.#faults,
      network: this.#network,
      alerts: this.#settings.raisesAlerts ? this.#alerts : null,
      logs: this.#logs,
      pauseOfAll: () => this.#pauseOperator.ofAll,
      onEnd: (ended) => this.#masterEnded(ended),
      ...(this.#sabotage && { sabotage: this.#sabotage }),
    });
    this.#masters.add(master);
    this.#master = master;
    void master.run();
  }

  #masterEnded(ended: MasterProcess): void {
    this.#masters.delete(ended);
    if (this.#master !== ended) return;
    this.#world.after(this.#world.random.between(100, 5_000), () => {
      if (this.#master === ended) this.#startMaster();
    });
  }

  /** Who answers at the service address: now and then still an old master that is up. */
  #reachable(): MasterProcess | null {
    const { random } = this.#world;
    if (this.#masters.size > 1 && random.chance(0.1))
      return random.pick([...this.#masters]) ?? null;
    return this.#master?.process.isAlive ? this.#master : null;
  }

  #dial(from: Process): Socket | null {
    const master = this.#reachable();
    if (master === null) return null;
    const { near, far } = this.#network.connect(from, master.process);
    master.process.deliver(() => {
      const { status } = master.handle;
      if (status === 'ready' || status === 'recovering') master.link.open(far);
      else far.terminate();
    });
    return near;
  }

  /** One step in each part of the storm: a master follows within some minutes. */
  #setWallLater(): void {
    const { wallStepsMs, stormMs } = this.#settings;
    wallStepsMs.forEach((byMs, index) => {
      const afterMs = (stormMs * (index + 0.5)) / wallStepsMs.length;
      this.#world.after(afterMs, () => this.#world.setWall(byMs));
    });
  }

  #disturbLater(): void {
    this.#world.after(this.#world.random.between(100, this.#settings.disturbMsMax), () => {
      if (!this.#faults.isStorm) return;
      this.#disturb();
      this.#disturbLater();
    });
  }

  #disturb(): void {
    const { random } = this.#world;
    const names = Object.keys(this.#faults.classes) as (keyof FaultClasses)[];
    const fault = random.pick(names.filter((name) => this.#faults.has(name)));
    switch (fault) {
      case 'network':
        if (random.chance(0.4)) return this.#network.breakOne();
        if (random.chance(0.5)) return this.#network.swallowOne();
        return this.#network.delayOne(random.between(100, 20_000));
      case 'store':
        if (random.chance(0.3)) {
          this.#faults.storeFrozenUntil = this.#world.now + random.between(100, 30_000);
          return this.#world.log('the store is frozen for a while');
        }
        this.#faults.storeDownUntil = this.#world.now + random.between(100, 20_000);
        return this.#world.log('the store is down for a while');
      case 'masterCrash':
        if (random.chance(0.3)) return void this.#master?.engine.stop();
        return this.#master?.kill();
      case 'masterPause':
        return this.#pauseMaster();
      case 'executorCrash':
        if (random.chance(0.2)) return this.#fleet.doubleOne();
        return random.chance(0.3) ? this.#fleet.drainOne() : this.#fleet.crashOne();
      case 'executorPause':
        return this.#fleet.pauseOne(random.between(500, 40_000));
      case 'handlers':
      case 'notify':
      case undefined:
    }
  }

  /** Another may take over while it stands still, or even while it runs. */
  #pauseMaster(): void {
    const master = this.#master;
    const { random } = this.#world;
    if (master === null || !master.process.isAlive || master.process.isPaused) return;
    const takeOver = random.chance(0.6);
    if (takeOver && random.chance(0.4)) return this.#startMaster();
    master.process.pause();
    this.#world.after(random.between(500, 40_000), () => {
      if (master.process.isPaused) master.process.resume();
    });
    if (takeOver) {
      this.#world.after(random.between(0, 3_000), () => {
        if (this.#master === master) this.#startMaster();
      });
    }
  }

  #isSettled(): boolean {
    const { live, callbacks, operations } = this.#ledger;
    return (
      this.#clients.pendingCount + live.size + callbacks.pendingCount + operations.openCount === 0
    );
  }

  #unsettled(): string {
    const { live, callbacks: of, operations } = this.#ledger;
    const tasks = [...live.values()].map(({ id, state, dueAt }) => `${id} ${state} due ${dueAt}`);
    const callbacks = [...of.rows.values()].filter(({ state }) => state === 'pending');
    const waiting = callbacks.map(({ taskId, tries }) => `callback of ${taskId} after ${tries}`);
    const requests = `${this.#clients.pendingCount} requests`;
    const all = [...tasks, ...waiting, requests, `${operations.openCount} operations`];
    return `not ended ${CALM_MS_MAX / 60_000} minutes after the faults: ${all.join(', ')}`;
  }

  #checkEnd(): void {
    for (const id of this.#clients.accepted) {
      if (!this.#ledger.wasAccepted(id)) this.#violate('I1', `${id} was accepted and is lost`);
    }
    this.#ledger.callbacks.checkEnd();
    this.#logs?.checkEnd();
    this.#checkAlerts();
    if (this.#ledger.children.count > 0) this.#violate('I14', 'an attempt runs on after its task');
    const state = this.#master?.engine.state ?? null;
    if (state === null) return this.#violate('I2', 'there is no master at the end');
    if (this.#settings.wallAheadMs === 0 && this.#master?.process.now() !== this.#world.wall) {
      this.#violate('C1', 'the wall clock was set, and the master does not follow it');
    }
    const leaked = {
      tasks: state.tasks.size,
      waiting: state.waitingCount,
      windows: state.windowCount,
      holdings: state.holdings.size,
      unwritten: state.unwritten.size,
      notifying: state.notifying.size,
      notifications: state.notifications.size,
      occupied: [...state.executors.values()].filter(({ occupation }) => occupation).length,
      strangers: Math.max(0, state.executors.size - this.#fleet.size),
    };
    if (Object.values(leaked).some((count) => count > 0)) {
      this.#violate('M4', `left behind: ${JSON.stringify(leaked)}`);
    }
  }

  #checkAlerts(): void {
    const { process, alerts } = this.#master ?? {};
    const since = alerts?.startedAt ?? null;
    if (process === undefined || since === null) return;
    this.#alerts.checks.checkEnd(process.now(), since);
  }

  #violate(invariant: string, what: string): void {
    this.#world.violate(invariant, what);
  }
}
