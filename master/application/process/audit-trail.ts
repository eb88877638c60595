/**
 * Who has changed what, for whoever asks; and the tries that were refused, which no commit writes: so many in a
 * minute as rows, since anybody with a token may try as often as he likes.
 */
import { AUDIT_REFUSALS_PER_MINUTE_MAX, LISTS_WAITING_MAX } from '../../domain/bounds.ts';
import { type Author, changeRefused } from '../../domain/model/audit.ts';
import type { AuditCheck, AuditPage, AuditQuery, Clock, Log, Store } from '../ports.ts';
import { Turnstile } from '../turnstile.ts';

/** Rows that a page may look at for what it brings. */
const LOOK_COUNT = 10_000;
const MINUTE_MS = 60_000;
const READS = { countMax: 1, waitingMax: LISTS_WAITING_MAX, what: 'pages of the audit' };

export class AuditTrail {
  readonly #store: Pick<Store, 'audit'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Log;
  readonly #ask: <T>(question: () => Promise<T>) => Promise<T>;
  readonly #reads = new Turnstile(READS);
  #minute = 0;
  /** Rows of refused tries in this minute. */
  #rowCount = 0;
  /** Refused tries that no row tells of yet. */
  #untoldCount = 0;

  /** @param options.ask waits for the answer of the store as long as it is worth. @throws {Unavailable} */
  constructor(options: {
    readonly store: Pick<Store, 'audit'>;
    readonly clock: Pick<Clock, 'now'>;
    readonly log: Log;
    readonly ask: <T>(question: () => Promise<T>) => Promise<T>;
  }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#ask = options.ask;
  }

  /** @throws {Unavailable} also where too many ask. */
  list(query: Omit<AuditQuery, 'lookCount'>): Promise<AuditPage> {
    return this.#read((audit) => audit.list({ ...query, lookCount: LOOK_COUNT }));
  }

  /** Whether a piece of it is as it was written. @throws {Unavailable} also where too many ask. */
  verify(after: number | null): Promise<AuditCheck> {
    return this.#read((audit) => audit.verify(after));
  }

  #read<T>(question: (audit: Store['audit']) => Promise<T>): Promise<T> {
    return this.#ask(() => this.#reads.during(() => question(this.#store.audit)));
  }

  /** Nobody waits for the row. */
  refused(author: Author, target: string | null): void {
    const now = this.#clock.now();
    const minute = Math.floor(now / MINUTE_MS);
    if (minute !== this.#minute) this.#rowCount = 0;
    this.#minute = minute;
    this.#untoldCount += 1;
    if (this.#rowCount >= AUDIT_REFUSALS_PER_MINUTE_MAX) return;
    this.#rowCount += 1;
    const record = changeRefused(author, now, target, this.#untoldCount);
    this.#untoldCount = 0;
    this.#store.audit.append(record).catch((error: unknown) => {
      this.#untoldCount += record.count ?? 0;
      this.#log.warn('a refused try was not kept', { event: 'audit', error: String(error) });
    });
  }
}
