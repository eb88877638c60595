/** Bugs of what is set for types, for `mutants.ts`. */
import { settle } from '../../../master/domain/limits/places.ts';
import { type Mutant, onState, onStore, onWrites } from '../actors/sabotage.ts';

const settings = { limitsTypes: true };
const gates = { ...settings, gatesTypes: true };
const busy = { ...settings, longRunChance: 1, executorCount: 6, stormMs: 120_000 };

export function typeMutants(): Mutant[] {
  return [
    {
      name: 'offers more of a type than may run',
      settings,
      ...onState(({ quotas }) => {
        for (const quota of quotas.values()) quota.limits = { ...quota.limits, maxRunning: null };
      }),
    },
    {
      name: 'offers more of a group than may run',
      settings,
      ...onState(({ quotas }) => {
        for (const quota of quotas.values()) quota.limits = { ...quota.limits, perGroup: null };
      }),
    },
    {
      name: 'offers a type that is paused',
      settings,
      ...onState(({ quotas, types }) => {
        for (const [name, quota] of quotas) {
          quota.taskType = { ...quota.taskType, paused: null };
          types.set(name, quota.taskType);
        }
      }),
    },
    {
      name: 'counts twice what a group has of a type',
      settings,
      ...onState(({ quotas }) => {
        for (const { groups } of quotas.values()) {
          for (const group of groups.values()) if (group.attemptCount === 1) group.attemptCount = 2;
        }
      }),
    },
    {
      name: 'gives a place of a type back before its attempt is over',
      settings,
      ...onState(({ quotas }) => {
        for (const quota of quotas.values()) quota.attemptCount = 0;
      }),
    },
    {
      name: 'tells nobody that there is room for more of a type',
      settings: { ...settings, executorCount: 6 },
      ...onState(({ opened }) => {
        opened.add = () => opened;
      }),
    },
    {
      name: 'forgets at its start what is set for types',
      faults: { masterCrash: true },
      settings,
      ...onStore((store) => ({
        loadWhole: async () => ({ ...(await store.loadWhole()), type: [] }),
      })),
    },
    {
      name: 'forgets of which type it is what may still run',
      faults: { handlers: true },
      settings: { ...busy, commandChance: 0.6 },
      ...onWrites((write) =>
        write.table === 'leftover' && write.op === 'put'
          ? { ...write, row: { ...write.row, type: '' } }
          : write,
      ),
    },
    {
      name: 'gives a place of a type back when contact is lost',
      faults: { network: true, executorPause: true },
      settings: busy,
      ...onState((state) => {
        for (const executor of [...state.executors.values(), ...state.elders.values()]) {
          const { occupation, connected } = executor;
          if (occupation === null || connected || occupation.type === '') continue;
          const quota = state.quotas.get(occupation.type);
          const group = quota?.groups.get(occupation.group);
          if (quota === undefined || group === undefined) continue;
          // Consistently: no count in the state tells of it.
          executor.occupation = { ...occupation, type: '' };
          quota.attemptCount--;
          group.attemptCount--;
          if (group.lanes.size + group.attemptCount === 0) quota.groups.delete(group.group);
        }
      }),
    },
    {
      name: 'offers more with one value than may have a place',
      settings: gates,
      ...onState(({ gates: all }) => {
        for (const gate of all.values()) gate.attemptCount = 0;
      }),
    },
    {
      name: 'asks for nobody who is held when an attempt is over',
      settings: gates,
      ...onState(({ openGates }) => {
        openGates.add = () => openGates;
      }),
    },
    {
      name: 'does not look at its start whether somebody who is held has a place',
      faults: { masterCrash: true },
      settings: { ...gates, ...busy, gatesTypes: true },
      ...onStore(() => ({ countGates: async () => [] })),
    },
    {
      name: 'gives a place of a value back when its attempt is over for its task',
      faults: { handlers: true, executorPause: true },
      settings: { ...busy, gatesTypes: true, commandChance: 0.6 },
      ...onState((state) => {
        for (const executor of state.leftovers.keys()) {
          const { occupation } = executor;
          const gate = state.gates.get(occupation?.gate ?? 0);
          if (occupation === null || gate === undefined) continue;
          // Consistently: no count in the state tells of it.
          executor.occupation = { ...occupation, gate: null };
          gate.attemptCount--;
          settle(state, gate);
        }
      }),
    },
    {
      name: 'offers more than a rate allows',
      settings,
      ...onState(({ quotas }) => {
        for (const { rates } of quotas.values()) for (const use of rates.values()) use.count = 0;
      }),
    },
    {
      name: 'forgets at its start how many were begun in the windows of rates',
      faults: { masterCrash: true },
      settings: { ...settings, executorCount: 6 },
      ...onStore((store) => ({
        loadWhole: async () => ({ ...(await store.loadWhole()), rate: [] }),
      })),
    },
    {
      name: 'never begins the next window of a rate',
      settings,
      ...onState(({ deadlines }) => {
        const push = deadlines.push.bind(deadlines);
        deadlines.push = (deadline) => (deadline.kind === 'quota' ? undefined : push(deadline));
      }),
    },
    {
      name: 'does not know of windows in zones',
      settings: busy,
      ...onState(({ quotas }) => {
        for (const quota of quotas.values()) quota.open = { ...quota.open, maxRunning: null };
      }),
    },
    {
      name: 'never ends the pause of a type by itself',
      settings,
      ...onState(({ deadlines }) => {
        const push = deadlines.push.bind(deadlines);
        deadlines.push = (deadline) => (deadline.kind === 'type' ? undefined : push(deadline));
      }),
    },
    {
      name: 'counts the time of the pause of a type',
      settings: { ...settings, limitsStarts: true, hasOperator: false },
      ...onStore((store) => ({
        commit: ({ absences, ...commit }) =>
          store.commit({ ...commit, absences: absences.filter(({ of }) => of === undefined) }),
      })),
    },
  ];
}
