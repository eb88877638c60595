/** Bugs of what chooses an executor: routes, pins and free disk; for `mutants.ts`. */
import type { TaskType } from '../../../master/domain/model/task-type.ts';
import type { State } from '../../../master/domain/state/state.ts';
import { type Mutant, onEvent, onState } from '../actors/sabotage.ts';

const settings = { routesTypes: true, executorCount: 6, longRunChance: 0.6 };

/** In memory only. */
function changeTypes({ types, quotas }: State, change: (type: TaskType) => TaskType): void {
  for (const [name, type] of types) {
    const quota = quotas.get(name);
    if (quota === undefined) continue;
    quota.taskType = change(type);
    types.set(name, quota.taskType);
  }
}

export function routeMutants(): Mutant[] {
  return [
    {
      name: 'gives tasks of a sticky type to anybody',
      settings,
      ...onState((state) => changeTypes(state, (type) => ({ ...type, route: null }))),
    },
    {
      name: 'keeps what a value has chosen for as long as it takes',
      settings,
      ...onState((state) =>
        changeTypes(state, (type) => ({
          ...type,
          route: type.route && { ...type.route, waitMs: 600_000 },
        })),
      ),
    },
    {
      name: 'chooses by another value than the one at the pointer',
      settings,
      ...onState(({ choices }) => {
        const set = choices.set.bind(choices);
        choices.set = (task, choice) =>
          set(task, { ...choice, hash: choice.hash && task.seq * 0x9e3779b1 });
      }),
    },
    {
      name: 'takes every disk for large',
      settings: { hasDisks: true },
      ...onEvent((event) =>
        'ready' in event && event.ready !== undefined
          ? { ...event, ready: { ...event.ready, diskBytes: 2 ** 50 } }
          : event,
      ),
    },
    {
      name: 'does not see that a disk has become free',
      settings: { hasDisks: true },
      ...onState(({ pools }) => {
        for (const { idle } of pools.values()) idle.update = () => undefined;
      }),
    },
    {
      name: 'gives a task that names its executor to another one',
      settings: { pinsTasks: true },
      ...onState(({ kinds }) => {
        for (const kind of kinds.values())
          if (kind.pin !== null) Object.assign(kind, { requires: [] });
      }),
    },
  ];
}
