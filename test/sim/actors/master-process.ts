/** One master process: the real engine, master and id register between simulated ports. */
import type { Command } from '../../../master/domain/events.ts';
import { Engine } from '../../../master/application/engine/engine.ts';
import { TaskLogs } from '../../../master/application/logs/task-logs.ts';
import { Master } from '../../../master/application/master.ts';
import type { Pause } from '../../../master/domain/model/pause.ts';
import type { Commit, Log, Notifier, TaskStore } from '../../../master/application/ports.ts';
import { Duties } from '../../../master/application/process/duties.ts';
import { wallClockWatch } from '../../../master/application/process/wall-clock.ts';
import { turnstiles } from '../../../master/application/turnstile.ts';
import { templatesIn } from '../../helpers/jobs/templates.ts';
import { type AlertPorts, type AlertWorld, SimAlerts } from './alerts.ts';
import { SimNotifier } from './callbacks.ts';
import { TurnCheck } from '../checks/turn.ts';
import type { SessionSabotage } from './executor-kind.ts';
import type { Faults, Settings } from '../faults.ts';
import { LOG_BYTES_MAX, type LogChecks } from '../checks/observing/logs.ts';
import type { Ledger } from '../ledger.ts';
import { SimLink } from '../link.ts';
import type { Network } from '../network.ts';
import { SimStore } from '../store.ts';
import { Process, type World } from '../world.ts';

export interface MasterOptions {
  readonly world: World;
  readonly name: string;
  readonly seed: number;
  readonly settings: Settings;
  readonly rows: TaskStore;
  readonly ledger: Ledger;
  readonly faults: Faults;
  readonly network: Network;
  /** Null: nobody looks for what is wrong. */
  readonly alerts: AlertWorld | null;
  /** Null: nobody logs. */
  readonly logs: LogChecks | null;
  /** Of all namespaces, as it holds now. */
  readonly pauseOfAll: () => Pause | null;
  /** The process is gone. */
  readonly onEnd: (master: MasterProcess) => void;
  /** Wraps a port, to inject a bug that the checks must find. */
  readonly sabotage?: Sabotage;
}

/** Bugs come in here: `test/sim/mutants.ts`. */
export interface Sabotage {
  readonly engine?: (engine: Engine) => void;
  readonly store?: (store: TaskStore, ledger: Ledger) => TaskStore;
  readonly link?: (link: SimLink) => void;
  readonly notifier?: (notifier: Notifier) => void;
  readonly executor?: SessionSabotage;
  readonly alerts?: (ports: AlertPorts) => AlertPorts;
  readonly master?: (master: Master) => void;
}

export class MasterProcess {
  readonly process: Process;
  readonly engine: Engine;
  readonly handle: Master;
  readonly link: SimLink;
  /** Null: it looks for nothing. */
  readonly alerts: SimAlerts | null;
  readonly #options: MasterOptions;
  readonly #check: TurnCheck;
  readonly #store: SimStore;

  constructor(options: MasterOptions) {
    const { world, name, settings, ledger, faults, sabotage } = options;
    this.#options = options;
    this.process = new Process(world, name);
    this.process.wallAheadMs = settings.wallAheadMs;
    this.#check = new TurnCheck(this.process, ledger);
    const { process } = this;
    const latencyMsMax = settings.storeLatencyMsMax;
    const asked = (commit: Commit) => this.link.contacts.check(commit);
    const { rows, logs: logChecks, seed } = options;
    const sliceCount = settings.runsOperations ? settings.policy.pageCount : Infinity;
    const around = { process, rows, ledger, faults, latencyMsMax, sliceCount, asked };
    const plain = new SimStore({ ...around, logs: logChecks, seed });
    const store = sabotage?.store?.(plain, ledger) ?? plain;
    this.#store = plain;
    const log = this.#log();
    const bytesMax = logChecks === null ? 0 : LOG_BYTES_MAX;
    const logs = new TaskLogs({ store, clock: process.evenClock, log, bytesMax });
    this.link = new SimLink(process, ledger, settings.policy.leaseMs, logs);
    sabotage?.link?.(this.link);
    const { notificationCountMax } = settings.policy;
    const notifier = new SimNotifier(process, ledger, faults, notificationCountMax);
    sabotage?.notifier?.(notifier);
    this.engine = new Engine({
      store,
      rebuilds: turnstiles().rebuilds,
      clock: process,
      link: this.link,
      notifier,
      observer: {
        observe: (seen) => this.alerts?.observer.observe(seen),
        turned: () => this.#turned(),
      },
      log,
      policy: settings.policy,
      owner: name,
      seed: options.seed,
      pauseOfAll: options.pauseOfAll,
      templates: templatesIn(),
    });
    sabotage?.engine?.(this.engine);
    const { engine } = this;
    this.handle = new Master({
      engine,
      store,
      clock: process,
      namespace: 'default',
      logs,
    });
    sabotage?.master?.(this.handle);
    this.link.attach(this.handle);
    this.alerts = this.#alertsOf(options.alerts, log);
    notifier.attach((event) => this.handle.post(event));
  }

  /** Runs until it is deposed, stopped, or cannot begin. */
  async run(): Promise<void> {
    try {
      const { ended } = await this.engine.start();
      this.#watchWallClock();
      this.alerts?.start();
      this.process.world.log(`${this.process.name} is ready, term ${this.engine.term}`);
      await ended;
    } catch (error) {
      this.process.world.log(`${this.process.name}: ${String(error)}`);
    }
    this.kill();
  }

  /** By somebody who does not wait for the answer. */
  tell(command: Command): void {
    const { audit } = this.#options.ledger;
    this.process.deliver(() => {
      const author = audit.author(command.type);
      const asked = this.engine.request((request) => ({ request, author, ...command }));
      asked.then(
        (reply) => audit.answered(author, reply),
        () => undefined,
      );
    });
  }

  /** It asks for somebody, each time for another. */
  by(action: string): Master {
    return this.handle.by(this.#options.ledger.audit.author(action));
  }

  kill(): void {
    if (!this.process.isAlive) return;
    this.process.kill();
    this.#options.network.endAll(this.process);
    this.#options.onEnd(this);
  }

  #alertsOf(all: AlertWorld | null, log: Log): SimAlerts | null {
    const { ledger, faults, seed, settings, sabotage } = this.#options;
    if (all === null) return null;
    return new SimAlerts({
      ...{ process: this.process, all, ledger, faults, seed, log, store: this.#store },
      ...{ master: () => this.handle, state: () => this.engine.state },
      ...{ leaseMs: settings.policy.leaseMs, sabotage: sabotage?.alerts },
    });
  }

  #watchWallClock(): void {
    const { process: clock, engine } = this;
    const store = this.#store;
    const follow = () => engine.followWall();
    const duties = new Duties(clock);
    void wallClockWatch({ clock, store, log: this.#log(), duties, follow }).start();
  }

  #turned(): void {
    this.link.contacts.turned();
    const { state } = this.engine;
    if (state !== null) this.#check.check(state);
  }

  #log(): Log {
    const ignore = () => undefined;
    const error = (message: string, fields?: Record<string, unknown>) => {
      const cause = String(fields?.['error']);
      this.process.world.log(`${this.process.name}: ${message}: ${cause}`);
      const wasSet = this.process.world.wallsMs.length > 1 && cause.includes('wall clock');
      // One that was deposed reads rows that it cannot know what to make of.
      if (this.#options.ledger.term !== this.engine.term) return;
      // Any other error comes from the code under test.
      if (!wasSet && !cause.startsWith('StoreFault')) this.process.world.violate('M3', cause);
    };
    return { debug: ignore, info: ignore, warn: ignore, error };
  }
}
