/** On which hosts the executors of a run are, as they call the start of its kernel: every other one on the same. */
export function bootOf(executorId: string): string {
  return `host${Number(executorId.slice(1)) % 2}`;
}
