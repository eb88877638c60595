/** Which executors a booking may have, by what they can do: whoever has them. */
import type { Booking } from '../../../../master/domain/booking/booking.ts';
import {
  type Executor,
  isServing,
  mayRun,
  pinOf,
} from '../../../../master/domain/model/executor.ts';

/** It serves, may run what the booking is for, and nobody is bound to have it. */
export function isAvailable(executor: Executor, booking: Booking): boolean {
  return executor.booking === null && isServing(executor) && mayServe(executor, booking);
}

export function mayServe(executor: Executor, { type, requires, labels }: Booking): boolean {
  const { override, own, id, types } = executor;
  const bare = {
    types,
    labels: [...(override.labels ?? own.labels), pinOf(id)],
    reserve: override.reserve ?? own.reserve,
  };
  return mayRun(bare, { type, requires, labels });
}
