/** Alerts that handlers raise. The master counts what is said again, so what is said too fast is left out. */
import {
  alertSeverities,
  type ExecutorMessage,
  jsonObject,
  SESSION_LIMITS,
} from '@soda-scheduler/protocol';
import type { AlertSeverity, TaskContext } from '../task-context.ts';
import { type AttemptKey, nameOf } from '../thread-messages.ts';
import { checkedJson } from './checked-json.ts';
import type { Pace } from './pace.ts';

const HALF_CHARACTER = /\p{Cs}$/u;

/** Of one attempt. */
export class AlertReport implements Pick<TaskContext, 'alert'> {
  readonly #attempt: AttemptKey;
  readonly #pace: Pace;
  readonly #send: (type: 'alert', body: string) => void;
  #isClosed = false;

  constructor(attempt: AttemptKey, pace: Pace, send: (type: 'alert', body: string) => void) {
    this.#attempt = attempt;
    this.#pace = pace;
    this.#send = send;
  }

  alert(severity: AlertSeverity, message: string, fields?: object): void {
    if (this.#isClosed) return;
    const { text, kept } = checkedAlert(nameOf(this.#attempt), severity, message, fields);
    if (this.#pace.waitMs(performance.now()) > 0) return;
    this.#pace.count(performance.now());
    const { taskId, attempt } = this.#attempt;
    const about = { task_id: taskId, attempt, severity, message: text };
    const frame: ExecutorMessage = { type: 'alert', ...about };
    this.#send('alert', jsonObject(frame, { fields: kept }));
  }

  /** Whatever comes later is ignored. */
  close(): void {
    this.#isClosed = true;
  }
}

/**
 * The message as it is sent, cut where it is too long, and the fields as JSON. `whose`: the attempt, for people.
 * @throws {TypeError} one of them is not as it has to be.
 * @throws {RangeError} the fields are too large.
 */
export function checkedAlert(
  whose: string,
  severity: unknown,
  message: unknown,
  fields: unknown,
): { readonly text: string; readonly kept: string | undefined } {
  if (!alertSeverities.some((one) => one === severity)) {
    throw new TypeError(
      `An alert of ${whose} has a severity that there is not: expected ${alertSeverities.join(', ')}.`,
    );
  }
  if (typeof message !== 'string' || message === '') {
    throw new TypeError(`An alert of ${whose} says nothing: expected a message.`);
  }
  const text = message.slice(0, SESSION_LIMITS.alertMessageLengthMax).replace(HALF_CHARACTER, '');
  const what = `fields of an alert of ${whose}`;
  const kept = checkedJson(what, fields, SESSION_LIMITS.alertFieldsBytesMax);
  if (fields === undefined || kept?.startsWith('{') === true) return { text, kept };
  throw new TypeError(`The ${what} are no JSON object.`);
}
