/**
 * Somebody who books executors of all kinds of windows, submits tasks of bookings and changes their minds, cancels bookings
 * and skips windows of those that recur. In the calm what recurs ends; what is once goes on to its end.
 */
import { ANY_TASK, type Submission } from '../../../master/application/master-handle.ts';
import type { BookingSpec } from '../../../master/domain/booking/booking.ts';
import type { Command } from '../../../master/domain/events.ts';
import { pinOf } from '../../../master/domain/model/executor.ts';
import { isTerminal, type Task } from '../../../master/domain/model/task.ts';
import { Operator, type OperatorOptions } from './operator.ts';

const INSIST_MS = 10_000;
const GROUPS = ['g', 'h'] as const;

export class BookingOperator extends Operator {
  #bookingCount = 0;
  #taskCount = 0;

  constructor(options: OperatorOptions) {
    super(options, 0xb00c);
  }

  start(): void {
    this.decideLater(500, 6_000, () => this.#tell(this.#decide()));
    this.decideLater(300, 3_000, () => this.#submit());
    this.decideLater(1_000, 8_000, () => this.#tell(this.#changeTask()));
  }

  override calmDown(): void {
    super.calmDown();
    this.insist(INSIST_MS, () => {
      for (const { id, everyMs } of this.ledger.bookings.open) {
        if (everyMs !== null) this.#tell({ type: 'bookingCanceled', bookingId: id, groups: null });
      }
    });
  }

  #decide(): Command | null {
    const { random } = this;
    const booking = random.pick(this.ledger.bookings.open);
    const draw = random.between(0, 9);
    if (booking === undefined || draw <= 6) {
      return { type: 'bookingRequested', booking: this.#draw() };
    }
    const { id: bookingId, everyMs, windows } = booking;
    if (everyMs === null || draw === 7) {
      return { type: 'bookingCanceled', bookingId, groups: random.pick([null, ['g'], ['h']]) };
    }
    const { from = 0 } = random.pick(windows.slice(0, 4)) ?? {};
    return { type: 'bookingSkipped', bookingId, groups: null, from };
  }

  #draw(): Omit<BookingSpec, 'holdMs'> & { readonly holdMs: number | null } {
    const { random } = this;
    const now = this.master()?.process.now() ?? this.world.wall;
    const windowMs = random.between(2, 30) * 1_000;
    const pin = random.chance(0.15) ? [pinOf(`x${random.between(1, 3)}`)] : [];
    return {
      id: `bk-${String(++this.#bookingCount).padStart(16, '0')}`,
      type: random.pick(['a', 'b']),
      requires: [...pin, ...(random.chance(0.2) ? ['gpu'] : [])],
      labels: random.chance(0.2) ? ['gold'] : [],
      group: random.pick(GROUPS),
      count: pin.length > 0 ? 1 : random.pick([1, 1, 1, 2, 2, 3]),
      leadMs: random.between(0, 8) * 1_000,
      holdMs: random.pick([0, 5_000, 20_000, 40_000, null]),
      mayOverrun: random.chance(0.3),
      everyMs: random.chance(0.3) ? windowMs + random.between(0, 20) * 1_000 : null,
      zone: null,
      isMaintenance: random.chance(0.15),
      // Now and then it is late already, or refused for it.
      firstFrom: now + random.pick([-1_000, 20, 5_000, 15_000, 30_000]) + random.between(0, 9_999),
      windowMs,
      createdBy: null,
    };
  }

  #submit(): void {
    const { random } = this;
    const booking = random.pick(this.ledger.bookings.all);
    const master = this.master();
    if (booking === undefined || master === null) return;
    const count = random.pick([1, 1, 2, 5]);
    const tasks = Array.from({ length: count }, () => this.#task(booking));
    this.world.log(`bookings: submit ${tasks.map(({ id }) => id).join(', ')} of ${booking.id}`);
    master.process.deliver(() => {
      master.handle.submit(tasks).then(
        (outcomes) => {
          for (const [at, { kind }] of outcomes.entries()) {
            const id = tasks[at]?.id ?? '';
            this.world.log(`bookings: ${id} is ${kind}`);
            if (kind === 'accepted')
              this.ledger.effect(`202 of ${id}`, this.ledger.wasAccepted(id));
          }
        },
        () => undefined,
      );
    });
  }

  #task({ id: booking, type, group, requires, from, to }: BookingSpec & Window): Submission {
    const { random } = this;
    const id = `bt${++this.#taskCount}`;
    const maybe = <T>(probability: number, value: () => T): T | null =>
      random.chance(probability) ? value() : null;
    return {
      id,
      booking,
      type,
      params: `{"n":${random.between(1, 999)}}`,
      labels: maybe(0.2, () => ['gold']) ?? [],
      requires: random.chance(0.3) ? requires : [],
      user: { group, project: null, env: null, user: null },
      notifyUrl: maybe(0.4, () => 'http://receiver.test/done'),
      requestHash: `hash of ${id}`,
      priority: maybe(0.3, () => random.between(-30, 30)) ?? 0,
      runAt: maybe(0.3, () => random.between(from, to + 20_000)),
      retry: { maxAttempts: random.pick([0, 1, 3]), interval: random.pick([1, 4, -1]) },
      assignTimeoutMs: null,
      executionTimeoutMs: maybe(0.3, () => random.between(1_000, 20_000)),
      stallTimeoutMs: null,
      deadlineAt: maybe(0.15, () => to + random.between(-5_000, 20_000)),
      startTimeoutMs: null,
      startTimeoutAction: null,
      diskBytes: null,
      uses: [],
      traceparent: null,
    };
  }

  #changeTask(): Command | null {
    const { random } = this;
    const all = [...this.ledger.live.values(), ...this.ledger.history.values()];
    const task = random.pick(all.filter(({ booking }) => booking !== null));
    if (task === undefined) return null;
    const taskId = task.id;
    if (isTerminal(task.state)) return { type: 'retryRequested', taskId };
    return random.chance(0.4) ? { type: 'cancelRequested', taskId } : this.#delay(task);
  }

  #delay({ id: taskId, dueAt }: Task): Command {
    const runAt = dueAt + this.random.between(-10_000, 20_000);
    return { type: 'changeRequested', taskId, change: { runAt }, seen: ANY_TASK };
  }

  #tell(command: Command | null): void {
    if (command === null) return;
    this.world.log(`bookings: ${JSON.stringify(command)}`);
    this.master()?.tell(command);
  }
}

interface Window {
  readonly from: number;
  readonly to: number;
}
