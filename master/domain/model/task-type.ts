/**
 * What is set for all tasks of one type: by those who own it (its definition, which `PUT /type` sets as a
 * whole), and by operators (a pause, and a layer over its limits and its route, which no definition undoes).
 * A definition is kept as text in the words of the API; what the core needs of it is read here, once.
 */
import type { Pause } from './pause.ts';
import { inOrder, type Use } from './shared-limit.ts';

export interface RateLimit {
  readonly count: number;
  readonly seconds: number;
}

/** Null: no limit. */
export interface GroupLimits {
  readonly maxRunning: number | null;
  readonly maxWaiting: number | null;
  readonly rate: RateLimit | null;
}

/** Limits of how many tasks of a type with the same value there may be beside each other. */
export interface Concurrency {
  /** Into the params. */
  readonly pointer: string;
  readonly max: number;
}

/** From one time of the day to another, in a zone; days from 1 (Monday) to 7, null: every day. */
export interface LimitWindow {
  readonly days: readonly number[] | null;
  readonly from: string;
  readonly to: string;
  readonly zone: string;
  readonly maxRunning: number | null;
  readonly paused: boolean;
}

export interface TypeLimits extends GroupLimits {
  /** Of each group. */
  readonly perGroup: GroupLimits | null;
  /** Of tasks with the same value in their params. */
  readonly concurrency: Concurrency | null;
  readonly windows: readonly LimitWindow[];
}

/** How one of several idle executors is chosen. */
export interface Route {
  readonly rule:
    | 'longest_idle'
    | 'last_used'
    | 'round_robin'
    | 'random'
    | 'least_failed'
    | 'sticky';
  /** Into the params, for `sticky`. */
  readonly pointer: string | null;
  readonly waitMs: number;
}

/** What of a definition the core reads. */
export interface TypeSettings {
  readonly limits: TypeLimits;
  readonly needs: { readonly diskBytes: number | null };
  /** Of shared limits, by name. */
  readonly uses: readonly Use[];
  readonly fairBy: 'group' | null;
  readonly groupWeights: Readonly<Record<string, number>>;
  readonly route: Route | null;
  /** Executors that bookings may count on; null: those that are seen. */
  readonly capacity: number | null;
  /** Its tasks may be given back for a booking. */
  readonly isPreemptible: boolean;
  /** Of its bookings that do not say. */
  readonly holdMs: number | null;
}

/** An operator's layer: what it names holds in place of what the definition says. */
export interface TypeOverride {
  /** `limits` and `route` as they were put: canonical JSON text, for views. */
  readonly text: string;
  readonly limits: Partial<TypeLimits>;
  /** Null: that of the definition holds. */
  readonly route: Route | null;
  readonly at: number;
  readonly by: string | null;
  readonly reason: string;
  /** When it ends by itself. */
  readonly until: number | null;
}

/** A row. Steps put another one in its place, and never change one. */
export interface TaskType extends TypeSettings {
  readonly type: string;
  /** Of its definition; no other has the same. 0: nobody has registered it, and operators have decided something. */
  readonly version: number;
  /**
   * Its definition: canonical JSON text, for views and for the defaults that a submit resolves. The core
   * reads only what follows from it.
   */
  readonly text: string;
  readonly paused: Pause | null;
  readonly override: TypeOverride | null;
}

/** What holds now: the definition, and over it what an operator has set. */
export function effectiveOf({
  limits,
  route,
  override,
}: TaskType): Pick<TypeSettings, 'limits' | 'route'> {
  if (override === null) return { limits, route };
  return { limits: { ...limits, ...override.limits }, route: override.route ?? route };
}

/** The same for what begins at that instant: an override that is over by then says nothing of it. */
export function effectiveAt(taskType: TaskType, at: number): ReturnType<typeof effectiveOf> {
  const until = taskType.override?.until ?? null;
  return effectiveOf(until !== null && until <= at ? { ...taskType, override: null } : taskType);
}

/** One that nobody has registered, and of which nobody has decided anything. */
export function unregistered(type: string): TaskType {
  const text = '{}';
  return { type, version: 0, text, ...settingsIn(text), paused: null, override: null };
}

interface GroupLimitsText {
  readonly max_running?: number | null;
  readonly max_waiting?: number | null;
  readonly rate?: RateLimit | null;
}

interface LimitsText extends GroupLimitsText {
  readonly per_group?: GroupLimitsText | null;
  readonly concurrency?: Concurrency | null;
  readonly windows?: readonly {
    readonly days?: readonly number[];
    readonly from: string;
    readonly to: string;
    readonly zone: string;
    readonly max_running?: number;
    readonly paused?: boolean;
  }[];
}

interface RouteText {
  readonly rule: Route['rule'];
  readonly pointer?: string;
  /** Seconds. */
  readonly wait?: number;
}

interface DefinitionText {
  readonly limits?: LimitsText;
  readonly needs?: { readonly disk_bytes?: number };
  readonly uses?: readonly Use[];
  readonly fair_by?: 'group';
  readonly group_weights?: Readonly<Record<string, number>>;
  readonly route?: RouteText;
  readonly capacity?: number;
  readonly preemptible?: boolean;
  /** Seconds. */
  readonly hold?: number;
}

const ROUTE_WAIT_MS = 2_000;

/** @param text Of a definition, which whoever took it has checked. */
export function settingsIn(text: string): TypeSettings {
  const definition = JSON.parse(text) as DefinitionText;
  const { limits = {}, needs, uses = [], fair_by, group_weights = {}, route } = definition;
  return {
    limits: { ...NO_LIMITS, ...limitsOf(limits) },
    needs: { diskBytes: needs?.disk_bytes ?? null },
    uses: inOrder(uses),
    fairBy: fair_by ?? null,
    groupWeights: group_weights,
    route: routeOf(route),
    capacity: definition.capacity ?? null,
    isPreemptible: definition.preemptible === true,
    holdMs: definition.hold === undefined ? null : Math.round(definition.hold * 1000),
  };
}

/** @param text Of an override, checked: what it does not name is absent. */
export function layerIn(text: string): Pick<TypeOverride, 'limits' | 'route'> {
  const { limits = {}, route } = JSON.parse(text) as DefinitionText;
  return { limits: limitsOf(limits), route: routeOf(route) };
}

const NO_GROUP_LIMITS: GroupLimits = { maxRunning: null, maxWaiting: null, rate: null };
const NO_LIMITS: TypeLimits = {
  ...NO_GROUP_LIMITS,
  perGroup: null,
  concurrency: null,
  windows: [],
};

/** What the text names; null there takes a limit away. */
function limitsOf({ per_group, concurrency, windows, ...own }: LimitsText): Partial<TypeLimits> {
  return {
    ...groupLimitsOf(own),
    ...(per_group !== undefined && {
      perGroup: per_group && { ...NO_GROUP_LIMITS, ...groupLimitsOf(per_group) },
    }),
    ...(concurrency !== undefined && { concurrency }),
    ...(windows !== undefined && {
      windows: windows.map(({ days = null, from, to, zone, max_running = null, paused }) => {
        return { days, from, to, zone, maxRunning: max_running, paused: paused === true };
      }),
    }),
  };
}

function groupLimitsOf({ max_running, max_waiting, rate }: GroupLimitsText): Partial<GroupLimits> {
  return {
    ...(max_running !== undefined && { maxRunning: max_running }),
    ...(max_waiting !== undefined && { maxWaiting: max_waiting }),
    ...(rate !== undefined && { rate }),
  };
}

function routeOf(route: RouteText | undefined): Route | null {
  if (route === undefined) return null;
  const { rule, pointer = null, wait } = route;
  return { rule, pointer, waitMs: wait === undefined ? ROUTE_WAIT_MS : Math.round(wait * 1000) };
}
