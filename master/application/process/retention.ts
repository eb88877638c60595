/** Keeps history in bounds: makes the segments of the near future, drops those past retention. */
import { type Retention, RETENTIONS } from '../../domain/model/task.ts';
import type { Clock, Log, Store } from '../ports.ts';
import type { Part } from './lifecycle.ts';

const PERIOD_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Runs every hour. A failure is logged and tried again. */
export function retention(options: {
  readonly store: Pick<Store, 'prepareSegments' | 'dropSegments' | 'learnIds'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly days: Readonly<Record<Retention, number>>;
}): Part {
  const { store, clock, log, days } = options;
  let stopped = false;
  let callOff: () => void = () => undefined;

  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.error(`${what} failed`, { event: 'retention', error: String(error) });
    }
  };

  const learn = (now: number): Promise<void> =>
    attempt('learning which ids history has', () => store.learnIds(now));

  const run = async (): Promise<void> => {
    const now = clock.now();
    await attempt('making the next segment of history', () => store.prepareSegments(now));
    // Also where there was no room for the new one: this makes some.
    for (const retention of RETENTIONS) {
      await attempt('dropping history past retention', async () => {
        const before = now - days[retention] * DAY_MS;
        const droppedCount = await store.dropSegments(retention, before);
        if (droppedCount === 0) return;
        const fields = { event: 'retention', retention, segment_count: droppedCount };
        log.info('history past retention was dropped', fields);
      });
    }
    await learn(now);
    if (!stopped) callOff = clock.wakeAt(now + PERIOD_MS, () => void run());
  };
  return {
    start: () => {
      const now = clock.now();
      callOff = clock.wakeAt(now + PERIOD_MS, () => void run());
      // It takes long where there is much.
      void learn(now);
    },
    stop: () => {
      stopped = true;
      callOff();
    },
  };
}
