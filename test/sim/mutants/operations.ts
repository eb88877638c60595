/** Bugs of operations on many tasks, for `mutants.ts`. */
import type { RowWrite } from '../../../master/domain/changes.ts';
import { type Mutant, onStore } from '../actors/sabotage.ts';
import type { StoredTask } from '../../../master/application/ports.ts';

const settings = { runsOperations: true, taskCount: 60, stormMs: 90_000 };

export function operationMutants(): Mutant[] {
  const read = new Map<number, StoredTask>();
  return [
    {
      name: 'writes how far an operation is in a commit of its own',
      settings,
      ...onStore((store) => ({
        commit: async (commit) => {
          const isOfWork = ({ table }: RowWrite) => table === 'work';
          const works = commit.writes.filter(isOfWork);
          const others = commit.writes.filter((write) => !isOfWork(write));
          if (works.length === 0 || others.length === 0) return store.commit(commit);
          await store.commit({ ...commit, writes: others });
          const { term, now, lastSeq, saysAlive } = commit;
          return store.commit({ term, now, lastSeq, saysAlive, writes: works, absences: [] });
        },
      })),
    },
    {
      name: 'does not look at the version of what an operation changes',
      settings,
      ...onStore((store) => ({
        searchTasks: async (...asked) => {
          const page = await store.searchTasks(...asked);
          const tasks = page.tasks.map((stored) => {
            const known = read.get(stored.task.seq) ?? structuredClone(stored);
            read.set(stored.task.seq, known);
            return structuredClone(known);
          });
          return { ...page, tasks };
        },
        commit: (commit) => {
          const writes = commit.writes.map((write) =>
            'expect' in write ? { ...write, expect: 'any' as const } : write,
          );
          return store.commit({ ...commit, writes });
        },
      })),
    },
    {
      name: 'looks anew for what an operation is to be done to',
      settings,
      ...onStore((store) => ({
        searchTasks: (search, ...page) =>
          store.searchTasks({ ...search, seqMax: Infinity, endedBefore: Infinity }, ...page),
      })),
    },
    {
      name: 'forgets at its start how far an operation was',
      faults: { masterCrash: true },
      settings,
      ...onStore((store) => ({
        loadWhole: async () => {
          const { work, ...whole } = await store.loadWhole();
          return { ...whole, work: work.map((row) => ({ ...row, cursor: null })) };
        },
      })),
    },
    {
      name: 'passes over a task of each slice of an operation',
      settings,
      ...onStore((store) => ({
        searchTasks: async (...asked) => {
          const page = await store.searchTasks(...asked);
          return { ...page, tasks: page.tasks.slice(1) };
        },
      })),
    },
  ];
}
