/** Callbacks that were handed to the notifier and have not been reported, and the bytes they hold. */
import type { Notification } from '../model/task.ts';

/** One run of a task: after a retry the callback of the next run may be in flight beside it. */
type Run = Pick<Notification, 'taskSeq' | 'finishedAt'>;

const keyOf = ({ taskSeq, finishedAt }: Run): string => `${taskSeq}/${finishedAt}`;

export class InFlight {
  readonly #items = new Map<
    string,
    { readonly notification: Notification | null; readonly bytes: number }
  >();
  #bytes = 0;

  get size(): number {
    return this.#items.size;
  }

  /** Of the tasks that went along. */
  get bytes(): number {
    return this.#bytes;
  }

  has(run: Run): boolean {
    return this.#items.has(keyOf(run));
  }

  /** Null where it is not in flight, or nobody wants to know what becomes of it. */
  find(run: Run): Notification | null {
    return this.#items.get(keyOf(run))?.notification ?? null;
  }

  /** It has been reported; null: nobody wants to know any more. */
  take(run: Run): Notification | null {
    const notification = this.find(run);
    this.#delete(run);
    return notification;
  }

  /** It is still in flight, and counts as that, but what comes of it is of no interest. */
  abandon(run: Run): void {
    const item = this.#items.get(keyOf(run));
    if (item !== undefined) this.#items.set(keyOf(run), { ...item, notification: null });
  }

  /** `bytes`: of the task that goes along, 0 where it is read later. */
  add(notification: Notification, bytes: number): void {
    this.#delete(notification);
    this.#items.set(keyOf(notification), { notification, bytes });
    this.#bytes += bytes;
  }

  #delete(run: Run): void {
    this.#bytes -= this.#items.get(keyOf(run))?.bytes ?? 0;
    this.#items.delete(keyOf(run));
  }
}
