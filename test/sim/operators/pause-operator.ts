/** Somebody who pauses groups, labels, and all namespaces at once, and ends that. */
import type { PauseChange } from '../../../master/domain/events.ts';
import type { Pause } from '../../../master/domain/model/pause.ts';
import { Operator, type OperatorOptions } from './operator.ts';

const INSIST_MS = 10_000;
const SCOPES: readonly (readonly [PauseChange['scope'], string])[] = [
  ['group', 'g'],
  ['group', 'h'],
  ['label', 'gold'],
  ['label', 'gpu'],
  ['all', ''],
];

export class PauseOperator extends Operator {
  #ofAll: Pause | null = null;

  constructor(options: OperatorOptions) {
    super(options, 0x9a05e);
  }

  /** Of all namespaces, as whoever begins to lead one is told. */
  get ofAll(): Pause | null {
    const { until = null } = this.#ofAll ?? {};
    return until !== null && until <= this.world.wall ? null : this.#ofAll;
  }

  start(): void {
    this.decideLater(300, 5_000, () => {
      const [scope, value] = this.random.pick(SCOPES) ?? ['all', ''];
      const isEnd = this.random.chance(0.5);
      const until = this.random.chance(0.5)
        ? this.world.wall + this.random.between(0, 15_000)
        : null;
      this.#say(scope, value, isEnd ? null : { by: 'ann', reason: null, until });
    });
  }

  /** Nothing stays paused. */
  override calmDown(): void {
    super.calmDown();
    this.insist(INSIST_MS, () => {
      for (const [scope, value] of SCOPES) this.#say(scope, value, null);
    });
  }

  #say(scope: PauseChange['scope'], value: string, pause: Omit<Pause, 'at'> | null): void {
    const change: PauseChange = { type: 'pauseSet', scope, value, pause };
    this.world.log(`pauses: ${JSON.stringify(change)}`);
    if (scope === 'all') this.#ofAll = pause && { at: this.world.wall, ...pause };
    this.master()?.tell(change);
  }
}
