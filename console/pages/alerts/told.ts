/** Whether anybody has heard of an alert. Pure. */
import type { AlertView } from '@soda-scheduler/protocol';

type Delivery = AlertView['deliveries'][number];

/** When a receiver has taken it last; how far it is where none has; null: nobody is told. */
export function toldOf({
  told_at: at,
  deliveries,
}: Pick<AlertView, 'told_at' | 'deliveries'>): string | Pick<Delivery, 'state' | 'tries'> | null {
  const [newest] = deliveries.toReversed();
  // Of whom it was told nobody may know any more: those are remembered for a while only.
  if (newest === undefined) return at;
  const taken = deliveries.findLast(({ state }) => state === 'delivered');
  if (taken !== undefined) return taken.at;
  const pending = deliveries.filter(({ state }) => state === 'pending');
  if (pending.length === 0) return newest;
  return { state: 'pending', tries: Math.max(...pending.map(({ tries }) => tries)) };
}
