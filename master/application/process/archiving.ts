/** The archive as the process uses it: a duty says how it went, the log what was put in. */
import type { Archive, EndedDay, EndedSegment, Log, Prepared } from '../ports.ts';
import type { Duties, Duty } from './duties.ts';

export class Archiving implements Archive {
  readonly #archive: Archive;
  readonly #duty: Duty;
  readonly #log: Log;
  readonly #isOver: () => boolean;
  #count = 0;

  /** @param options.isOver the master is told to stop: what fails then is tried again by the next one. */
  constructor(
    archive: Archive,
    options: {
      readonly everyMs: number;
      readonly duties: Duties;
      readonly log: Log;
      readonly isOver: () => boolean;
    },
  ) {
    this.#archive = archive;
    this.#duty = options.duties.add('archive', options.everyMs);
    this.#log = options.log;
    this.#isOver = options.isOver;
  }

  /** One run of the duty, in which `drop` uses it. Rejects as that does, and before that where nothing can be put in. */
  async during(drop: (archive: Archive) => Promise<number>): Promise<number> {
    const before = this.#count;
    let dropped = 0;
    try {
      await this.#duty.run(async () => {
        await this.check();
        dropped = await drop(this);
        const count = this.#count - before;
        return { foundCount: count, doneCount: count };
      });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const about = { event: 'archive', error: reason };
      if (!this.#isOver()) this.#log.warn('ended tasks were not archived: they are kept', about);
      throw error;
    }
    return dropped;
  }

  check(): Promise<void> {
    return this.#archive.check();
  }

  async prepare(segment: EndedSegment): Promise<Prepared> {
    const prepared = await this.#archive.prepare(segment);
    this.#count += prepared.count;
    return prepared;
  }

  isStill(segment: EndedSegment, prepared: Prepared): Promise<boolean> {
    return this.#archive.isStill(segment, prepared);
  }

  holds(day: EndedDay, namespaces: readonly string[]): Promise<boolean> {
    return this.#archive.holds(day, namespaces);
  }

  async finish(day: EndedDay): Promise<readonly string[]> {
    const files = await this.#archive.finish(day);
    const about = { event: 'archive', day: day.day, retention: day.retention, files };
    if (files.length > 0) this.#log.info('a day of history was archived', about);
    return files;
  }
}
