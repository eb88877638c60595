/** Reports of a master that has counted nothing. */
import { Reports } from '../../../master/application/reports/reports.ts';
import type { Clock } from '../../../master/application/ports.ts';
import { createState } from '../../../master/domain/state/state.ts';
import { MemoryLoad } from '../../../master/infrastructure/memory/load.ts';
import { MemoryUsage } from '../../../master/infrastructure/memory/usage.ts';
import { NOW, testPolicy } from '../task.ts';

export function standInReports(clock: Clock): Reports {
  const usage = new MemoryUsage();
  const load = new MemoryLoad();
  const state = createState({ policy: testPolicy, term: 1, lastSeq: 0, now: NOW, seed: 1 });
  const store = {
    foldUsage: async () => {},
    readLoad: async (...of: Parameters<MemoryLoad['read']>) => load.read(...of),
    readRecent: async (...of: Parameters<MemoryLoad['recent']>) => load.recent(...of),
    readUsage: async (query: Parameters<MemoryUsage['read']>[0]) => usage.read(query),
  };
  return new Reports({ engine: { state }, store, clock }, (work) =>
    work(new AbortController().signal),
  );
}
