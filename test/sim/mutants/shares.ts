/** Bugs of the shares of groups, for `mutants.ts`. */
import { Shares } from '../../../master/domain/queue/shares.ts';
import { type Mutant, onState, onStore } from '../actors/sabotage.ts';

/** Both groups have something most of the time. */
const settings = { sharesTypes: true, limitsTypes: false, taskCount: 120, executorCount: 2 };

export function shareMutants(): Mutant[] {
  return [
    {
      name: 'forgets after each offer whose turn it was',
      settings,
      ...onState(({ shares }) => {
        for (const ofGroups of shares.values()) ofGroups.take = () => undefined;
      }),
    },
    {
      name: 'takes the weights of all groups for the same',
      settings,
      ...onState(({ shares }) => {
        for (const ofGroups of shares.values()) ofGroups.weigh({});
      }),
    },
    {
      name: 'gives a group a turn more for each kind of its tasks',
      settings,
      ...onState(({ shares }) => {
        for (const ofGroups of shares.values()) {
          const { take } = Shares.prototype;
          ofGroups.take = (lane) => {
            if (lane.kind.requires.length + lane.kind.labels.length === 0)
              take.call(ofGroups, lane);
          };
        }
      }),
    },
    {
      name: 'does not hear of a group that has something again',
      settings,
      ...onState(({ shares }) => {
        for (const ofGroups of shares.values()) ofGroups.announce = () => undefined;
      }),
    },
    {
      name: 'forgets at its start that groups take turns',
      faults: { masterCrash: true },
      settings,
      ...onStore((store) => ({
        loadWhole: async () => {
          const whole = await store.loadWhole();
          return { ...whole, type: whole.type.map((row) => ({ ...row, fairBy: null })) };
        },
      })),
    },
  ];
}
