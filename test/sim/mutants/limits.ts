/** Bugs of shared limits, for `mutants.ts`. */
import { countTaken } from '../../../master/domain/limits/supply.ts';
import { type Mutant, onState, onStore } from '../actors/sabotage.ts';

const settings = { usesLimits: true, longRunChance: 0.6, executorCount: 6, taskCount: 60 };

export function limitMutants(): Mutant[] {
  return [
    {
      name: 'offers more than there is of a shared limit',
      settings,
      ...onState(({ supplies }) => {
        for (const supply of supplies.values()) supply.limit = { ...supply.limit, max: 99 };
      }),
    },
    {
      name: 'counts what is to be counted on each host in all',
      settings,
      ...onState(({ supplies }) => {
        for (const supply of supplies.values()) supply.limit = { ...supply.limit, per: 'cluster' };
      }),
    },
    {
      name: 'gives what is counted by a label to whoever carries none',
      settings: { ...settings, usesRacks: true },
      ...onState(({ supplies }) => {
        for (const supply of supplies.values()) {
          const { limit } = supply;
          if (typeof limit.per === 'object') supply.limit = { ...limit, per: 'cluster' };
        }
      }),
    },
    {
      name: 'tells nobody that there is room in a shared limit',
      settings,
      ...onState(({ supplies }) => {
        for (const { turnedAway } of supplies.values()) turnedAway.add = () => turnedAway;
      }),
    },
    {
      name: 'asks nobody again who stood back for a task that takes more',
      settings,
      ...onState(({ standingBack }) => {
        standingBack.add = () => standingBack;
      }),
    },
    {
      name: 'forgets at its start what attempts have taken of shared limits',
      faults: { masterCrash: true },
      settings,
      ...onStore((store) => ({
        loadWhole: async () => ({ ...(await store.loadWhole()), holding: [] }),
      })),
    },
    {
      name: 'gives back what an attempt has taken when contact is lost',
      faults: { network: true, executorPause: true },
      settings,
      ...onState((state) => {
        for (const executor of [...state.executors.values(), ...state.elders.values()]) {
          const { occupation, connected } = executor;
          if (connected || occupation === null || occupation.taken.length === 0) continue;
          // Consistently: no count in the state tells of it.
          for (const taken of occupation.taken) {
            const supply = state.supplies.get(taken.limit);
            if (supply !== undefined) countTaken(supply, taken, -1);
          }
          executor.occupation = { ...occupation, taken: [] };
          state.holdings.delete(executor);
        }
      }),
    },
  ];
}
