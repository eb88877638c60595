/** In which racks it is, as labels tell: in one, in none, or on the way from one to another. */
export function racksOf(executorId: string): readonly string[] {
  const number = Number(executorId.slice(1)) % 4;
  return [['rack:a'], ['rack:b'], ['rack:a', 'rack:b'], []][(number + 3) % 4] ?? [];
}

/** On which hosts the executors of a run are, as they call the start of its kernel: every other one on the same. */
export function bootOf(executorId: string): string {
  return `host${Number(executorId.slice(1)) % 2}`;
}
