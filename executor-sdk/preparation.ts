/** What is got ready for a booking: from when this executor is bound to it until it is released. */
import { type EventDraft, thrownIn } from './events.ts';

/** A window in which this executor runs tasks of a booking, and nothing else. */
export interface Booking<Params = unknown> {
  readonly id: string;
  /** Of its tasks. */
  readonly type: string;
  /** When its window begins and ends, as epoch milliseconds of the master. */
  readonly fromAt: number;
  readonly toAt: number;
  /**
   * Tasks that wait for it, those that are due first: of a booking of several executors this one may be given any of
   * them. At most 16, of 256 KiB of params; none, where none is known yet.
   */
  readonly tasks: readonly BookedTask<Params>[];
}

/** Of a `Task` what is known before it is given to an executor. */
interface BookedTask<Params = unknown> {
  readonly id: string;
  readonly type: string;
  readonly params: Params;
  readonly paramsText: string;
}

/**
 * Gets ready for a booking, such as by bringing inputs near. Called once this executor is bound, 30 s before the window
 * unless the booking says otherwise, and again with all tasks when more are known, or one has other params; never twice
 * at once: one for the next booking waits until this has ended. It may run beside a task that is about to end, and goes
 * on when one of the booking begins.
 * @param signal Aborts when the booking is over, another executor takes its place, or this one stops.
 */
export type Prepare<Params = unknown> = (booking: Booking<Params>, signal: AbortSignal) => unknown;

interface PreparationsOptions {
  readonly tell: (event: EventDraft) => void;
  /** A booking has this executor, or none has any more. */
  readonly onBound: (isBound: boolean) => void;
  /** What stands in the way of a `prepare` may be in the way of a task. */
  readonly onFailure: () => void;
}

/** The `prepare` of each type, and what goes on of them. */
export class Preparations {
  readonly #options: PreparationsOptions;
  readonly #prepares = new Map<string, Prepare>();
  #booking: Booking | null = null;
  #preparation: Preparation | null = null;
  /** Of those before it: they are told to end, and take their time. */
  #ended: Promise<void> = Promise.resolve();

  constructor(options: PreparationsOptions) {
    this.#options = options;
  }

  get isAny(): boolean {
    return this.#prepares.size > 0;
  }

  add(type: string, prepare: Prepare | undefined): void {
    if (prepare !== undefined) this.#prepares.set(type, prepare);
  }

  /** This booking has it now; null: none. */
  take(booking: Booking | null): void {
    const { tell, onBound } = this.#options;
    const before = this.#booking;
    this.#booking = booking;
    if (booking !== null && before !== null && isSame(booking, before)) {
      const known = new Map(before.tasks.map(({ id, paramsText }) => [id, paramsText]));
      // In its window a master that has begun anew names those that still wait.
      const isNew = ({ id, paramsText }: BookedTask) => known.get(id) !== paramsText;
      if (booking.tasks.some(isNew)) this.#preparation?.know(booking);
      return;
    }
    this.end();
    if (before !== null) tell({ type: 'released', message: `released by booking ${before.id}` });
    if (booking !== null) {
      const from = new Date(booking.fromAt).toISOString();
      tell({ type: 'bound', message: `bound to booking ${booking.id} from ${from}` });
      this.#begin(booking);
    }
    onBound(booking !== null);
  }

  /** Nothing goes on, or begins before it is bound anew. */
  end(): void {
    if (this.#preparation === null) return;
    this.#ended = this.#preparation.end();
    this.#preparation = null;
  }

  #begin(booking: Booking): void {
    const prepare = this.#prepares.get(booking.type);
    if (prepare === undefined) return;
    const onFailure = (error: unknown): void => {
      const what = `prepare failed for booking ${booking.id}`;
      this.#options.tell({ type: 'prepare_failed', ...thrownIn(what, error) });
      this.#options.onFailure();
    };
    this.#preparation = new Preparation(prepare, onFailure, this.#ended);
    this.#preparation.know(booking);
  }
}

/** Of one window. */
class Preparation {
  readonly #prepare: Prepare;
  readonly #onFailure: (error: unknown) => void;
  readonly #over = new AbortController();
  #next: Booking | null = null;
  #isBusy = false;
  #ended: Promise<void>;

  /** `onFailure`: what `prepare` has thrown, unless it was told to end. It begins after those before it have `ended`. */
  constructor(prepare: Prepare, onFailure: (error: unknown) => void, ended: Promise<void>) {
    this.#prepare = prepare;
    this.#onFailure = onFailure;
    this.#ended = ended;
  }

  /** That is all that is known of it. */
  know(booking: Booking): void {
    this.#next = booking;
    if (!this.#isBusy) this.#ended = this.#run(this.#ended);
  }

  /** Resolves when nothing goes on any more. */
  end(): Promise<void> {
    this.#over.abort();
    return this.#ended;
  }

  async #run(ended: Promise<void>): Promise<void> {
    const { signal } = this.#over;
    this.#isBusy = true;
    await ended;
    for (let next = this.#next; next !== null && !signal.aborted; next = this.#next) {
      this.#next = null;
      try {
        await this.#prepare(next, signal);
      } catch (error) {
        if (!signal.aborted) this.#onFailure(error);
      }
    }
    this.#isBusy = false;
  }
}

/** The same window. */
function isSame(one: Booking, other: Booking): boolean {
  return one.id === other.id && one.fromAt === other.fromAt;
}
