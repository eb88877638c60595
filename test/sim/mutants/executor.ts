/** Bugs in what becomes of decisions about executors, for `mutants.ts`. */
import { NO_OVERRIDE, READY } from '../../../master/domain/model/executor.ts';
import { type Mutant, onEvent, onStore, onWrites } from '../actors/sabotage.ts';

export function executorMutants(): Mutant[] {
  return [
    {
      name: 'does not listen to executors that become unready',
      settings: { flipsReadiness: true },
      ...onEvent((event) =>
        event.type === 'heartbeatReceived' ? { ...event, ready: READY } : event,
      ),
    },
    {
      name: 'takes every executor that comes for ready',
      faults: { masterCrash: true, network: true },
      settings: { flipsReadiness: true, executorCount: 6, stormMs: 120_000 },
      ...onEvent((event) =>
        event.type === 'executorConnected' ? { ...event, ready: READY } : event,
      ),
    },
    {
      name: 'forgets at its start which executors are drained',
      settings: { commandChance: 0.6, relabels: false },
      ...onStore((store) => ({
        loadWhole: async () => ({ ...(await store.loadWhole()), executor: [] }),
      })),
    },
    {
      name: 'forgets at its start which labels operators have set',
      faults: { masterCrash: true },
      settings: { relabels: true },
      ...onStore((store) => ({
        loadWhole: async () => {
          const { executor, ...others } = await store.loadWhole();
          const forgotten = executor.map((record) => ({ ...record, ...NO_OVERRIDE }));
          return { ...others, executor: forgotten };
        },
      })),
    },
    {
      name: 'forgets to write which labels an operator has set',
      settings: { relabels: true },
      ...onWrites((write) =>
        write.table === 'executor' && write.op === 'put'
          ? { ...write, row: { ...write.row, ...NO_OVERRIDE } }
          : write,
      ),
    },
  ];
}
