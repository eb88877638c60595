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
export function pauseOf(state: State, scope: PauseScope, value: string): ScopedPause | null {
  for (const one of pausesIn(state)) if (one.scope === scope && one.value === value) return one;
  return null;
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
  { settings, pauses, types }: State,
  task: Pick<Concerned, 'type'> & Partial<Concerned>,
): readonly ScopedPause[] {
  const { type, user, requires = [], labels = [] } = task;
  const on: ScopedPause[] = [];
  const row = (scope: 'all' | 'group' | 'label', value: string) => {
    const known = pauses.get(pauseKey(scope, value));
    if (known !== undefined) on.push(known);
  };
  const ofType = types.get(type)?.paused ?? null;
  row('all', '');
  if (settings.paused !== null) on.push({ scope: 'namespace', value: '', ...settings.paused });
  if (ofType !== null) on.push({ scope: 'type', value: type, ...ofType });
  if (user !== undefined) row('group', user.group);
  for (const label of new Set(labelsOf({ requires, labels }))) row('label', label);
  return on;
}
