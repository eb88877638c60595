/**
 * Somebody who sets shared limits, changes and deletes them, and sets them again. Chance of its own: the rest of a run
 * is drawn as without it.
 */
import type { LimitChange } from '../../../master/domain/events.ts';
import type { SharedLimit, Use } from '../../../master/domain/model/shared-limit.ts';
import type { Settings } from '../faults.ts';
import type { Ledger } from '../ledger.ts';
import { Random } from '../random.ts';
import type { World } from '../world.ts';
import type { MasterProcess } from '../actors/master-process.ts';

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

export class LimitOperator {
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #limits: readonly SharedLimit[];
  readonly #master: () => MasterProcess | null;
  #isCalm = false;

  constructor(options: {
    world: World;
    ledger: Ledger;
    settings: Settings;
    master: () => MasterProcess | null;
  }) {
    this.#world = options.world;
    this.#ledger = options.ledger;
    const { seed, usesRacks } = options.settings;
    this.#random = new Random(seed ^ 0x11a17);
    this.#limits = usesRacks ? [...LIMITS, RACK] : LIMITS;
    this.#master = options.master;
  }

  start(): void {
    for (const limit of this.#limits) this.#insist(limit);
    this.#decideLater();
  }

  calmDown(): void {
    this.#isCalm = true;
  }

  /** Each is there once there is a master, and again in the calm: what was said before may come late. */
  #insist(limit: SharedLimit): void {
    const row = this.#ledger.limitOf(limit.name);
    const wanted = this.#isCalm && limit === RACK ? undefined : limit;
    const isMissing = this.#isCalm ? !isSame(row, wanted) : row === undefined;
    if (isMissing) this.#say({ type: 'limitSet', name: limit.name, limit: wanted ?? null });
    this.#world.after(INSIST_MS, () => this.#insist(limit));
  }

  #decideLater(): void {
    this.#world.after(this.#random.between(300, 6_000), () => {
      if (this.#isCalm) return;
      this.#say(this.#decide());
      this.#decideLater();
    });
  }

  #decide(): LimitChange {
    const random = this.#random;
    const limit = random.pick(this.#limits) as SharedLimit;
    if (random.chance(0.1)) return { type: 'limitSet', name: limit.name, limit: null };
    const per = random.chance(0.1) ? random.pick(['cluster', 'host'] as const) : limit.per;
    const max = random.between(0, 3);
    return { type: 'limitSet', name: limit.name, limit: { ...limit, max, per: per ?? limit.per } };
  }

  #say(change: LimitChange): void {
    this.#world.log(`limits: ${JSON.stringify(change)}`);
    this.#master()?.tell(change);
  }
}

function isSame(one: SharedLimit | undefined, other: SharedLimit | undefined): boolean {
  return one?.max === other?.max && one?.per === other?.per;
}
