/**
 * Everything the scheduler knows, in memory. A mirror of rows: it may be thrown away and rebuilt
 * at any moment (`restore.ts`). Only `step` and what it calls change it.
 */
import type { Executor, ExecutorRecord, Leftover } from '../model/executor.ts';
import { ALERTS_AT_ONCE_MAX, ALERTS_PER_SECOND_MAX } from '../alerts/bounds.ts';
import { RELEASE_COUNT_MAX } from '../bounds.ts';
import { Deadlines } from '../queue/deadlines.ts';
import type { Gate } from '../limits/gate.ts';
import type { Quota } from '../limits/quota.ts';
import type { Supply } from '../limits/supply.ts';
import { InFlight } from '../queue/in-flight.ts';
import { Junctions } from '../queue/junctions.ts';
import type { Kind, Lane, Pool } from '../queue/lane.ts';
import { OpenTasks } from '../queue/open-tasks.ts';
import { Allowances } from './allowances.ts';
import { Doubts } from './doubts.ts';
import { Paces } from './paces.ts';
import { RunTimes } from './run-times.ts';
import type { Shares } from '../queue/shares.ts';
import { type Position, Window } from '../queue/window.ts';
import { type Concerned, labelsOf, type Pause, type PauseRow } from '../model/pause.ts';
import { type FeedState, newFeed } from '../feed/feed-event.ts';
import { type JobsState, noJobs } from '../jobs/jobs-state.ts';
import type { SavedView } from '../model/saved-view.ts';
import type { Holding } from '../model/shared-limit.ts';
import type { TaskType } from '../model/task-type.ts';
import type { Notification, Retention, Task } from '../model/task.ts';
import { type BookingsState, noBookings } from '../booking/bookings-state.ts';
import { noWorks, type Works } from '../long-work/work.ts';
import { LiveTasks } from './live-tasks.ts';
import type { Policy } from './policy.ts';

/** What operators set while the master runs. Null: nothing. */
export interface Settings {
  readonly paused: Pause | null;
  /** Waiting tasks in all; beyond it submit is refused. */
  readonly maxWaiting: number | null;
  /** Attempts that executors have (`attemptCount`); at that many nothing is offered. */
  readonly maxRunning: number | null;
  /** Of what ends from now on. */
  readonly retention: Retention;
}

export const NO_SETTINGS: Settings = {
  paused: null,
  maxWaiting: null,
  maxRunning: null,
  retention: 'normal',
};

/** For whom a task is meant by a value in its params. */
export interface Choice {
  readonly fleetVersion: number;
  readonly pointer: string | null;
  /** Of the value; null: there is none. */
  readonly hash: number | null;
  readonly executor: Executor | null;
}

/** Of kinds that name an executor. */
export interface Pins {
  /** How many of these there are: bounded as lanes are. */
  kindCount: number;
  /** How many of those with a task that waits name each executor. */
  readonly counts: Map<string, number>;
  /** Executors that are to get their own label, or to lose it. */
  readonly changed: Set<string>;
}

/** For tasks past a limit of theirs that are only in the store. */
export interface OverdueSearch {
  /** Some waiting task with a deadline or a start limit is only there. */
  isNeeded: boolean;
  /** From where on the rest is to be looked for; null: from the first. */
  cursor: Position | null;
  nextAt: number;
}

export interface State {
  readonly policy: Policy;
  settings: Settings;
  readonly term: number;
  lastSeq: number;
  readonly feed: FeedState;
  /** Of alerts that executors raise. */
  readonly alertAllowances: Allowances;
  /** `lastNumber`: of the newest row of this term (`UsageDelta`). */
  readonly usage: { lastNumber: number };
  /** False once the master drains: nothing is accepted or offered any more. */
  accepting: boolean;
  /** Offered and running tasks, all of them, and the waiting ones that are in a window. */
  readonly tasks: LiveTasks;
  readonly open: OpenTasks;
  readonly kinds: Map<string, Kind>;
  readonly pins: Pins;
  readonly lanes: Map<number, Lane>;
  /** Those without a task that waits, the longest so first. */
  readonly emptyLanes: Set<Lane>;
  /** Of the types whose groups take turns, by type. */
  readonly shares: Map<string, Shares>;
  /** Those of them of which some lanes take no turns yet. */
  readonly partialShares: Set<Shares>;
  /** Why there is no room for another lane; null: not asked since the last has come or gone. */
  crowd: string | null;
  /** Which rows were asked for, and have not come yet: each kind once at a time. */
  readonly loading: Set<
    'held' | 'delayed' | 'overdue' | 'notifications' | 'work' | 'triggers' | 'settled' | 'replan'
  >;
  readonly jobs: JobsState;
  readonly bookings: BookingsState;
  /** Waiting tasks that are not due, by dueAt. */
  readonly delayed: Window<Task>;
  /** Tasks that may move from there to their lanes before the next tick. */
  releasableCount: number;
  /** Waiting tasks held in memory, and the bytes of what they hold (`heldBytes`). */
  windowCount: number;
  windowBytes: number;
  /** Waiting tasks in all, also those only in the store. */
  waitingCount: number;
  /** Those that are suspended, all in the store only. */
  suspendedCount: number;
  readonly overdue: OverdueSearch;
  /** Their limits have moved; the timers follow, some in each tick. */
  unwatched: Task[];
  /** The newest process of each executor id. */
  readonly executors: Map<string, Executor>;
  /** By name: the registered ones, and those of which operators have decided something. */
  readonly types: Map<string, TaskType>;
  /** Of groups, of labels and of all namespaces, by `pauseKey`. */
  readonly pauses: Map<string, PauseRow>;
  /** Lanes that no pause need keep any more; they open again some in each tick. */
  resumed: Lane[];
  /** What operators have decided, also of executors that are not here. */
  readonly executorRecords: Map<string, ExecutorRecord>;
  /**
   * Processes whose id was taken over by another, and which hold an attempt: they keep it until
   * their lease ends. By `elderKey`.
   */
  readonly elders: Map<string, Executor>;
  /** How far what is set for types is used: one for each of `types`. */
  readonly quotas: Map<string, Quota>;
  /** By key: those of which somebody has a place, or is held. */
  readonly gates: Map<number, Gate>;
  /** Candidates of all gates. */
  placeCount: number;
  /** Those where somebody is held and there may be a place. */
  readonly openGates: Set<Gate>;
  /** Of tasks of which it was asked: the gate by that pointer. */
  readonly gateKeys: WeakMap<Task, { readonly pointer: string; readonly key: number | null }>;
  /** How far shared limits are used, by name. */
  readonly supplies: Map<string, Supply>;
  /** Lists that people have saved, by name. */
  readonly views: Map<string, SavedView>;
  /** What the attempts that executors have took of them, as the rows have it. */
  readonly holdings: Map<Executor, Holding>;
  /** Types of which there may be room for more since this step. */
  readonly opened: Set<string>;
  /** Types of which a task stands back for an older one, that takes more of the same: asked again at every step. */
  readonly standingBack: Set<string>;
  /** Attempts that executors have: from the offer until they have reported, or their lease has ended. */
  attemptCount: number;
  /** Of those attempts the ones that are over for their tasks, as the rows have them. */
  readonly leftovers: Map<Executor, Leftover>;
  /** Executors of which that may have changed in this step. */
  readonly unsettled: Set<Executor>;
  /** Losses that are not decided yet, by `elderKey` of the process. */
  readonly doubts: Doubts;
  readonly pools: Map<string, Pool>;
  /** Grows with every change of what is in pools. */
  fleetVersion: number;
  /** Of tasks whose route is sticky: whom it has chosen. */
  readonly choices: WeakMap<Task, Choice>;
  /**
   * And since when idle ones may not have them yet, by seq: also of those that have been left to the store since, or
   * their wait would begin anew whenever they are read. The oldest first.
   */
  readonly passedOver: Map<number, number>;
  /** Where kinds and pools meet. */
  readonly junctions: Junctions;
  readonly deadlines: Deadlines;
  /** Pending callbacks that are not in flight, by nextTryAt. */
  readonly notifications: Window<Notification>;
  /** Callbacks in flight, by task. */
  readonly notifying: InFlight;
  readonly runTimes: RunTimes;
  readonly paces: Paces;
  /** How often tasks in memory (by seq) were given back unasked since their last new checkpoint. */
  readonly givenBack: Map<number, number>;
  /** Operations on many tasks. */
  readonly works: Works;
  /** What proofs are made with, base64url, newest first. Never to be logged. */
  readonly secrets: readonly string[];
  /** Tasks whose row is behind what is known (started, progress); written within a second. */
  readonly unwritten: Set<Task>;
  /** When they are written; `count`: so many of them, the oldest, are being written, some in each tick. */
  readonly flush: { at: number; count: number };
  /** Lanes that gained a due task, and executors that became free, in this step. */
  readonly roused: Set<Lane>;
  readonly freed: Set<Executor>;
  /** Tasks may wait beside idle executors, because there was a time in which nothing might be offered. */
  isHeldBack: boolean;
  lastTickAt: number;
  /** Of the generator that spreads retries; see `random01`. */
  randomState: number;
}

interface Start {
  readonly policy: Policy;
  readonly settings?: Settings;
  readonly secrets?: readonly string[];
  readonly term: number;
  readonly lastSeq: number;
  readonly lastEventSeq?: number;
  readonly now: number;
  readonly seed: number;
}

/** Nothing is known yet: as of a store without tasks. */
export const createState = (options: Start): State => ({
  policy: options.policy,
  settings: options.settings ?? NO_SETTINGS,
  term: options.term,
  lastSeq: options.lastSeq,
  feed: newFeed(options.lastEventSeq ?? 0),
  alertAllowances: new Allowances(ALERTS_AT_ONCE_MAX, ALERTS_PER_SECOND_MAX),
  usage: { lastNumber: 0 },
  accepting: true,
  tasks: new LiveTasks(),
  open: new OpenTasks(),
  kinds: new Map(),
  pins: { kindCount: 0, counts: new Map(), changed: new Set() },
  lanes: new Map(),
  emptyLanes: new Set(),
  shares: new Map(),
  partialShares: new Set(),
  crowd: null,
  loading: new Set(),
  jobs: noJobs(),
  bookings: noBookings(),
  delayed: new Window<Task>((task) => ({ time: task.dueAt, seq: task.seq })),
  releasableCount: RELEASE_COUNT_MAX,
  windowCount: 0,
  windowBytes: 0,
  waitingCount: 0,
  suspendedCount: 0,
  overdue: { isNeeded: false, cursor: null, nextAt: 0 },
  unwatched: [],
  executors: new Map(),
  types: new Map(),
  pauses: new Map(),
  resumed: [],
  quotas: new Map(),
  gates: new Map(),
  placeCount: 0,
  openGates: new Set(),
  gateKeys: new WeakMap(),
  supplies: new Map(),
  views: new Map(),
  holdings: new Map(),
  opened: new Set(),
  standingBack: new Set(),
  executorRecords: new Map(),
  elders: new Map(),
  attemptCount: 0,
  leftovers: new Map(),
  unsettled: new Set(),
  doubts: new Doubts(),
  pools: new Map(),
  fleetVersion: 0,
  choices: new WeakMap(),
  passedOver: new Map(),
  junctions: new Junctions(),
  deadlines: new Deadlines(),
  notifications: new Window<Notification>((n) => ({ time: n.nextTryAt, seq: n.taskSeq })),
  notifying: new InFlight(),
  runTimes: new RunTimes(),
  paces: new Paces(),
  givenBack: new Map(),
  works: noWorks(),
  secrets: options.secrets ?? [],
  unwritten: new Set(),
  flush: { at: Number.POSITIVE_INFINITY, count: 0 },
  roused: new Set(),
  freed: new Set(),
  isHeldBack: false,
  lastTickAt: options.now,
  randomState: options.seed >>> 0,
});

/** In [0, 1). Mulberry32 (Tommy Ettinger, public domain): small, and the same for the same seed. */
export function random01(state: Pick<State, 'randomState'>): number {
  state.randomState = (state.randomState + 0x6d2b79f5) >>> 0;
  let t = state.randomState;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
}

/** Equal for equal ones. */
export function pauseKey(scope: PauseRow['scope'], value: string): string {
  return `${scope}/${value}`;
}

const OF_ALL = pauseKey('all', '');

/** Of groups and labels. */
export function pauseCount({ pauses }: Pick<State, 'pauses'>): number {
  return pauses.size - (pauses.has(OF_ALL) ? 1 : 0);
}

/** So that nothing at all is offered. */
export function isPaused({ settings, pauses }: State): boolean {
  return settings.paused !== null || pauses.has(OF_ALL);
}

/** By which the limits for starts are judged: this clock stands still in a pause, of all or of such a task. */
export function startClock(state: State, now: number, task: Concerned | null = null): number {
  const { settings, pauses, types } = state;
  let clock = Math.min(settings.paused?.at ?? now, now);
  if (task !== null) clock = Math.min(types.get(task.type)?.paused?.at ?? now, clock);
  clock = Math.min(pauses.get(OF_ALL)?.at ?? now, clock);
  if (task === null) return clock;
  for (const { at } of rowsOn({ pauses }, task.user.group, task)) clock = Math.min(at, clock);
  return clock;
}

/** Pauses of that group, and of labels that such tasks require or carry. */
export function* rowsOn(
  { pauses }: Pick<State, 'pauses'>,
  group: string,
  of: Pick<Concerned, 'requires' | 'labels'>,
): Generator<PauseRow> {
  if (pauses.size === 0) return;
  const keys = [pauseKey('group', group)];
  for (const label of new Set(labelsOf(of))) keys.push(pauseKey('label', label));
  for (const key of keys) {
    const row = pauses.get(key);
    if (row !== undefined) yield row;
  }
}

/** Types that somebody has defined: the others are known for what operators have decided of them. */
export function registeredCount({ types }: Pick<State, 'types'>): number {
  let count = 0;
  for (const { version } of types.values()) if (version > 0) count++;
  return count;
}

/** When something happens next by itself; the engine wakes then, at the latest. */
export function nextWakeAt(state: State): number {
  const { unwatched, resumed, partialShares, deadlines, bookings } = state;
  const { pausesOver } = deadlines;
  const count = unwatched.length + resumed.length + pausesOver.length + partialShares.size;
  if (count > 0 || bookings.plan.isReplanning) return state.lastTickAt;
  return Math.min(
    deadlines.nextAt(),
    state.delayed.first()?.dueAt ?? Number.POSITIVE_INFINITY,
    state.notifying.size < state.policy.notificationCountMax
      ? (state.notifications.first()?.nextTryAt ?? Number.POSITIVE_INFINITY)
      : Number.POSITIVE_INFINITY,
    state.flush.at,
    state.loading.has('triggers') ? Number.POSITIVE_INFINITY : state.jobs.nextTriggerAt,
  );
}
