/**
 * What goes wrong in a run. Every run draws its own mixture (some classes of faults are off, so
 * that the others are not hidden behind them), and all of it stops when the run heals.
 */
import type { Policy } from '../../master/domain/state/policy.ts';
import { defaultPolicy } from '../../master/domain/state/policy.ts';
import { Random } from './random.ts';

export interface FaultClasses {
  /** Connections break, stand still, or swallow what is sent. */
  readonly network: boolean;
  /** Commits fail before or after they took place, or take place late; reads fail; outages. */
  readonly store: boolean;
  /** The master ends without warning and is started again. */
  readonly masterCrash: boolean;
  /** The master is stopped for a while, and another may take over meanwhile. */
  readonly masterPause: boolean;
  /** Executors end without warning, or are stopped past their lease and go on. */
  readonly executorCrash: boolean;
  readonly executorPause: boolean;
  /** Handlers reject, are late, hang, do not end when told to. */
  readonly handlers: boolean;
  /** Callbacks are refused, lost, or answered late. */
  readonly notify: boolean;
}

export interface Settings {
  readonly seed: number;
  readonly faults: FaultClasses;
  readonly policy: Policy;
  readonly taskCount: number;
  readonly executorCount: number;
  /** How long faults go on, and the longest time from one to the next. */
  readonly stormMs: number;
  readonly disturbMsMax: number;
  /** How many of the attempts run for up to a minute; the others take seconds. */
  readonly longRunChance: number;
  readonly networkLatencyMsMax: number;
  readonly storeLatencyMsMax: number;
  /** How likely a client cancels, changes or retries a task, for each task submitted. */
  readonly commandChance: number;
  /** Whether somebody sets labels of executors. */
  readonly relabels: boolean;
  /** Whether executors become unready and ready again. */
  readonly flipsReadiness: boolean;
  /** Whether handlers tell of events. */
  readonly tellsEvents: boolean;
  /** Whether handlers log. */
  readonly writesLogs: boolean;
  /** Whether masters look for what is wrong, say so, and tell receivers of it. */
  readonly raisesAlerts: boolean;
  /** Whether executors have disks that fill and become free, and tasks need some of that. */
  readonly hasDisks: boolean;
  /** Whether some tasks name the executor that is to have them. */
  readonly pinsTasks: boolean;
  /** Whether somebody sets routes of types. */
  readonly routesTypes: boolean;
  /** Whether some tasks have a start timeout. */
  readonly limitsStarts: boolean;
  /** Whether an operator pauses, resumes and sets limits. */
  readonly hasOperator: boolean;
  /** Whether somebody sets limits for types, and pauses them. */
  readonly limitsTypes: boolean;
  /** Whether somebody pauses groups, labels and all namespaces. */
  readonly pausesParts: boolean;
  /** Whether these limits are also by a value of params, which few tasks have different. */
  readonly gatesTypes: boolean;
  /** Whether tasks use shared limits, which somebody sets. */
  readonly usesLimits: boolean;
  /** Whether one of these is counted by a label of executors, of which some carry several, and some none. */
  readonly usesRacks: boolean;
  /** Somebody suspends tasks, and resumes them. */
  readonly suspends: boolean;
  /** Whether somebody puts tasks first and last of their type. */
  readonly movesTasks: boolean;
  /** Whether somebody begins, pauses and ends operations on many tasks. */
  readonly runsOperations: boolean;
  /** Whether somebody has jobs that triggers fire. */
  readonly firesJobs: boolean;
  /** Whether somebody books executors, and submits tasks of bookings. */
  readonly booksExecutors: boolean;
  /** Whether types say how many executors there are to be booked: more than there are, now and then. */
  readonly declaresCapacity: boolean;
  /** Whether the groups of all types take turns. */
  readonly sharesTypes: boolean;
  /** How far the wall clock of the masters' machine is set, and not that of the database. */
  readonly wallAheadMs: number;
  /** How far, and in what order, the wall clocks of all machines are set while the storm lasts. */
  readonly wallStepsMs: readonly number[];
}

const WALL_MS = 3_600_000;

export const NO_FAULTS: FaultClasses = {
  network: false,
  store: false,
  masterCrash: false,
  masterPause: false,
  executorCrash: false,
  executorPause: false,
  handlers: false,
  notify: false,
};

/** The mixture that belongs to a seed. `faults` overrules it. */
export function settingsFor(seed: number, faults?: FaultClasses): Settings {
  const random = new Random(seed ^ 0x5eed);
  const drawn = Object.fromEntries(
    Object.keys(NO_FAULTS).map((name) => [name, random.chance(0.5)]),
  ) as unknown as FaultClasses;
  return {
    seed,
    faults: faults ?? drawn,
    policy: {
      ...defaultPolicy,
      leaseMs: 15_000,
      feedLevel: 'all',
      // Small windows and pages, so that tasks are evicted and read again all the time.
      laneWindowCount: random.pick([4, 6, 10, 50]),
      windowCountMax: random.pick([8, 20, 40, 500]),
      windowBytesMax: random.pick([40, 200, 1_000_000]),
      kindCountMax: random.pick([4, 8, 100]),
      laneCountMax: random.pick([6, 12, 100]),
      // By the seed alone: the rest of a run is drawn as without it.
      runningBytesMax: seed % 5 === 2 ? 15 + (seed % 3) * 30 : defaultPolicy.runningBytesMax,
      pageCount: random.pick([2, 4, 7, 20]),
      notificationCountMax: random.pick([1, 3, 10, 100]),
      waitingCountMax: random.pick([40, 1000]),
    },
    taskCount: random.between(15, 60),
    executorCount: random.between(1, 6),
    stormMs: random.between(20, 120) * 1000,
    disturbMsMax: random.pick([600, 3_000, 8_000]),
    longRunChance: random.pick([0, 0.2, 0.6]),
    networkLatencyMsMax: random.pick([2, 20, 200]),
    storeLatencyMsMax: random.pick([1, 10, 100]),
    commandChance: random.pick([0, 0.2, 0.6]),
    relabels: seed % 3 === 1,
    flipsReadiness: seed % 4 === 2,
    tellsEvents: [9, 16, 17, 18].includes(seed % 22),
    writesLogs: seed % 8 === 2,
    // A clock that is set makes everything look as if it had waited for hours.
    raisesAlerts: seed % 8 === 1 && seed % 7 !== 3,
    hasDisks: seed % 5 === 3,
    pinsTasks: seed % 5 === 1,
    routesTypes: seed % 2 === 1,
    limitsStarts: seed % 3 === 0,
    limitsTypes: seed % 3 === 2 || seed % 12 === 9,
    pausesParts: (seed + 5) % 28 < 6,
    gatesTypes: seed % 6 === 2 || seed % 12 === 9,
    usesLimits: seed % 5 === 1 || seed % 15 === 8,
    usesRacks: seed % 20 === 16,
    suspends: [16, 18, 21].includes(seed % 22),
    movesTasks: [0, 16, 18, 23, 25, 26, 27].includes(seed % 28),
    runsOperations: [16, 18, 21, 24, 26, 28].includes(seed % 30),
    firesJobs: seed % 12 === 5,
    booksExecutors: [9, 14, 18].includes(seed % 22),
    declaresCapacity: seed % 2 === 0,
    sharesTypes: seed % 4 === 0 || seed % 4 === 3,
    hasOperator: seed % 4 === 1 || seed % 12 === 6,
    wallStepsMs: seed % 7 === 3 ? stepsOf(seed) : [],
    wallAheadMs: wallAheadOf(seed),
  };
}

/** Not where all clocks are set: that of the masters would stay behind, and what is due with it, by hours. */
function wallAheadOf(seed: number): number {
  if (seed % 5 !== 0 || seed % 7 === 3) return 0;
  return seed % 2 === 0 ? WALL_MS : -WALL_MS;
}

/**
 * Ahead by hours; back by minutes: what is meant by the wall clock is due that much later. In steps of two, for
 * what adds up to one minute is not followed.
 */
function stepsOf(seed: number): number[] {
  const random = new Random(seed ^ 0x3a11);
  return Array.from({ length: random.between(1, 3) }, () =>
    random.chance(0.5) ? random.between(1, 90) * 120_000 : -random.between(1, 3) * 120_000,
  );
}

/** The faults in force at this moment. */
export class Faults {
  readonly classes: FaultClasses;
  isStorm = true;
  /** The store answers nothing before. */
  storeDownUntil = 0;
  /** It answers nothing before, and then everything that it was asked. */
  storeFrozenUntil = 0;

  constructor(classes: FaultClasses) {
    this.classes = classes;
  }

  has(name: keyof FaultClasses): boolean {
    return this.isStorm && this.classes[name];
  }

  /** Whether a frame may arrive long after it was sent. */
  get mayDelayFrames(): boolean {
    const { network, masterPause, executorPause } = this.classes;
    return network || masterPause || executorPause;
  }

  /** Whether anything was allowed to make a healthy executor look dead. */
  get mayLoseExecutors(): boolean {
    const { network, store, masterCrash, masterPause, executorCrash, executorPause, handlers } =
      this.classes;
    return (
      network || store || masterCrash || masterPause || executorCrash || executorPause || handlers
    );
  }
}
