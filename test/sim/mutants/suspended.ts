/** Bugs of tasks that are suspended, for `mutants.ts`. */
import { type Mutant, onEvent, onStore } from '../actors/sabotage.ts';

const settings = { suspends: true, taskCount: 60 };

export function suspendedMutants(): Mutant[] {
  return [
    {
      name: 'resumes what is only to be changed',
      settings: { ...settings, commandChance: 0.6 },
      ...onEvent((event) => {
        if (event.type !== 'changeRequested') return event;
        const { request, taskId } = event;
        return { type: 'taskResumeRequested', request, taskId };
      }),
    },
    {
      name: 'does not look for the deadlines of what is suspended',
      settings,
      ...onStore((store) => ({
        loadOverdue: async (...asked) => {
          const page = await store.loadOverdue(...asked);
          return { ...page, tasks: page.tasks.filter(({ state }) => state !== 'suspended') };
        },
      })),
    },
    {
      name: 'forgets at its start what is suspended',
      faults: { masterCrash: true },
      settings,
      ...onStore((store) => ({
        countLanes: async () =>
          (await store.countLanes()).map((lane) => ({ ...lane, suspendedCount: 0 })),
      })),
    },
  ];
}
