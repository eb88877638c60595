/** Bugs of bookings, for `mutants.ts`. */
import { type Mutant, onState, onStore, onWrites } from '../../actors/sabotage.ts';

const settings = { booksExecutors: true, executorCount: 4, taskCount: 60 };

export function bookingMutants(): Mutant[] {
  return [
    {
      name: 'keeps nobody for a booking before its lead',
      settings: { ...settings, longRunChance: 0.6 },
      ...onState(({ bookings, executors }) => {
        for (const { kept } of bookings.active.values()) kept.clear();
        for (const executor of executors.values()) executor.keptUntil = null;
      }),
    },
    {
      name: 'binds nobody in place of who is lost',
      faults: { executorCrash: true },
      settings,
      ...onState(({ bookings }) => {
        for (const active of bookings.active.values()) active.isWanting = false;
        bookings.isUnsettled = false;
      }),
    },
    {
      name: 'never ends the window of a booking',
      settings,
      ...onState(({ deadlines }) => {
        const push = deadlines.push.bind(deadlines);
        deadlines.push = (deadline) => (deadline.kind === 'booking' ? undefined : push(deadline));
      }),
    },
    {
      name: 'lets tasks wait for a booking that is over',
      settings,
      ...onStore(() => ({ loadBooked: (wanted) => Promise.resolve(wanted.map(() => [])) })),
    },
    {
      name: 'forgets to write whom a booking has',
      settings,
      ...onWrites((write) =>
        write.table === 'booking' && write.op === 'put'
          ? { ...write, row: { ...write.row, executors: [] } }
          : write,
      ),
    },
    {
      name: 'forgets at its start what is booked',
      faults: { masterCrash: true },
      settings,
      ...onStore((store) => ({
        loadWhole: async () => ({ ...(await store.loadWhole()), booking: [] }),
      })),
    },
    {
      name: 'keeps no part of a limit for what is booked',
      settings,
      ...onState(({ bookings }) => {
        bookings.reservedCount = 0;
      }),
    },
    {
      name: 'loses count of the tasks of a booking',
      settings,
      ...onState(({ bookings }) => bookings.taskCounts.clear()),
    },
  ];
}
