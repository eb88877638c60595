/**
 * Triggers that a fault of the master has failed: the first time the state is rebuilt, as after any failure, and it may be
 * over by then. What fails once more would do so for ever, and keep its whole namespace from its work: that trigger alone
 * is given up.
 */
import { TRIGGER_FAULTS_MAX } from '../../domain/bounds.ts';
import type { Trigger } from '../../domain/model/job.ts';

/** What is found out of a trigger: one may come through where another fails. */
type Step = 'due' | 'missed' | 'heard' | 'plan' | 'left out' | 'backfill';

/** Of one step. */
export interface StepFaults {
  /** It has failed there before, and not come through since. False: `end` throws. */
  isLasting(trigger: Trigger, error: unknown): boolean;
  cameThrough(trigger: Trigger): void;
}

export class TriggerFaults {
  /** By step and trigger what that was as it failed; the oldest first. */
  readonly #specs = new Map<string, string>();
  #newest: { readonly error: unknown } | null = null;

  /** Before anything is read. */
  begin(): void {
    this.#newest = null;
  }

  /** What was read with a trigger that has failed for the first time is of no use. @throws what it has failed with */
  end(): void {
    if (this.#newest !== null) throw this.#newest.error;
  }

  at(step: Step): StepFaults {
    const keyOf = ({ job, name }: Trigger) => `${step} ${job}/${name}`;
    return {
      isLasting: (trigger, error) => {
        const key = keyOf(trigger);
        if (this.#specs.get(key) === trigger.spec) return true;
        this.#add(key, trigger.spec);
        this.#newest = { error };
        return false;
      },
      cameThrough: (trigger) => {
        if (this.#specs.size > 0) this.#specs.delete(keyOf(trigger));
      },
    };
  }

  #add(key: string, spec: string): void {
    this.#specs.delete(key);
    const [oldest] = this.#specs.keys();
    if (oldest !== undefined && this.#specs.size >= TRIGGER_FAULTS_MAX) this.#specs.delete(oldest);
    this.#specs.set(key, spec);
  }
}
