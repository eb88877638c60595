/** The receivers of callbacks, and the port that posts to them. */
import type { Event } from '../../../master/domain/events.ts';
import type { Notifier } from '../../../master/application/ports.ts';
import type { EndedTask, Notification } from '../../../master/domain/model/task.ts';
import type { Faults } from '../faults.ts';
import type { Ledger } from '../ledger.ts';
import type { Process } from '../world.ts';

type Tried = Extract<Event, { type: 'notificationTried' }>;

interface Delivery {
  readonly key: string;
  readonly taskSeq: number;
  readonly finishedAt: number;
  /** Of the newest hand-over. */
  term: number;
}

export class SimNotifier implements Notifier {
  readonly #process: Process;
  readonly #ledger: Ledger;
  readonly #faults: Faults;
  /** The bound that the master promises: callbacks handed over and not reported. */
  readonly #countMax: number;
  #waiting: Delivery[] = [];
  /** One at a time; the others wait for their turn. */
  #inFlight: Delivery | null = null;
  #post: (event: Event) => void = () => undefined;

  constructor(process: Process, ledger: Ledger, faults: Faults, countMax: number) {
    this.#process = process;
    this.#ledger = ledger;
    this.#faults = faults;
    this.#countMax = countMax;
  }

  attach(post: (event: Event) => void): void {
    this.#post = post;
  }

  forgetAll(): void {
    this.#waiting = [];
  }

  deliver(
    { taskId, taskSeq, finishedAt }: Notification,
    task: EndedTask | null,
    term: number,
  ): void {
    const what = `callback of ${taskId}`;
    this.#ledger.effect(what, this.#ledger.hasEnded(taskSeq, finishedAt));
    if (task !== null) this.#ledger.effect(what, task.finishedAt === finishedAt);
    const key = `${taskSeq}/${finishedAt}`;
    if (this.#inFlight?.key === key) {
      this.#inFlight.term = term;
      return;
    }
    if (this.#waiting.some((other) => other.key === key)) {
      this.#process.world.violate('B1', `the ${what} waits in the notifier twice`);
    }
    this.#waiting.push({ key, taskSeq, finishedAt, term });
    if (this.#waiting.length > this.#countMax) {
      const count = `${this.#waiting.length} callbacks of ${this.#countMax}`;
      this.#process.world.violate('B1', `${count} wait in the notifier`);
    }
    this.#tryNext();
  }

  #tryNext(): void {
    if (this.#inFlight !== null) return;
    const next = this.#waiting.shift();
    if (next !== undefined) this.#try(next);
  }

  #try(delivery: Delivery): void {
    this.#inFlight = delivery;
    const { taskSeq, finishedAt } = delivery;
    const { random } = this.#process.world;
    const misbehaves = this.#faults.has('notify');
    const answer = random.weighted({
      ok: 60,
      broken: misbehaves ? 20 : 0,
      gone: misbehaves ? 2 : 0,
      timeout: misbehaves ? 10 : 0,
      answer_lost: misbehaves ? 10 : 0,
      put_off: misbehaves ? 10 : 0,
    });
    const wasSent = answer !== 'put_off';
    if (wasSent && answer !== 'timeout') this.#ledger.callbacks.received(taskSeq, finishedAt);
    this.#process.after(random.between(1, misbehaves ? 15_000 : 200), () => {
      this.#inFlight = null;
      if (wasSent) this.#ledger.callbacks.tried(taskSeq, finishedAt);
      const about = { term: delivery.term, taskSeq, finishedAt };
      this.#post(
        wasSent
          ? { type: 'notificationTried', ...about, ...outcomeOf(answer) }
          : { type: 'notificationPutOff', ...about, error: 'put off', afterMs: 60_000 },
      );
      this.#tryNext();
    });
  }
}

function outcomeOf(answer: string): Omit<Tried, 'type' | 'term' | 'taskSeq' | 'finishedAt'> {
  const rest = { retryAfterMs: null, tryCount: 1 };
  switch (answer) {
    case 'ok':
      return { outcome: 'delivered', status: 200, error: null, ...rest };
    case 'gone':
      return { outcome: 'gone', status: 410, error: null, ...rest };
    case 'broken':
      return { outcome: 'failed', status: 500, error: null, ...rest };
    default:
      return { outcome: 'failed', status: null, error: 'timeout', ...rest };
  }
}
