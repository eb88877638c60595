/**
 * Writes each minute how busy types were in it, of all namespaces that are led. What cannot be written is lost, so that
 * no later minute looks busier than it was: a minute without a row is one of which nobody knows. Only when each type was
 * started and ended last is told by the next one.
 */
import type { LoadCounter } from '../../domain/load/counter.ts';
import type { State } from '../../domain/state/state.ts';
import type { Clock, Log, Store } from '../ports.ts';
import type { LoadSamples } from '../reports/load-query.ts';
import { inPieces, letOthers } from '../turnstile.ts';
import type { Duties, Found } from './duties.ts';
import type { Part } from './lifecycle.ts';

const MINUTE_MS = 60_000;

/** Whoever leads a namespace. */
export interface Loaded {
  readonly watched: { readonly namespaceId: number; readonly load: LoadCounter };
  readonly engine: { readonly state: State | null };
}

export function loadMinutes(options: {
  readonly leaders: () => readonly Loaded[];
  /** Waits for the answer of the store as long as it is worth. */
  readonly ask: <T>(question: (store: Pick<Store, 'addLoad'>) => Promise<T>) => Promise<T>;
  readonly clock: Clock;
  readonly log: Log;
  readonly duties: Duties;
}): Part {
  const { leaders, ask, clock, log, duties } = options;
  const duty = duties.add('load_minutes', MINUTE_MS);
  let stopped = false;
  let callOff: () => void = () => undefined;

  const write = async (at: number): Promise<Found> => {
    const of: (LoadSamples & { readonly load: LoadCounter })[] = [];
    for (const { watched, engine } of leaders()) {
      if (engine.state === null) continue;
      const { namespaceId, load } = watched;
      const samples = await inPieces(load.take(engine.state, clock.now()), clock);
      of.push({ namespaceId, samples, load });
      await letOthers(clock);
    }
    const count = of.reduce((sum, { samples }) => sum + samples.length, 0);
    try {
      if (count > 0) await ask((store) => store.addLoad(at, of));
    } catch (error) {
      for (const { load, samples } of of) load.keepLast(samples);
      throw error;
    }
    return { foundCount: count, doneCount: count };
  };
  const run = (at: number): Promise<void> =>
    duty
      .run(() => write(at))
      .catch((error: unknown) => {
        log.debug('a minute of load was not written', { event: 'store', error: String(error) });
      });
  const plan = (): void => {
    if (stopped) return;
    callOff = clock.wakeAt(minuteOf(clock.now()) + MINUTE_MS, () => {
      // The minute before this one: the timer may have come late, or the clock was set.
      void run(minuteOf(clock.now()) - MINUTE_MS).then(plan);
    });
  };
  return {
    start: plan,
    // What there was of the last minute: whoever leads next adds the rest of it.
    stop: () => {
      stopped = true;
      callOff();
      return run(minuteOf(clock.now()));
    },
  };
}

const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS) * MINUTE_MS;
