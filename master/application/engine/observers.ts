/** Several that see what happens, as one. */
import type { Observer } from '../ports.ts';

export function all(observers: readonly Observer[]): Observer {
  return {
    observe: (observation) => {
      for (const observer of observers) observer.observe(observation);
    },
    turned: (eventCount, commitMs) => {
      for (const observer of observers) observer.turned(eventCount, commitMs);
    },
  };
}
