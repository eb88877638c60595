/** Bugs of the order in which kinds and lanes are looked at, for `mutants.ts`. */
import type { Agenda, Standing } from '../../../master/domain/queue/agenda.ts';
import type { State } from '../../../master/domain/state/state.ts';
import { type Mutant, onState, onStore, onWrites } from '../actors/sabotage.ts';
import type { Sabotage } from '../actors/master-process.ts';

/** Each agenda, once for each term. */
function onAgendas(change: (agenda: Agenda<Standing>) => void): Sabotage {
  const seen = new WeakSet<object>();
  return onState((state) => {
    for (const agenda of agendasOf(state)) {
      if (seen.has(agenda)) continue;
      seen.add(agenda);
      change(agenda);
    }
  });
}

function* agendasOf({ kinds }: State): Generator<Agenda<Standing>> {
  for (const { open, stands } of kinds.values()) {
    yield open as unknown as Agenda<Standing>;
    for (const { junction } of stands) yield junction.open as unknown as Agenda<Standing>;
  }
}

export function queueMutants(): Mutant[] {
  return [
    {
      name: 'offers the second task of a lane before the first',
      ...onState(({ lanes }) => {
        for (const { ready } of lanes.values()) {
          ready.first = () => [...ready].slice(0, 2).at(-1);
        }
      }),
    },
    {
      name: 'keeps a window open over what it gave up',
      ...onState(({ lanes }) => {
        for (const { ready } of lanes.values()) ready.until = null;
      }),
    },
    {
      name: 'leaves a kind where it stands when a task is put before its first',
      ...onAgendas((agenda) => {
        const announce = agenda.announce.bind(agenda);
        agenda.announce = (queue, head) => {
          if (queue.place < 0) announce(queue, head);
        };
      }),
    },
    {
      name: 'takes the first kind that has a task for the one that comes first',
      ...onAgendas((agenda) => {
        agenda.choose = (choose, earliest) => {
          if (earliest !== undefined) return earliest;
          for (const queue of [...agenda].reverse()) {
            const task = choose(queue);
            if (task !== undefined) return task;
          }
          return undefined;
        };
      }),
    },
    {
      name: 'forgets to write that there is another lane',
      ...onWrites((write) => (write.table === 'lane' && write.op === 'insert' ? null : write)),
    },
    {
      name: 'keeps the rows of lanes that it has given up',
      settings: { taskCount: 60 },
      ...onWrites((write) => (write.table === 'lane' && write.op === 'remove' ? null : write)),
    },
    {
      name: 'forgets which lanes are to be read once an executor is idle',
      ...onState(({ kinds }) => {
        for (const { stands } of kinds.values()) {
          for (const { junction } of stands) junction.hungry.clear();
        }
      }),
    },
    {
      name: 'does not tell the kinds that a pool has nobody idle any more',
      ...onState(({ pools }) => {
        for (const { junctions } of pools.values()) {
          for (const { idle } of junctions) idle.splice = () => [];
        }
      }),
    },
    ...placeMutants(),
  ];
}

const movesTasks = { movesTasks: true, gatesTypes: true, taskCount: 60, executorCount: 1 };
const undisturbed = { store: false, masterPause: false };

/** Of tasks that are put first or last. */
function placeMutants(): Mutant[] {
  return [
    {
      name: 'puts tasks first without a look at those that are held',
      settings: movesTasks,
      faults: undisturbed,
      ...onStore((store) => ({
        findEdges: async (wanted, ...asked) => {
          const edges = await store.findEdges(wanted, ...asked);
          return edges.map((edge, at) => (wanted[at]?.state === 'held' ? null : edge));
        },
      })),
    },
    {
      name: 'puts tasks first and tells nobody who wanted it',
      settings: movesTasks,
      faults: undisturbed,
      ...onStore((store) => ({
        commit: ({ audit = [], ...commit }) => {
          const told = audit.filter(({ record }) => record.action !== 'moveRequested');
          return store.commit({ ...commit, audit: told });
        },
      })),
    },
    {
      name: 'puts tasks first of one lane only',
      settings: movesTasks,
      faults: undisturbed,
      ...onStore((store) => ({
        findEdges: async (wanted, ...asked) => {
          const edges = await store.findEdges(wanted, ...asked);
          return edges.map((edge, at) => (wanted[at]?.lane === wanted[0]?.lane ? edge : null));
        },
      })),
    },
  ];
}
