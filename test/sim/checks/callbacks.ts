/** I9: a callback that counts as delivered was received, only what was sent is a try, and none is given up unsent. */
import type { Notification } from '../../../master/domain/model/task.ts';
import type { World } from '../world.ts';

type Callback = Pick<Notification, 'taskSeq' | 'finishedAt'>;

export class CallbackChecks {
  /** As the rows have them, by the seq of their task. */
  readonly rows = new Map<number, Notification>();
  readonly #world: World;
  readonly #received = new Set<string>();
  /** How often each was sent. */
  readonly #tries = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  /** A row is written. */
  noted(notification: Notification): void {
    const row = this.rows.get(notification.taskSeq);
    if (row?.finishedAt !== notification.finishedAt) return;
    this.rows.set(notification.taskSeq, notification);
    const { taskId, state, tries } = notification;
    this.#world.log(`callback ${taskId} ${state} ${tries}`);
    const tried = this.#tries.get(keyOf(notification)) ?? 0;
    if (tries > tried || (state === 'gave_up' && tried === 0)) {
      this.#world.violate('I9', `${taskId} is ${state} after ${tries} tries, it was sent ${tried}`);
    }
  }

  /** It was sent, whatever came of it. */
  tried(taskSeq: number, finishedAt: number): void {
    const key = keyOf({ taskSeq, finishedAt });
    this.#tries.set(key, (this.#tries.get(key) ?? 0) + 1);
  }

  /** It has reached its receiver. */
  received(taskSeq: number, finishedAt: number): void {
    this.#received.add(keyOf({ taskSeq, finishedAt }));
  }

  get pendingCount(): number {
    let count = 0;
    for (const { state } of this.rows.values()) if (state === 'pending') count++;
    return count;
  }

  checkEnd(): void {
    for (const notification of this.rows.values()) {
      const { state, taskId } = notification;
      if (state !== 'delivered' || this.#received.has(keyOf(notification))) continue;
      this.#world.violate(
        'I9',
        `the callback of ${taskId} counts as delivered and was not received`,
      );
    }
  }
}

function keyOf({ taskSeq, finishedAt }: Callback): string {
  return `${taskSeq}/${finishedAt}`;
}
