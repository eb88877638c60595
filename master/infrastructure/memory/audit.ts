/** What people have changed, in memory: nobody but this process can change it, so there is no chain to verify. */
import type {
  AuditCheck,
  AuditPage,
  AuditQuery,
  AuditStore,
  Position,
} from '../../application/ports.ts';
import type { AuditRecord } from '../../domain/model/audit.ts';

/** As many as are verified or removed at once. */
const SLICE_COUNT = 1_000;

interface Entry {
  readonly seq: number;
  readonly record: AuditRecord;
}

export class MemoryAudit implements AuditStore {
  /** Oldest first. */
  #entries: Entry[] = [];
  #lastSeq = 0;

  write(records: readonly AuditRecord[]): void {
    for (const record of records) this.#entries.push({ seq: ++this.#lastSeq, record });
  }

  async append(record: AuditRecord): Promise<void> {
    this.write([record]);
  }

  async list(query: AuditQuery): Promise<AuditPage> {
    const { limit, lookCount } = query;
    const ordered = this.#entries.toSorted((a, b) => b.record.at - a.record.at || b.seq - a.seq);
    const range = ordered.filter((entry) => isInRange(query, entry));
    const looked = range.slice(0, lookCount);
    const found = looked.filter(({ record }) => isAskedFor(query, record));
    const page = found.slice(0, limit);
    const floor = looked.length === lookCount ? looked.at(-1) : undefined;
    const end = found.length > limit ? page.at(-1) : floor;
    const before = end === undefined ? null : positionOf(end);
    return { records: page.map(({ record }) => record), before };
  }

  async verify(after: number | null): Promise<AuditCheck> {
    const rest = this.#entries.filter(({ seq }) => seq > (after ?? 0));
    const slice = rest.slice(0, SLICE_COUNT);
    const timeOf = (entry: Entry | undefined): number | null => entry?.record.at ?? null;
    const next = rest.length > slice.length ? (slice.at(-1)?.seq ?? null) : null;
    const [from, to] = [timeOf(slice[0]), timeOf(slice.at(-1))];
    return { count: slice.length, from, to, next, misfit: null };
  }

  async drop(before: number, now: number): Promise<number> {
    const kept = this.#entries.findIndex(({ record: { at } }) => at >= before && at <= now);
    const oldest = kept < 0 ? this.#entries : this.#entries.slice(0, kept);
    const older = oldest.findLastIndex(({ record }) => record.at < before);
    const count = Math.min(older + 1, SLICE_COUNT);
    this.#entries = this.#entries.slice(count);
    return count;
  }
}

const positionOf = ({ seq, record }: Entry): Position => ({ time: record.at, seq });

function isInRange({ from, to, before }: AuditQuery, { seq, record: { at } }: Entry): boolean {
  const isOlder = before === null || at < before.time || (at === before.time && seq < before.seq);
  return isOlder && at >= (from ?? 0) && at < (to ?? Number.POSITIVE_INFINITY);
}

function isAskedFor({ actor, action, target }: AuditQuery, record: AuditRecord): boolean {
  return (
    (actor ?? record.actor) === record.actor &&
    (target ?? record.target) === record.target &&
    (action === null || record.action === action || record.action.startsWith(`${action}.`))
  );
}
