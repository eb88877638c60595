/** Logs of the tasks of a namespace, in memory. */
import type { ChunkQuery, LogStore, LogWrite, StoredChunk } from '../../application/ports.ts';
import type { LogChunk, LogHead } from '../../domain/logs/attempt-log.ts';

export class MemoryLogs implements LogStore {
  /** By task, attempt and the number of their first line. */
  readonly #tasks = new Map<number, Map<number, Map<number, LogChunk>>>();
  readonly #deleted = new Set<number>();

  async writeLogs(writes: readonly LogWrite[]): Promise<void> {
    for (const { taskSeq, attempt, put, remove } of writes) {
      if (this.#deleted.has(taskSeq)) continue;
      const attempts = this.#tasks.get(taskSeq) ?? new Map<number, Map<number, LogChunk>>();
      const chunks = attempts.get(attempt) ?? new Map<number, LogChunk>();
      for (const n of remove) chunks.delete(n);
      for (const chunk of put) chunks.set(chunk.n, chunk);
      this.#tasks.set(taskSeq, attempts.set(attempt, chunks));
    }
  }

  async readLogHeads(taskSeq: number, attempt: number): Promise<readonly LogHead[]> {
    return this.#sorted(taskSeq, attempt).map(({ n, lastN, bytes }) => ({ n, lastN, bytes }));
  }

  async readLogChunks({ taskSeq, attempt, after, limit }: ChunkQuery): Promise<StoredChunk[]> {
    const attempts = [...(this.#tasks.get(taskSeq)?.keys() ?? [])].sort((a, b) => a - b);
    const from = attempt ?? after?.attempt ?? attempts.at(-1) ?? 0;
    return attempts
      .filter((one) => one === from || (attempt === null && one > from))
      .flatMap((one) => this.#sorted(taskSeq, one).map((chunk) => ({ attempt: one, ...chunk })))
      .filter((chunk) => chunk.attempt !== after?.attempt || chunk.lastN > after.n)
      .slice(0, limit);
  }

  /** Of an attempt that is not kept any more. */
  protected forgetLog(taskSeq: number, attempt: number): void {
    this.#tasks.get(taskSeq)?.delete(attempt);
  }

  /** Of a task that is not: also what has yet to come. */
  protected forgetLogs(taskSeq: number): void {
    this.#tasks.delete(taskSeq);
    this.#deleted.add(taskSeq);
  }

  #sorted(taskSeq: number, attempt: number): LogChunk[] {
    const chunks = this.#tasks.get(taskSeq)?.get(attempt) ?? new Map<number, LogChunk>();
    return [...chunks.values()].sort((a, b) => a.n - b.n);
  }
}
