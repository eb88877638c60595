/**
 * Somebody who shares types among groups, sets limits for them, pauses them, and takes all of it back. Chance of
 * its own: the rest of a run is drawn as without it.
 */
import type { Command } from '../../../master/domain/events.ts';
import { Random } from '../random.ts';
import { Operator, type OperatorOptions } from './operator.ts';

const INSIST_MS = 10_000;
const TYPES = ['a', 'b'];
const sticky = (wait: number) => ({ rule: 'sticky', pointer: '/k', wait });
const ROUTES: readonly [object, ...object[]] = [
  ...['longest_idle', 'last_used', 'round_robin', 'random', 'least_failed'].map((rule) => ({
    rule,
  })),
  ...[0, 2, 2, 15, 15].map(sticky),
] as never;
/** Of each group, in the calm. */
const RATE = { count: 3, seconds: 5 };

type Change = Extract<Command, { type: 'typeSet' | 'typeRemoved' | 'typePaused' | 'typeResumed' }>;

export class TypeOperator extends Operator {
  readonly #setsLimits: boolean;
  readonly #setsRoutes: boolean;
  /** Of limits by a value of params; null: there are none. */
  readonly #gates: Random | null;
  /** In all that it says of a type: what groups have had would begin anew. */
  readonly #shares: object;
  /** What bookings may make of its tasks; null: nothing is booked. */
  readonly #books: Random | null;
  readonly #declaresCapacity: boolean;

  constructor(options: OperatorOptions) {
    super(options, 0x7e9e);
    const { seed, limitsTypes, sharesTypes, routesTypes, gatesTypes } = options.settings;
    this.#books = options.settings.booksExecutors ? new Random(seed ^ 0xb00c5) : null;
    this.#declaresCapacity = options.settings.declaresCapacity;
    this.#setsLimits = limitsTypes;
    this.#setsRoutes = routesTypes;
    this.#gates = gatesTypes ? new Random(seed ^ 0x6a7e) : null;
    const weights = { g: 1 + (seed % 3), h: 1 + ((seed >> 2) % 3) };
    this.#shares = sharesTypes ? { fair_by: 'group', group_weights: weights } : {};
  }

  start(): void {
    if (this.#setsLimits || this.#setsRoutes) {
      this.decideLater(300, 5_000, () => this.#say(this.#decide()));
    } else if (this.#books !== null) {
      for (const name of TYPES) this.#say(this.#decide(name));
      this.decideLater(2_000, 15_000, () => this.#say(this.#decide()));
    } else for (const name of TYPES) this.#insistOn(name, this.#textOf({}));
  }

  /** Nothing stays paused, and there is room for what is to end by then. */
  override calmDown(): void {
    super.calmDown();
    if (!this.#setsLimits && !this.#setsRoutes && this.#books === null) return;
    for (const name of TYPES) {
      if (!this.#setsLimits) {
        this.#insistOn(name, this.#textOf({}));
        continue;
      }
      const max = this.random.pick([null, 2, 3]);
      const of = { max_running: max, rate: RATE };
      this.#insistOn(name, this.#textOf({ max_running: max, per_group: of }));
    }
  }

  #insistOn(name: string, text: string): void {
    this.insist(INSIST_MS, () => {
      const row = this.ledger.typeOf(name);
      if (row?.paused) this.#say({ type: 'typeResumed', name });
      if (row?.text !== text) this.#say({ type: 'typeSet', name, text, expect: null });
    });
  }

  #decide(name = this.random.pick(TYPES) ?? 'a'): Change {
    const random = this.random;
    if (!this.#setsLimits) return { type: 'typeSet', name, text: this.#textOf({}), expect: null };
    const draw = random.between(0, 9);
    if (draw === 0) return { type: 'typeRemoved', name, expect: null, isForced: true };
    if (draw <= 2) return { type: 'typeResumed', name };
    if (draw <= 4) {
      const until = random.chance(0.5) ? this.world.wall + random.between(0, 15_000) : null;
      return { type: 'typePaused', name, reason: null, until, by: null };
    }
    const limits = {
      max_running: random.pick([null, 0, 1, 2]),
      max_waiting: random.pick([null, null, 5]),
      per_group: random.pick([
        null,
        { max_running: 1 },
        { max_running: 2, max_waiting: 3 },
        { rate: { count: 1, seconds: 3 } },
      ]),
      rate: random.pick([null, null, { count: 1, seconds: 2 }, { count: 3, seconds: 20 }]),
      windows: random.chance(0.3) ? [this.#nextMinute()] : [],
    };
    return { type: 'typeSet', name, text: this.#textOf(limits), expect: null };
  }

  /** From the next minute on, for another. */
  #nextMinute(): object {
    const [from = '', to = ''] = [60_000, 120_000].map((ms) => {
      return new Date(this.world.wall + ms).toISOString().slice(11, 16);
    });
    const what = this.random.chance(0.5) ? { paused: true } : { max_running: 0 };
    return { from, to, zone: 'UTC', ...what };
  }

  #say(change: Change): void {
    this.world.log(`types: ${JSON.stringify(change)}`);
    this.master()?.tell(change);
  }

  #textOf(limits: object): string {
    const route = this.#setsRoutes ? { route: this.random.pick(ROUTES) } : {};
    const booked = this.#books === null ? {} : bookedAs(this.#books, this.#declaresCapacity);
    const gates = this.#gates;
    if (gates === null) return JSON.stringify({ limits, ...this.#shares, ...route, ...booked });
    const pointer = gates.pick(['/n', '/n', '']);
    const concurrency = gates.pick([
      null,
      { pointer, max: 1 },
      { pointer, max: 1 },
      { pointer, max: 2 },
    ]);
    return JSON.stringify({
      limits: { ...limits, concurrency },
      ...this.#shares,
      ...route,
      ...booked,
    });
  }
}

function bookedAs(random: Random, declaresCapacity: boolean): object {
  const capacity = random.pick([null, null, null, 2]);
  return {
    ...(declaresCapacity && capacity !== null && { capacity }),
    ...(random.chance(0.6) && { preemptible: true }),
    ...(random.chance(0.5) && { hold: random.between(0, 40) }),
  };
}
