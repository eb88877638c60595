/** Bugs of what fires jobs, for `mutants.ts`. */
import { everyNth, type Mutant, onState, onWrites } from '../../actors/sabotage.ts';

const settings = { firesJobs: true, executorCount: 6, stormMs: 60_000 };

export function jobMutants(): Mutant[] {
  const now = everyNth(7);
  return [
    {
      name: 'forgets to write what has become of a time that is not run',
      settings,
      ...onWrites((write) => {
        const isIt = write.table === 'occurrence' && write.op === 'put';
        return isIt && ['skipped', 'merged'].includes(write.row.state) ? null : write;
      }),
    },
    {
      name: 'forgets to write up to when the times of a trigger are decided',
      settings,
      ...onWrites((write) =>
        write.table === 'trigger' && write.op === 'set' && now() ? null : write,
      ),
    },
    {
      name: 'begins a run of a job whatever runs of it',
      settings: { ...settings, longRunChance: 0.6 },
      ...onState(({ jobs }) => {
        for (const [name, row] of jobs.activities) {
          if (row.liveCount > 0) jobs.activities.set(name, { ...row, liveCount: 0 });
        }
      }),
    },
  ];
}
