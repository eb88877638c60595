/** Callbacks that were handed to the notifier and have not been reported, and the bytes they hold. */
import type { Notification } from '../task.ts';

export class InFlight {
  readonly #items = new Map<
    number,
    { readonly notification: Notification; readonly bytes: number }
  >();
  #bytes = 0;

  get size(): number {
    return this.#items.size;
  }

  /** Of the tasks that went along. */
  get bytes(): number {
    return this.#bytes;
  }

  has(taskSeq: number): boolean {
    return this.#items.has(taskSeq);
  }

  get(taskSeq: number): Notification | undefined {
    return this.#items.get(taskSeq)?.notification;
  }

  /** `bytes`: of the task that goes along, 0 where it is read later. */
  add(notification: Notification, bytes: number): void {
    this.delete(notification.taskSeq);
    this.#items.set(notification.taskSeq, { notification, bytes });
    this.#bytes += bytes;
  }

  delete(taskSeq: number): void {
    this.#bytes -= this.#items.get(taskSeq)?.bytes ?? 0;
    this.#items.delete(taskSeq);
  }
}
