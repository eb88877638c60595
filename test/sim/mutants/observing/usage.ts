/** Bugs of what is counted as used, for `mutants.ts`. */
import type { RowWrite } from '../../../../master/domain/changes.ts';
import type { Figures } from '../../../../master/domain/usage/usage.ts';
import { type Mutant, onStore, onWrites } from '../../actors/sabotage.ts';
import type { Sabotage } from '../../actors/master-process.ts';

export function usageMutants(): Mutant[] {
  return [
    {
      name: 'counts again what a commit has counted that failed for all it knows',
      faults: { store: true },
      ...onStore((store) => {
        let failed: readonly RowWrite[] = [];
        return {
          commit: async (commit) => {
            const before = failed;
            const counted = commit.writes.filter(({ table }) => table === 'usage');
            failed = [];
            await store
              .commit({ ...commit, writes: [...before, ...commit.writes] })
              .catch((error) => {
                failed = counted.map(
                  (write) => ({ ...write, key: [commit.term + 1, -1] }) as RowWrite,
                );
                throw error;
              });
          },
        };
      }),
    },
    {
      name: 'counts no attempt that was lost',
      ...onFigures(({ attempts = 0, lost = 0, ...others }) => ({
        ...others,
        attempts: attempts - lost,
      })),
    },
    {
      name: 'leaves out how long an attempt has run that was lost',
      ...onFigures(({ run_ms = 0, ...figures }) => ({
        ...figures,
        run_ms: figures.lost ? 0 : run_ms,
      })),
    },
  ];
}

function onFigures(change: (figures: Figures) => Figures): Sabotage {
  return onWrites((write) => {
    if (write.table !== 'usage' || write.op !== 'insert') return write;
    const counts = [...write.row.counts].map(([id, one]) => {
      return [id, { ...one, figures: change(one.figures) }] as const;
    });
    return { ...write, row: { ...write.row, counts: new Map(counts) } };
  });
}
