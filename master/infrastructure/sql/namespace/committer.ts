/**
 * Brings the commits of all namespaces to the database. Those that come in one piece of the event loop, or
 * while others are under way, share a transaction, each with the fence of its own term. So many namespaces
 * share the flush of the disk, and one alone waits for no turn of the loop. Where something is against one of
 * them, each is tried by itself, and hears its own answer.
 */
import { CommitConflict, StoreUnusable, TermLost } from '../../../application/ports.ts';
import { SHARED_WRITE_COUNT_MAX } from '../../../domain/bounds.ts';
import { planCommit, type Turn } from '../commit.ts';
import type { Database } from '../database.ts';
import type { Statement } from '../dialects/dialect.ts';
import type { History } from '../history.ts';
import { settingsWritten } from './settings.ts';
import type { Heading, Terms } from './terms.ts';

interface Waiting {
  readonly turn: Turn;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class Committer {
  readonly #engine: Database;
  readonly #history: History;
  readonly #terms: Terms;
  /** Something is under way, or about to be. */
  #isBusy = false;
  /** Settles with what was begun last. */
  #underWay: Promise<unknown> = Promise.resolve();
  /** One of each namespace at most: its engine waits for it. */
  #waiting: Waiting[] = [];

  constructor(engine: Database, history: History, terms: Terms) {
    this.#engine = engine;
    this.#history = history;
    this.#terms = terms;
  }

  /** @see TaskStore.commit; but absences are credited before. */
  commit(turn: Turn): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ turn, resolve, reject });
      if (this.#isBusy) return;
      this.#isBusy = true;
      // Once all promises of this piece have been followed: SQLite would be done before the next engine asks.
      process.nextTick(() => this.#next());
    });
  }

  /** Resolves once nothing is under way that was begun before this was asked, however it has ended. */
  settled(): Promise<void> {
    const over = (): void => undefined;
    return this.#underWay.then(over, over);
  }

  #next(): void {
    const some = this.#take();
    this.#isBusy = some.length > 0;
    if (!this.#isBusy) return;
    const together = this.#together(some);
    this.#underWay = together;
    void together.finally(() => this.#next());
  }

  /** As many as share a transaction; one at least, where any waits. */
  #take(): Waiting[] {
    let writeCount = 0;
    const end = this.#waiting.findIndex(
      ({ turn }) => (writeCount += rowCountOf(turn)) > SHARED_WRITE_COUNT_MAX,
    );
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : Math.max(end, 1));
  }

  /** Never rejects: each hears its own answer. */
  async #together(some: readonly Waiting[]): Promise<void> {
    const asking = some.filter(({ turn }) => isQuestion(turn));
    const writing = some.filter(({ turn }) => !isQuestion(turn));
    await this.#answer(asking, (turns) => this.#terms.confirm(turns.map(headingOf)));
    await this.#answer(writing, (turns) => this.#write(turns));
  }

  async #answer(
    some: readonly Waiting[],
    work: (turns: readonly Turn[]) => Promise<void>,
  ): Promise<void> {
    if (some.length === 0) return;
    try {
      await this.#kept(work(some.map(({ turn }) => turn)));
      for (const { resolve } of some) resolve();
    } catch (error) {
      const wroteNothing =
        error instanceof TermLost ||
        error instanceof CommitConflict ||
        this.#engine.dialect.isRefused(error);
      for (const { turn, resolve, reject } of some) {
        if (wroteNothing) await this.#kept(this.#one(turn)).then(resolve, reject);
        else reject(error);
      }
    }
  }

  /** Looked at after it: what was written before the file was lost nobody has been told of yet. */
  async #kept(work: Promise<void>): Promise<void> {
    await work;
    const loss = this.#engine.dialect.findLoss();
    if (loss !== null) throw new StoreUnusable(loss);
  }

  #one(turn: Turn): Promise<void> {
    return isQuestion(turn) ? this.#terms.confirm([headingOf(turn)]) : this.#write([turn]);
  }

  async #write(turns: readonly Turn[]): Promise<void> {
    const { dialect } = this.#engine;
    const { statements, missing } = planCommit(dialect, this.#history.segments, turns);
    const first = turns.flatMap(({ ns, commit: { settings } }): Statement[] =>
      settings === undefined ? [] : [settingsWritten(ns, settings)],
    );
    // Making a table would end the transaction, so it comes before.
    for (const segment of missing) await this.#history.make(this.#engine, segment);
    const audit = turns.flatMap(({ commit }) => commit.audit ?? []);
    await this.#terms.write(turns.map(headingOf), [...first, ...statements], audit);
  }
}

/** It writes nothing, and only asks whether its term still stands. */
function isQuestion({ commit }: Turn): boolean {
  const { writes, settings, saysAlive, audit = [], events = [] } = commit;
  const rowCount = writes.length + audit.length + events.length;
  return !saysAlive && settings === undefined && rowCount === 0;
}

const rowCountOf = ({ commit: { writes, events = [] } }: Turn): number =>
  writes.length + events.length;

function headingOf({ ns, commit: { term, now, lastSeq, events = [] } }: Turn): Heading {
  return { ns, term, now, lastSeq, eventCount: events.length };
}
