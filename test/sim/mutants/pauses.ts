/** Bugs of pauses of groups, labels and all namespaces, for `mutants.ts`. */
import { type Mutant, onStore } from '../actors/sabotage.ts';

const settings = { pausesParts: true };

export function pauseMutants(): Mutant[] {
  return [
    {
      name: 'forgets at its start which groups and labels are paused',
      faults: { masterCrash: true },
      settings: { ...settings, hasOperator: false, limitsTypes: false },
      ...onStore((store) => ({
        loadWhole: async () => ({ ...(await store.loadWhole()), pause: [] }),
      })),
    },
    {
      name: 'counts the time of the pause of a group or a label',
      settings: { ...settings, limitsStarts: true, hasOperator: false, limitsTypes: false },
      ...onStore((store) => ({
        commit: ({ absences, ...commit }) =>
          store.commit({
            ...commit,
            absences: absences.map(({ of, ...rest }) => {
              return of === undefined
                ? rest
                : { ...rest, of: of.filter(({ scope }) => scope === 'type') };
            }),
          }),
      })),
    },
  ];
}
