/** Which pauses there are, and which of them concern a task. */
import { type Concerned, labelsOf, type PauseScope, type ScopedPause } from '../model/pause.ts';
import type { Sight } from '../model/task-filter.ts';
import { pauseKey, rowsOn, type State } from '../state/state.ts';

/** In this order they are listed. */
const ORDER: readonly PauseScope[] = ['all', 'namespace', 'group', 'label', 'type'];

/** A place that somebody names is one. */
export function isPlace(text: string): boolean {
  return ORDER.some((scope, index) => text.startsWith(`${index}${scope}/`));
}

/** Where it is in a list of all; sorts as it does. */
export function placeOf({ scope, value }: Pick<ScopedPause, 'scope' | 'value'>): string {
  return `${ORDER.indexOf(scope)}${scope}/${value}`;
}

/** Up to `count` after that place, of those that whoever has this sight may see. */
export function pausesAfter(
  state: State,
  after: string,
  count: number,
  sight: Sight = { types: null, groups: null },
): readonly ScopedPause[] {
  const labels = labelsSeen(state, sight);
  const isSeenOf = ({ scope, value }: ScopedPause): boolean => {
    if (scope === 'type') return sight.types?.includes(value) ?? true;
    if (scope === 'group') return sight.groups?.includes(value) ?? true;
    return scope !== 'label' || (labels?.has(value) ?? true);
  };
  const rest = [...pausesIn(state)].filter((one) => placeOf(one) > after && isSeenOf(one));
  return rest.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)).slice(0, count);
}

/** Those of tasks that wait and may be seen: whose else a label is, and why it is paused, is told to nobody. Null: all. */
function labelsSeen({ kinds }: State, { types, groups }: Sight): ReadonlySet<string> | null {
  if (types === null && groups === null) return null;
  const seen = new Set<string>();
  for (const kind of kinds.values()) {
    if (kind.waitingCount === 0 || types?.includes(kind.type) === false) continue;
    const waitsIn = (group: string) => (kind.lanes.get(group)?.waitingCount ?? 0) > 0;
    if (groups === null || groups.some(waitsIn)) for (const one of labelsOf(kind)) seen.add(one);
  }
  return seen;
}

/** Null: it is not paused. */
export function pauseOf(
  { settings, pauses, types }: Pick<State, 'settings' | 'pauses' | 'types'>,
  scope: PauseScope,
  value: string,
): ScopedPause | null {
  if (scope !== 'namespace' && scope !== 'type') return pauses.get(pauseKey(scope, value)) ?? null;
  const paused = scope === 'type' ? (types.get(value)?.paused ?? null) : settings.paused;
  return paused && { scope, value, ...paused };
}

function* pausesIn({ settings, pauses, types }: State): Generator<ScopedPause> {
  yield* pauses.values();
  if (settings.paused !== null) yield { scope: 'namespace', value: '', ...settings.paused };
  for (const { type: value, paused } of types.values()) {
    if (paused !== null) yield { scope: 'type', value, ...paused };
  }
}

/** Those that keep such a task from being started; of a type alone, those that keep all of it. */
export function pausesOn(
  state: Pick<State, 'settings' | 'pauses' | 'types'>,
  { type, user, requires = [], labels = [] }: Pick<Concerned, 'type'> & Partial<Concerned>,
): readonly ScopedPause[] {
  const on = [
    pauseOf(state, 'all', ''),
    pauseOf(state, 'namespace', ''),
    pauseOf(state, 'type', type),
  ].filter((pause) => pause !== null);
  return user === undefined ? on : [...on, ...rowsOn(state, user.group, { requires, labels })];
}
