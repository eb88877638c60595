/** Bugs of bookings, for `mutants.ts`. */
import type { BookingsState } from '../../../../master/domain/booking/bookings-state.ts';
import { BookingPlan } from '../../../../master/domain/plan/plan.ts';
import { type Mutant, onLink, onState, onStore, onWrites } from '../../actors/sabotage.ts';

const settings = { booksExecutors: true, executorCount: 4, taskCount: 60 };
/** Nobody sets what there is less for bookings. */
const undisturbed = {
  declaresCapacity: false,
  flipsReadiness: false,
  hasOperator: false,
  limitsTypes: false,
  pausesParts: false,
  relabels: false,
  wallStepsMs: [],
};

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
      name: 'accepts bookings without regard to those that there are',
      faults: {},
      settings: { ...settings, ...undisturbed, stormMs: 120_000 },
      ...onState(({ bookings }) => acceptAnyIn(bookings)),
    },
    {
      name: 'tells nobody that no booking has it any more',
      faults: { executorCrash: true },
      settings,
      ...onLink((link) => {
        const send = link.send.bind(link);
        link.send = (sessionId, command, term) => {
          if (command.type === 'booking' && command.booking === null) return;
          send(sessionId, command, term);
        };
      }),
    },
    {
      name: 'loses count of the tasks of a booking',
      settings,
      ...onState(({ bookings }) => bookings.taskCounts.clear()),
    },
  ];
}

const acceptsAny = new WeakSet<BookingPlan>();

/** Whatever fits by itself. */
function acceptAnyIn({ plan, fleet }: BookingsState): void {
  if (acceptsAny.has(plan)) return;
  acceptsAny.add(plan);
  plan.admit = (wishes) => {
    const empty = new BookingPlan();
    empty.setPools(fleet.all());
    return empty.admit(wishes);
  };
}
