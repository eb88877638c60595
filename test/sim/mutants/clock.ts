/** Bugs of a master whose wall clock is set, for `mutants.ts`. */
import { type Mutant, onStore } from '../actors/sabotage.ts';

const HOUR_MS = 3_600_000;
const attempts = { longRunChance: 1, stormMs: 120_000, wallAheadMs: 0 };

export function clockMutants(): Mutant[] {
  return [
    {
      name: 'believes the wall clock of its machine without asking the database',
      engine: (engine) => engine.followWall(),
    },
    {
      name: 'never follows the wall clock',
      faults: {},
      settings: { ...attempts, wallStepsMs: [HOUR_MS] },
      engine: (engine) => {
        engine.followWall = () => undefined;
      },
    },
    {
      name: 'takes what the wall clock was set ahead by from what runs',
      faults: {},
      settings: { ...attempts, wallStepsMs: [HOUR_MS] },
      ...onStore((store) => ({
        takeTerm: async (...of) => ({ ...(await store.takeTerm(...of)), aliveAt: of[1] }),
      })),
    },
  ];
}
