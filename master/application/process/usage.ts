/** Adds up what commits have counted, every second: a report has to add up little. A failure is tried again. */
import type { Clock, Log, Store } from '../ports.ts';
import type { Duties } from './duties.ts';
import type { Part } from './lifecycle.ts';

const PERIOD_MS = 1_000;

export function usageFold(options: {
  readonly store: Pick<Store, 'foldUsage'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly duties: Duties;
}): Part {
  const { store, clock, log, duties } = options;
  const duty = duties.add('usage_fold', PERIOD_MS);
  let stopped = false;
  let callOff: () => void = () => undefined;

  const fold = async () => {
    const count = await store.foldUsage();
    return { foundCount: count, doneCount: count };
  };
  const plan = (): void => {
    if (!stopped) callOff = clock.wakeAt(clock.now() + PERIOD_MS, () => void run());
  };
  const run = async (): Promise<void> => {
    try {
      await duty.run(fold);
    } catch (error) {
      log.debug('usage was not added up', { event: 'store', error: String(error) });
    }
    plan();
  };
  return {
    start: plan,
    stop: () => {
      stopped = true;
      callOff();
    },
  };
}
