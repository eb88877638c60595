/**
 * Events that handlers tell of: each is sent, in order, at a pace that the master takes. What is told faster for long
 * gives up its oldest; numbers say that something is missing.
 */
import {
  EVENT_NAME_PATTERN,
  type ExecutorMessage,
  jsonObject,
  SESSION_LIMITS,
} from '@soda-scheduler/protocol';
import type { TaskContext } from '../task-context.ts';
import { type AttemptKey, nameOf } from '../thread-messages.ts';
import { checkedJson } from './checked-json.ts';
import type { Pace } from './pace.ts';

/** Those that wait for that; they all go when the attempt ends. */
const WAITING_MAX = 100;

/** Of one attempt. Must be closed: it may hold a timer. */
export class EventReport implements Pick<TaskContext, 'event'> {
  readonly #attempt: AttemptKey;
  readonly #pace: Pace;
  readonly #send: (type: 'event', body: string) => void;
  readonly #waiting: string[] = [];
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(attempt: AttemptKey, pace: Pace, send: (type: 'event', body: string) => void) {
    this.#attempt = attempt;
    this.#pace = pace;
    this.#send = send;
  }

  event(name: string, data?: object): void {
    if (this.#isClosed) return;
    const text = checkedEvent(nameOf(this.#attempt), name, data);
    this.#count += 1;
    const { taskId, attempt } = this.#attempt;
    const n = this.#count;
    const message: ExecutorMessage = { type: 'event', task_id: taskId, attempt, name, n };
    this.#waiting.push(jsonObject(message, { data: text }));
    this.#sendDue();
    if (this.#waiting.length > WAITING_MAX) this.#waiting.shift();
  }

  /** What waits goes out; whatever comes later is ignored. */
  close(): void {
    clearTimeout(this.#timer);
    this.#isClosed = true;
    for (const body of this.#waiting.splice(0)) this.#go(body);
  }

  #sendDue(): void {
    while (this.#waiting.length > 0 && this.#pace.waitMs(performance.now()) === 0) {
      this.#go(this.#waiting.shift() ?? '');
    }
    if (this.#waiting.length === 0) return;
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#sendDue();
      },
      Math.ceil(this.#pace.waitMs(performance.now())),
    );
  }

  #go(body: string): void {
    this.#pace.count(performance.now());
    this.#send('event', body);
  }
}

/**
 * The data as JSON. `whose`: the attempt, for people.
 * @throws {TypeError} the name, or the data, is not as it has to be.
 * @throws {RangeError} the data is too large.
 */
export function checkedEvent(whose: string, name: string, data: unknown): string | undefined {
  if (typeof name !== 'string' || !EVENT_NAME_PATTERN.test(name)) {
    const given = typeof name === 'string' ? JSON.stringify(name.slice(0, 64)) : typeof name;
    throw new TypeError(
      `An event of ${whose} is called ${given}: expected 1 to 47 of a-z, 0-9 and _.`,
    );
  }
  const what = `data of the event ${name} of ${whose}`;
  const text = checkedJson(what, data, SESSION_LIMITS.eventDataBytesMax);
  if (data === undefined || text?.startsWith('{') === true) return text;
  throw new TypeError(`The ${what} is no JSON object.`);
}
