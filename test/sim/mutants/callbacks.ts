/** Bugs of callbacks, for `mutants.ts`. */
import { everyNth, type Mutant, onEvent, onWrites } from '../actors/sabotage.ts';

export function callbackMutants(): Mutant[] {
  const now = everyNth(5);
  return [
    {
      name: 'misses the end of a callback',
      ...onEvent((event) => (event.type === 'notificationTried' && now() ? null : event)),
    },
    {
      name: 'counts callbacks as delivered that were not',
      ...onEvent((event) =>
        event.type === 'notificationTried' ? { ...event, outcome: 'delivered' } : event,
      ),
    },
    {
      name: 'counts a callback that was put off as a try',
      faults: { notify: true },
      ...onEvent((event) =>
        event.type === 'notificationPutOff'
          ? {
              ...event,
              type: 'notificationTried',
              outcome: 'failed',
              status: null,
              retryAfterMs: null,
              tryCount: 1,
            }
          : event,
      ),
    },
    {
      name: 'forgets a callback that was put off',
      faults: { notify: true },
      ...onEvent((event) => (event.type === 'notificationPutOff' ? null : event)),
    },
    {
      name: 'hands callbacks over again after a rebuild and leaves the old ones where they are',
      faults: { store: true, notify: true },
      notifier: (notifier) => {
        notifier.forgetAll = () => undefined;
      },
    },
    {
      name: 'ends a task without its callback',
      ...onWrites((write) =>
        write.table === 'history' && write.op === 'insert'
          ? { ...write, row: { ...write.row, notification: null } }
          : write,
      ),
    },
  ];
}
