/**
 * Events that wait for a turn, in the order in which they came. What a newer event of the same kind
 * and session makes pointless gives way to it, so that a commit that hangs gathers two heartbeats of
 * each executor and not one for every few seconds. The first of them keeps its place: else each that comes
 * would send it to the end again, and where turns lag by more than an interval none would ever be stepped.
 * While there is no state to step it takes nothing: whatever executors say then they say again once
 * they are told to come back.
 *
 * Bounded: requests and callbacks by those who post them, frames by their bytes (`isFull`), all else
 * by the number of executors.
 */
import {
  MAILBOX_FRAME_BYTES_MAX,
  type Tally,
  TURN_EVENT_COUNT_MAX,
  TURN_LONG_REPORT_COUNT_MAX,
  TURN_PARAMS_LENGTH_MAX,
} from '../../domain/bounds.ts';
import type { Event } from '../../domain/events.ts';

export class Mailbox {
  /** With the bytes that count against the bound, in order. */
  readonly #events = new Map<Event, number>();
  /** Those that may give way, oldest first. */
  readonly #replaceable = new Map<string, Event[]>();
  readonly #all: Tally;
  /** Of these the ones in here. */
  #frameBytes = 0;
  #isOpen = false;

  /** @param all What frames hold, in this mailbox and those of other namespaces. */
  constructor(all: Tally = { bytes: 0 }) {
    this.#all = all;
  }

  get size(): number {
    return this.#events.size;
  }

  get frameBytes(): number {
    return this.#all.bytes;
  }

  /** No further frame must be put in, until a turn has begun. */
  get isFull(): boolean {
    return this.#all.bytes >= MAILBOX_FRAME_BYTES_MAX;
  }

  /** A state has begun: what is put in will be stepped. */
  open(): void {
    this.#isOpen = true;
  }

  /** The state has ended, and what waits goes with it. */
  shut(): void {
    this.#isOpen = false;
    this.#events.clear();
    this.#replaceable.clear();
    this.#count(-this.#frameBytes);
  }

  /** `frameBytes`: of the frame that the event came as, 0 for what is bounded elsewhere. */
  put(event: Event, frameBytes: number): void {
    if (!this.#isOpen) return;
    const key = replaceableKey(event);
    if (key !== null) {
      const waiting = this.#replaceable.get(key) ?? [];
      if (waiting.length > keptCount(event)) this.#drop(waiting.pop());
      waiting.push(event);
      this.#replaceable.set(key, waiting);
    }
    this.#events.set(event, frameBytes);
    this.#count(frameBytes);
  }

  #count(bytes: number): void {
    this.#frameBytes += bytes;
    this.#all.bytes += bytes;
  }

  #drop(event: Event | undefined): void {
    if (event === undefined) return;
    this.#count(-(this.#events.get(event) ?? 0));
    this.#events.delete(event);
  }

  #noteTaken(key: string | null): void {
    if (key === null) return;
    const waiting = this.#replaceable.get(key);
    waiting?.shift();
    if (waiting?.length === 0) this.#replaceable.delete(key);
  }

  /**
   * Hands on the events of one turn, oldest first: so many, a batch counted by its tasks, the last one whole, and none
   * after one that is answered by false. Reports of long rows may be overtaken. Returns how many these were.
   */
  takeTurn(take: (event: Event) => boolean): number {
    let takenCount = 0;
    let weight = 0;
    let paramsLength = 0;
    let longReportCount = 0;
    for (const [event, bytes] of this.#events) {
      // Those behind it do not depend on it.
      if (isLongReport(event) && ++longReportCount > TURN_LONG_REPORT_COUNT_MAX) continue;
      if (weight >= TURN_EVENT_COUNT_MAX || paramsLength >= TURN_PARAMS_LENGTH_MAX) break;
      if (event.type === 'tasksSubmitted') {
        weight += event.tasks.length;
        for (const { params } of event.tasks) paramsLength += params.length;
      } else weight += 1;
      this.#events.delete(event);
      this.#count(-bytes);
      this.#noteTaken(replaceableKey(event));
      takenCount += 1;
      if (!take(event)) break;
    }
    return takenCount;
  }
}

/** How many older ones of its key keep their place. That somebody is there has to be heard in time. */
function keptCount({ type }: Event): number {
  return type === 'heartbeatReceived' || type === 'executorResumed' ? 1 : 0;
}

/** Of a callback that was put off nobody has seen the row. */
function isLongReport(event: Event): boolean {
  return (
    event.type === 'notificationPutOff' || (event.type === 'notificationTried' && !!event.isLong)
  );
}

/**
 * Of two events with one key only the newer matters. An executor that says hello again begins a new
 * session, of which it says everything anew; two processes that use one id are told apart.
 */
function replaceableKey(event: Event): string | null {
  switch (event.type) {
    case 'heartbeatReceived':
    case 'executorResumed':
    case 'executorDisconnected':
      return `${event.type} ${event.sessionId}`;
    case 'executorConnected':
      return `${event.type} ${event.executorId} ${event.incarnation}`;
    default:
      return null;
  }
}
