/**
 * Somebody who pauses groups, labels, and all namespaces at once, and ends that. Chance of its own: the rest of a run is
 * drawn as without it.
 */
import type { PauseChange } from '../../../master/domain/events.ts';
import type { Pause } from '../../../master/domain/model/pause.ts';
import { Random } from '../random.ts';
import type { World } from '../world.ts';
import type { MasterProcess } from '../actors/master-process.ts';

const INSIST_MS = 10_000;
const SCOPES: readonly (readonly [PauseChange['scope'], string])[] = [
  ['group', 'g'],
  ['group', 'h'],
  ['label', 'gold'],
  ['label', 'gpu'],
  ['all', ''],
];

export class PauseOperator {
  readonly #world: World;
  readonly #random: Random;
  readonly #master: () => MasterProcess | null;
  #ofAll: Pause | null = null;
  #isActive = false;
  #isCalm = false;

  constructor(options: {
    world: World;
    seed: number;
    master: () => MasterProcess | null;
  }) {
    this.#world = options.world;
    this.#random = new Random(options.seed ^ 0x9a05e);
    this.#master = options.master;
  }

  /** Of all namespaces, as whoever begins to lead one is told. */
  get ofAll(): Pause | null {
    const { until = null } = this.#ofAll ?? {};
    return until !== null && until <= this.#world.wall ? null : this.#ofAll;
  }

  start(): void {
    this.#isActive = true;
    this.#decideLater();
  }

  /** Nothing stays paused. */
  calmDown(): void {
    this.#isCalm = true;
    if (this.#isActive) this.#insist();
  }

  /** What was said before may come late. */
  #insist(): void {
    for (const [scope, value] of SCOPES) this.#say(scope, value, null);
    this.#world.after(INSIST_MS, () => this.#insist());
  }

  #decideLater(): void {
    this.#world.after(this.#random.between(300, 5_000), () => {
      if (this.#isCalm) return;
      const [scope, value] = this.#random.pick(SCOPES) ?? ['all', ''];
      const isEnd = this.#random.chance(0.5);
      const until = this.#random.chance(0.5)
        ? this.#world.wall + this.#random.between(0, 15_000)
        : null;
      this.#say(scope, value, isEnd ? null : { by: 'ann', reason: null, until });
      this.#decideLater();
    });
  }

  #say(scope: PauseChange['scope'], value: string, pause: Omit<Pause, 'at'> | null): void {
    const change: PauseChange = { type: 'pauseSet', scope, value, pause };
    this.#world.log(`pauses: ${JSON.stringify(change)}`);
    if (scope === 'all') this.#ofAll = pause && { at: this.#world.wall, ...pause };
    this.#master()?.tell(change);
  }
}
