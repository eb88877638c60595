/** Getting ready for bookings, as the SDK does it: what plays the `prepare` of a program stands here. */
import { type Booking, Preparations } from '../../../executor-sdk/preparation.ts';
import type { ExecutorOptions } from './executor-kind.ts';

/** From at once to beyond most windows. */
const PREPARE_MS_MAX = 20_000;
/** It takes its time also where it is told to end. */
const END_MS_MAX = 2_000;

/**
 * What hears of bookings in a process.
 * @param onFailure A `prepare` has failed.
 */
export function preparationsOf(options: ExecutorOptions, onFailure: () => void): Preparations {
  const { process, kind, incarnation, hears: random, ledger } = options;
  const { world, name } = { world: process.world, name: process.name };
  const preparations = new Preparations({
    tell: ({ message }) => world.log(`${name}: ${message}`),
    onBound: () => undefined,
    onFailure,
  });
  let isBusy = false;
  const prepare = async ({ id }: Booking, signal: AbortSignal): Promise<void> => {
    if (isBusy) world.violate('I45', `${name} prepares for two bookings at once`);
    if (signal.aborted)
      world.violate('I45', `${name} prepares for ${id}, which it was released by`);
    isBusy = true;
    const willFail = random?.chance(0.1) ?? false;
    await new Promise<void>((resolve) => {
      const callOff = process.after(random?.between(0, PREPARE_MS_MAX) ?? 0, resolve);
      const end = (): void => {
        callOff();
        process.after(random?.between(0, END_MS_MAX) ?? 0, resolve);
      };
      signal.addEventListener('abort', end, { once: true });
    });
    isBusy = false;
    if (willFail) throw new Error('what it needs is not there');
  };
  for (const type of kind.types) preparations.add(type, prepare);
  if (random !== null) ledger.bookings.hearing.began(kind.id, incarnation);
  return preparations;
}
