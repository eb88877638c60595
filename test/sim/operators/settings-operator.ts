/** Somebody who pauses, resumes and limits a namespace, and holds the master to its word. */
import type { NewSettings } from '../../../master/domain/events.ts';
import { RETENTIONS } from '../../../master/domain/model/task.ts';
import { NO_SETTINGS } from '../../../master/domain/state/state.ts';
import { Operator, type OperatorOptions } from './operator.ts';

const TIMEOUT_MS = 5_000;
/** What was not answered may yet be written for so long. */
const LATE_MS = 60_000;
/** In the calm there is an end of it, and room for what is to end by then. */
const CALM_RUNNING = [null, 3, 5];

export class SettingsOperator extends Operator {
  /** So much was said; and until when something earlier may take effect. */
  #saidCount = 0;
  #unclearUntil = 0;

  constructor(options: OperatorOptions) {
    super(options, 0x0b5e);
  }

  start(): void {
    this.decideLater(300, 6_000, () => this.#say(this.#decide()));
  }

  /** Nothing stays paused, and nothing is refused for good. */
  override calmDown(): void {
    super.calmDown();
    const settings = { ...NO_SETTINGS, maxRunning: this.random.pick(CALM_RUNNING) ?? null };
    this.insist(2 * TIMEOUT_MS, () => this.#sayUnlessSo(settings));
  }

  #sayUnlessSo(settings: NewSettings): void {
    const { paused, maxWaiting, maxRunning, retention } = this.ledger.settings;
    const wanted = JSON.stringify(settings);
    if (JSON.stringify({ paused, maxWaiting, maxRunning, retention }) !== wanted)
      this.#say(settings);
  }

  #decide(): NewSettings {
    const random = this.random;
    const until = random.chance(0.5) ? this.world.wall + random.between(0, 15_000) : null;
    return {
      paused: random.chance(0.4)
        ? { by: null, reason: random.pick(['full', null]) ?? null, until }
        : null,
      maxWaiting: random.pick([null, 3, 20]) ?? null,
      maxRunning: random.pick([null, 0, 1, 2, 4]) ?? null,
      retention: RETENTIONS[this.#saidCount % RETENTIONS.length] ?? 'normal',
    };
  }

  #say(settings: NewSettings): void {
    this.world.log(`operator: ${JSON.stringify(settings)}`);
    const said = ++this.#saidCount;
    let isAnswered = false;
    const answer = (isDone: boolean): void => {
      if (isAnswered) return;
      isAnswered = true;
      this.world.log(`operator: ${isDone ? 'done' : 'no answer'}`);
      if (!isDone) this.#unclearUntil = this.world.now + LATE_MS;
      else if (said === this.#saidCount) this.#check(settings);
    };
    const master = this.master();
    this.world.after(TIMEOUT_MS, () => answer(false));
    master?.process.deliver(() => {
      master
        .by('settingsChanged')
        .changeSettings(settings)
        .then(
          () => answer(true),
          () => undefined,
        );
    });
  }

  /** P1: what was answered is written, unless something earlier came late. A pause may be over. */
  #check({ paused, maxWaiting, maxRunning, retention }: NewSettings): void {
    const { now, wallsMs } = this.world;
    if (now < this.#unclearUntil || wallsMs.length > 1) return;
    const written = this.ledger.settings;
    const isPaused = paused !== null && (paused.until ?? now + 1) > now;
    const isRight =
      written.maxWaiting === maxWaiting &&
      written.maxRunning === maxRunning &&
      written.retention === retention &&
      (!isPaused || written.paused?.until === paused.until);
    const said = JSON.stringify({ paused, maxWaiting, maxRunning, retention });
    this.ledger.effect(`200 of ${said}`, isRight);
  }
}
