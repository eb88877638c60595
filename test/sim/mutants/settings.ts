/** Bugs of pauses and limits, for `mutants.ts`. */
import type { Pause } from '../../../master/domain/model/pause.ts';
import { NO_SETTINGS } from '../../../master/domain/state/state.ts';
import { type Mutant, onEvent, onState, onStore, onWrites } from '../actors/sabotage.ts';

const settings = { hasOperator: true };

export function settingsMutants(): Mutant[] {
  let pause: Pause | null = null;
  return [
    {
      name: 'offers while it is paused',
      settings,
      ...onState((state) => {
        state.settings = { ...state.settings, paused: null };
      }),
    },
    {
      name: 'offers beyond the limit',
      settings,
      ...onState((state) => {
        state.settings = { ...state.settings, maxRunning: null };
      }),
    },
    {
      name: 'stays paused for ever',
      settings,
      ...onState((state) => {
        const { paused } = state.settings;
        if (paused !== null) pause = { ...paused, until: null };
        state.settings = { ...state.settings, paused: pause };
      }),
    },
    {
      name: 'loses count of what executors have',
      settings,
      ...onState((state) => {
        state.attemptCount = 0;
      }),
    },
    {
      name: 'says that it is paused and is not',
      settings,
      ...onEvent((event) =>
        event.type === 'settingsChanged' ? { ...event, paused: null } : event,
      ),
    },
    {
      name: 'forgets at its start what operators have set',
      faults: { masterCrash: true },
      settings,
      ...onStore((store) => ({
        takeTerm: async (...of) => ({ ...(await store.takeTerm(...of)), settings: NO_SETTINGS }),
      })),
    },
    {
      name: 'forgets at its start what is over and has not been reported',
      faults: { masterCrash: true, handlers: true },
      settings: { longRunChance: 1, executorCount: 6, commandChance: 0.6, stormMs: 120_000 },
      ...onStore((store) => ({
        loadWhole: async () => ({ ...(await store.loadWhole()), leftover: [] }),
      })),
    },
    {
      name: 'forgets to write what is over and has not been reported',
      faults: { handlers: true },
      settings: { longRunChance: 1, executorCount: 6, commandChance: 0.6, stormMs: 120_000 },
      ...onWrites((write) => (write.table === 'leftover' ? null : write)),
    },
    {
      name: 'never ends a pause by itself',
      settings,
      ...onState(({ deadlines }) => {
        const push = deadlines.push.bind(deadlines);
        deadlines.push = (deadline) => (deadline.kind === 'pause' ? undefined : push(deadline));
      }),
    },
    {
      name: 'forgets what might have begun while nothing was to begin',
      settings,
      ...onState((state) => {
        const { paused, maxRunning } = state.settings;
        if (paused !== null || maxRunning !== null) state.isHeldBack = false;
      }),
    },
    {
      name: 'counts the time of a pause',
      settings: { ...settings, limitsStarts: true },
      ...onStore((store) => ({
        commit: ({ absences, ...commit }) => store.commit({ ...commit, absences: [] }),
      })),
    },
  ];
}
