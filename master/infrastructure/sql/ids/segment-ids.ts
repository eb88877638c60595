/**
 * Knows which ids are not in the segments whose day is over, so that whoever looks for one need not ask
 * each of them. A segment is asked as long as its ids are not all known here, and where they may include
 * the one that is looked for. Rows go with their segment only; what is put into one all the same, since
 * a clock was set back or a commit took long, becomes known before it is there.
 */
import { randomInt } from 'node:crypto';
import { DEFAULT_NAMESPACE_ID } from '../../../application/ports.ts';
import {
  SEGMENT_ID_BITS_MIN,
  SEGMENT_IDS_BYTES_MAX,
  SEGMENT_IDS_TOTAL_BYTES_MAX,
} from '../../../domain/bounds.ts';
import type { Turn } from '../commit.ts';
import type { Database } from '../database.ts';
import { hasEndedBefore, type ListedSegment, type Segment, segmentAt } from '../segments.ts';
import { hashOf, type IdHash, IdFilter } from './id-filter.ts';

/** Ids read by one statement: about a millisecond of SQLite. */
const PAGE_COUNT = 1_000;
/** For 32,768 ids. Room for many that are not there would take a while to be laid out, and folded. */
const FIRST_BYTES = 65_536;
/** So long after its day nothing is put into a segment, but by mistake. */
const CLOSED_AFTER_MS = 3_600_000;

interface Page {
  readonly ns: number;
  readonly ids: readonly string[];
}

export class SegmentIds {
  readonly #database: Database;
  readonly #bytesMax: number;
  readonly #seed = randomInt(2 ** 31);
  /** By table. */
  readonly #known = new Map<string, IdFilter>();
  /** Not all ids of the table are in yet. */
  #filling: { readonly table: string; readonly filter: IdFilter } | null = null;
  /**
   * Of each namespace the newest, until it has succeeded: one that failed may take place late, though not
   * once another has begun, since a new term came before that.
   */
  readonly #underWay = new Map<number, Turn>();
  #learning: Promise<unknown> = Promise.resolve();
  #learntCount = 0;
  #isStopped = false;

  /** @param database not the engine's: nothing that is read here stands in front of a commit. */
  constructor(database: Database, bytesMax = SEGMENT_IDS_TOTAL_BYTES_MAX) {
    this.#database = database;
    this.#bytesMax = bytesMax;
  }

  /** Of all filters. */
  get bytes(): number {
    return [...this.#known.values()].reduce((sum, filter) => sum + filter.bytes, 0);
  }

  hashOf(ns: number, id: string): IdHash {
    return hashOf(id, this.#seed ^ Math.imul(ns, 0x9e3779b1));
  }

  /** False: no task of this id is in the segment. */
  mayHave({ table }: Segment, hash: IdHash): boolean {
    return this.#known.get(table)?.mayHave(hash) ?? true;
  }

  /** Every commit goes through here. Answers what `work` does, and no later: others share its transaction. */
  during(turn: Turn, work: () => Promise<void>): Promise<void> {
    const { ns } = turn;
    this.#underWay.set(ns, turn);
    this.#addOf(turn, (table) =>
      this.#filling?.table === table ? this.#filling.filter : this.#known.get(table),
    );
    const working = work();
    const forget = (): void => {
      if (this.#underWay.get(ns) === turn) this.#underWay.delete(ns);
    };
    working.then(forget, () => undefined);
    return working;
  }

  /** It is dropped. */
  forget({ table }: Segment): void {
    this.#known.delete(table);
    if (this.#filling?.table === table) this.#filling = null;
  }

  /** Reads the ids of all segments that are over and not known yet, page by page; returns how many these are. */
  learn(listed: readonly ListedSegment[], now: number): Promise<number> {
    const tables = new Set(listed.map(({ table }) => table));
    for (const table of this.#known.keys()) if (!tables.has(table)) this.#known.delete(table);
    const closed = listed.filter((segment) => hasEndedBefore(segment, now - CLOSED_AFTER_MS));
    const learning = this.#learning
      .catch(() => undefined)
      .then(async () => {
        const before = this.#learntCount;
        for (const segment of closed) await this.#learnOf(segment);
        return this.#learntCount - before;
      });
    this.#learning = learning;
    return learning;
  }

  /** Resolves once nothing is read any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#filling = null;
    await this.#learning.catch(() => undefined);
  }

  async #learnOf(segment: ListedSegment): Promise<void> {
    try {
      await this.#fill(segment, FIRST_BYTES);
    } catch (error) {
      // Another master has dropped it.
      if (!this.#database.dialect.isMissingTable(error)) throw error;
    }
  }

  /** Begins again with a larger filter where the day turns out to have more ids than fit this one. */
  async #fill(segment: ListedSegment, bytes: number): Promise<void> {
    const { table } = segment;
    if (this.#isStopped || this.#known.has(table)) return;
    const filter = new IdFilter(bytes);
    const filling = { table, filter };
    this.#filling = filling;
    for (const turn of this.#underWay.values()) {
      this.#addOf(turn, (one) => (one === table ? filter : undefined));
    }
    let count = 0;
    for await (const { ns, ids } of this.#pagesOf(segment)) {
      // Given up: dropped, or the store is being closed.
      if (this.#filling !== filling) return;
      for (const id of ids) filter.add(this.hashOf(ns, id));
      count += ids.length;
      if (bytesFor(count) <= bytes) continue;
      return this.#fill(segment, Math.min(bytes * 16, SEGMENT_IDS_BYTES_MAX));
    }
    filter.fold(bytesFor(count));
    // From here on commits add to it there.
    this.#filling = null;
    this.#known.set(table, filter);
    this.#learntCount += 1;
    this.#keepWithinBound();
  }

  /** Of one namespace after another. The index alone gives them. */
  async *#pagesOf({ table, isOld }: ListedSegment): AsyncGenerator<Page> {
    const { dialect, pace } = this.#database;
    const from = dialect.readBy(table, isOld ? `${table}_id` : `${table}_ns_id`);
    const where = isOld ? 'id > ?' : 'id > ? AND ns = ?';
    for (let ns: number | null = DEFAULT_NAMESPACE_ID; ns !== null; ) {
      for (let after = ''; ; ) {
        const rows = await this.#database.rows(
          `SELECT id FROM ${from} WHERE ${where} ORDER BY id LIMIT ${PAGE_COUNT}`,
          isOld ? [after] : [after, ns],
        );
        const ids = rows.map((row) => row['id'] as string);
        yield { ns, ids };
        if (ids.length < PAGE_COUNT) break;
        after = ids.at(-1) ?? after;
        await pace.pause();
      }
      ns = isOld ? null : await this.#namespaceAfter(ns, from);
    }
  }

  async #namespaceAfter(ns: number, from: string): Promise<number | null> {
    const sql = `SELECT MIN(ns) AS ns FROM ${from} WHERE ns > ?`;
    const [row] = await this.#database.rows(sql, [ns]);
    return (row?.['ns'] ?? null) as number | null;
  }

  #addOf({ ns, commit }: Turn, filterOf: (table: string) => IdFilter | undefined): void {
    for (const write of commit.writes) {
      if (write.table !== 'history' || write.op !== 'insert') continue;
      filterOf(segmentAt(write.key[2], write.key[1]).table)?.add(
        this.hashOf(ns, write.row.task.id),
      );
    }
  }

  /** The largest is folded first: then it denies fewer ids, and is asked more often in vain. */
  #keepWithinBound(): void {
    while (this.bytes > this.#bytesMax) {
      const [largest] = [...this.#known.values()].sort((a, b) => b.bytes - a.bytes);
      largest?.fold(largest.bytes / 2);
    }
  }
}

/** The least power of two with so many bits for each. */
function bytesFor(count: number): number {
  const bytes = 2 ** Math.ceil(Math.log2(Math.max(count * SEGMENT_ID_BITS_MIN, 512) / 8));
  return Math.min(bytes, SEGMENT_IDS_BYTES_MAX);
}
