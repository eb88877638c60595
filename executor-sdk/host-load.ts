/** How busy the processors of this machine are: those of children count, which the process itself is not told of. */
import { type CpuInfo, cpus } from 'node:os';

/** Asked again and again, it says how much of the time since was busy, 0 to 100; undefined: it cannot be told. */
export function hostLoad(look: () => readonly CpuInfo[] = cpus): () => number | undefined {
  let before = spent(look());
  return () => {
    const now = spent(look());
    const [all, idle] = [now.all - before.all, now.idle - before.idle];
    before = now;
    if (all <= 0) return undefined;
    return Math.round(Math.min(100, Math.max(0, (1 - idle / all) * 100)));
  };
}

/** Milliseconds of all processors since the start of the machine. */
function spent(processors: readonly CpuInfo[]): { readonly all: number; readonly idle: number } {
  let [all, idle] = [0, 0];
  for (const { times } of processors) {
    all += times.user + times.nice + times.sys + times.irq + times.idle;
    idle += times.idle;
  }
  return { all, idle };
}
