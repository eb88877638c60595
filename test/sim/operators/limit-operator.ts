/**
 * Somebody who sets shared limits, changes and deletes them, and sets them again.
 */
import type { LimitChange } from '../../../master/domain/events.ts';
import type { SharedLimit, Use } from '../../../master/domain/model/shared-limit.ts';
import type { Settings } from '../faults.ts';
import { Operator, type OperatorOptions } from './operator.ts';

const INSIST_MS = 10_000;

/** In the calm, so that whatever waits for them can end. */
const LIMITS: readonly SharedLimit[] = [
  { name: 'encoder', max: 2, per: 'cluster' },
  { name: 'gpu', max: 1, per: 'host' },
];

/** In some runs. In the calm there is none: nobody may carry such a label any more. */
const RACK: SharedLimit = { name: 'rack', max: 1, per: { label: 'rack' } };

/** What the task of that number takes of them. */
export function usesOf(number: number, { usesRacks }: Pick<Settings, 'usesRacks'>): readonly Use[] {
  const one = [
    [{ limit: 'encoder', n: 1 }],
    [{ limit: 'gpu', n: 1 }],
    [{ limit: 'encoder', n: 2 }],
    [],
    [
      { limit: 'encoder', n: 1 },
      { limit: 'gpu', n: 1 },
    ],
  ][number % 6];
  const ofRack = { limit: RACK.name, n: number % 8 === 1 ? 2 : 1 };
  return [...(one ?? []), ...(usesRacks && number % 4 === 1 ? [ofRack] : [])];
}

export class LimitOperator extends Operator {
  readonly #limits: readonly SharedLimit[];

  constructor(options: OperatorOptions) {
    super(options, 0x11a17);
    this.#limits = options.settings.usesRacks ? [...LIMITS, RACK] : LIMITS;
  }

  start(): void {
    for (const limit of this.#limits) this.insist(INSIST_MS, () => this.#sayUnlessSo(limit));
    this.decideLater(300, 6_000, () => this.#say(this.#decide()));
  }

  /** Each is there once there is a master, and again in the calm: what was said before may come late. */
  #sayUnlessSo(limit: SharedLimit): void {
    const row = this.ledger.limitOf(limit.name);
    const wanted = this.isCalm && limit === RACK ? undefined : limit;
    const isMissing = this.isCalm ? !isSame(row, wanted) : row === undefined;
    if (isMissing) this.#say({ type: 'limitSet', name: limit.name, limit: wanted ?? null });
  }

  #decide(): LimitChange {
    const random = this.random;
    const limit = random.pick(this.#limits) as SharedLimit;
    if (random.chance(0.1)) return { type: 'limitSet', name: limit.name, limit: null };
    const per = random.chance(0.1) ? random.pick(['cluster', 'host'] as const) : limit.per;
    const max = random.between(0, 3);
    return { type: 'limitSet', name: limit.name, limit: { ...limit, max, per: per ?? limit.per } };
  }

  #say(change: LimitChange): void {
    this.world.log(`limits: ${JSON.stringify(change)}`);
    this.master()?.tell(change);
  }
}

function isSame(one: SharedLimit | undefined, other: SharedLimit | undefined): boolean {
  return one?.max === other?.max && one?.per === other?.per;
}
