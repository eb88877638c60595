/** Which pauses there are, and which of them concern a task. */
import { type Concerned, labelsOf, type PauseScope, type ScopedPause } from '../model/pause.ts';
import { pauseKey, type State } from '../state/state.ts';

/** In this order they are listed. */
const ORDER: readonly PauseScope[] = ['all', 'namespace', 'group', 'label', 'type'];

/** Where it is in a list of all; sorts as it does. */
export function placeOf({ scope, value }: Pick<ScopedPause, 'scope' | 'value'>): string {
  return `${ORDER.indexOf(scope)}${scope}/${value}`;
}

/** Up to `count` after that place, of those that are seen. */
export function pausesAfter(
  state: State,
  after: string,
  count: number,
  sees: (pause: ScopedPause) => boolean = () => true,
): readonly ScopedPause[] {
  const rest = [...pausesIn(state)].filter((one) => placeOf(one) > after && sees(one));
  return rest.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)).slice(0, count);
}

/** Null: it is not paused. */
export function pauseOf(
  { settings, pauses, types }: State,
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
  state: State,
  { type, user, requires = [], labels = [] }: Pick<Concerned, 'type'> & Partial<Concerned>,
): readonly ScopedPause[] {
  const on = [
    pauseOf(state, 'all', ''),
    pauseOf(state, 'namespace', ''),
    pauseOf(state, 'type', type),
    user === undefined ? null : pauseOf(state, 'group', user.group),
    ...[...new Set(labelsOf({ requires, labels }))].map((label) => pauseOf(state, 'label', label)),
  ];
  return on.filter((pause) => pause !== null);
}
