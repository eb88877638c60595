/** Logs of the tasks of a namespace, in memory. */
import type { ChunkQuery, LogStore, LogWrite, StoredChunk } from '../../application/ports.ts';
import { deletedBy, type RowWrite } from '../../domain/changes.ts';
import { endChunk, type LogChunk, type LogHead } from '../../domain/logs/attempt-log.ts';

export class MemoryLogs implements LogStore {
  /** By task, attempt and the number of their first line. */
  readonly #tasks = new Map<number, Map<number, Map<number, LogChunk>>>();
  readonly #deleted = new Set<number>();

  async writeLogs(writes: readonly LogWrite[]): Promise<void> {
    for (const { taskSeq, attempt, put, remove } of writes) {
      if (this.#deleted.has(taskSeq)) continue;
      for (const n of remove) this.#tasks.get(taskSeq)?.get(attempt)?.delete(n);
      for (const chunk of put) this.#put(taskSeq, attempt, chunk);
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

  /** What a commit takes along with a task or an attempt, and how many lines one has said. */
  protected followCommit(writes: readonly RowWrite[]): void {
    for (const taskSeq of deletedBy(writes)) this.forgetLogs(taskSeq);
    for (const write of writes) {
      const [taskSeq, attempt] = write.table === 'attempt' ? write.key : [0, 0];
      if (write.op === 'remove') this.#tasks.get(taskSeq)?.delete(attempt);
      if (write.table === 'logEnd' && write.op === 'insert')
        this.#put(...write.key, endChunk(write.row));
    }
  }

  /** Of a task that is not kept any more: also what has yet to come. */
  protected forgetLogs(taskSeq: number): void {
    this.#tasks.delete(taskSeq);
    this.#deleted.add(taskSeq);
  }

  #put(taskSeq: number, attempt: number, chunk: LogChunk): void {
    const attempts = this.#tasks.get(taskSeq) ?? new Map<number, Map<number, LogChunk>>();
    const chunks = attempts.get(attempt) ?? new Map<number, LogChunk>();
    this.#tasks.set(taskSeq, attempts.set(attempt, chunks.set(chunk.n, chunk)));
  }

  #sorted(taskSeq: number, attempt: number): LogChunk[] {
    const chunks = this.#tasks.get(taskSeq)?.get(attempt) ?? new Map<number, LogChunk>();
    return [...chunks.values()].sort((a, b) => a.n - b.n);
  }
}
