/**
 * The wall clock of this machine may be set, or go on while the machine sleeps; the master goes on by
 * its own until the clock of the database agrees with the new time. Of one file that is the same
 * clock. Moves nothing itself.
 */
import type { Clock, Log, Store } from '../ports.ts';
import type { Duties, Found } from './duties.ts';
import type { Part } from './lifecycle.ts';

const PERIOD_MS = 10_000;
/** Clocks that are kept right differ by less. */
const APART_MS_MAX = 60_000;

/** A clock that jumps ahead may be wrong, and is set right soon then: what expired by it stays so. */
const STEADY_MS = 60_000;
const found = (foundCount: number, doneCount = 0): Found => ({ foundCount, doneCount });

/**
 * Looks every ten seconds. `follow` is to bring the master along: ahead once it has lasted a minute, back
 * at once.
 */
export function wallClockWatch(options: {
  readonly clock: Clock;
  readonly store: Pick<Store, 'readClock'>;
  readonly log: Log;
  readonly duties: Duties;
  readonly follow: () => void;
}): Part {
  const { clock, store, log, follow } = options;
  const duty = options.duties.add('wall_clock', PERIOD_MS);
  let stopped = false;
  let wasTold = false;
  /** Since when it has departed by about so much. */
  let departed: { readonly at: number; readonly ms: number } | null = null;
  let callOff: () => void = () => undefined;

  const look = async (): Promise<Found> => {
    const isApart = (): boolean => Math.abs(clock.departureMs()) > APART_MS_MAX;
    if (!isApart()) {
      wasTold = false;
      departed = null;
      return found(0);
    }
    const { at, ms: sinceMs } = (departed = lasting(departed));
    if (sinceMs > 0 && clock.now() - at < STEADY_MS) return found(1);
    const databaseAt = await store.readClock();
    const ms = clock.departureMs();
    // Both may have changed while the database was asked.
    if (stopped || !isApart()) return found(0);
    const fields = { event: 'clock', ms };
    if (Math.abs(databaseAt - clock.now() - ms) <= APART_MS_MAX) {
      log.warn('the wall clock was set, or the machine slept: the master follows it', fields);
      follow();
      return found(1, 1);
    }
    if (!wasTold) {
      wasTold = true;
      log.warn(
        'the wall clock was set, and the database has another time: it is not followed',
        fields,
      );
    }
    return found(1);
  };
  const lasting = (before: typeof departed): NonNullable<typeof departed> => {
    const ms = clock.departureMs();
    const isSame = before !== null && Math.abs(ms - before.ms) <= APART_MS_MAX;
    return isSame ? before : { at: clock.now(), ms };
  };
  const run = async (): Promise<void> => {
    await duty.run(look).catch((error: unknown) => {
      log.debug('the clock of the database was not read', { event: 'clock', error: String(error) });
    });
    if (!stopped) callOff = clock.wakeAt(clock.now() + PERIOD_MS, () => void run());
  };
  return {
    start: () => {
      callOff = clock.wakeAt(clock.now() + PERIOD_MS, () => void run());
    },
    stop: () => {
      stopped = true;
      callOff();
    },
  };
}
