/**
 * Somebody who puts jobs with triggers of all kinds of policies, changes them, holds them back, runs them by hand, and takes
 * all of it back. Chance of his own: the rest of a run is drawn as without him.
 */
import type { Command } from '../../../master/domain/events.ts';
import type { DefinedTrigger } from '../../../master/domain/jobs/job-events.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import type {
  Misfire,
  Overlap,
  Timing,
  TriggerSpec,
} from '../../../master/domain/schedule/trigger-spec.ts';
import { Operator, type OperatorOptions } from './operator.ts';

const INSIST_MS = 10_000;
/** A job for each: what may run at once follows from its name. */
const OVERLAPS: Readonly<Record<string, Overlap>> = {
  queue: { kind: 'queue' },
  one: { kind: 'queue_one' },
  skip: { kind: 'skip' },
  replace: { kind: 'replace' },
  allow: { kind: 'allow' },
  max2: { kind: 'max', max: 2 },
};
const NAMES = Object.keys(OVERLAPS);

export class JobOperator extends Operator {
  #count = 0;

  constructor(options: OperatorOptions) {
    super(options, 0x70b5);
  }

  start(): void {
    for (const name of this.random.pick([NAMES, NAMES.slice(0, 3), NAMES.slice(3)]) ?? NAMES) {
      this.#say(this.#set(name));
    }
    this.decideLater(500, 8_000, () => this.#say(this.#decide()));
  }

  /** Nothing is fired any more, so that all that was comes to its end. */
  override calmDown(): void {
    super.calmDown();
    for (const name of NAMES) {
      this.insist(INSIST_MS, () => {
        if (this.ledger.occurrences.jobOf(name) !== undefined) {
          this.#say({ type: 'jobRemoved', name, expect: null, within: ALL });
        }
      });
    }
  }

  #decide(): Command {
    const { random } = this;
    const name = random.pick(NAMES) ?? 'one';
    const draw = random.between(0, 9);
    if (draw === 0) return { type: 'jobRemoved', name, expect: null, within: ALL };
    if (draw <= 2) return { type: 'jobEnabled', name, isEnabled: draw === 1, within: ALL };
    if (draw <= 4) {
      const key = `k${++this.#count}`;
      return { type: 'jobRun', name: 'allow', key, params: null, within: ALL };
    }
    return this.#set(name);
  }

  #set(name: string): Command {
    const { random, world } = this;
    const from = world.wall + random.between(0, 20_000);
    const blackouts = random.chance(0.3)
      ? [{ from, to: from + random.between(1, 15_000), reason: null }]
      : [];
    const count = random.between(1, 2);
    const triggers = Array.from({ length: count }, (_, at) => this.#trigger(`t${at}`, name));
    const type = random.pick(['a', 'b']) ?? 'a';
    const template = {
      task: { type, params: { k: random.pick(['x', 'y']), n: random.between(1, 3) } },
      user: { project: 'p', env: 'test', user: 'u', group: random.pick(['g', 'h']) },
    };
    const definition = {
      spec: JSON.stringify({ blackouts, triggers: triggers.map(({ spec }) => spec) }),
      template: JSON.stringify(template),
      type,
      group: template.user.group ?? 'g',
      tags: [],
      description: null,
      isEnabled: true,
    };
    const how = { expect: null, isTrial: false, by: null, within: ALL };
    return { type: 'jobSet', name, definition, triggers, ...how };
  }

  #trigger(name: string, job: string): DefinedTrigger {
    const { random } = this;
    const timing: Timing = random.chance(0.5)
      ? { kind: 'every', everyMs: random.pick([1_000, 1_700, 5_000, 9_000, 20_000]) ?? 5_000 }
      : { kind: 'cron', expression: `*/${random.pick([2, 5, 15, 30])} * * * * *` };
    const spec: TriggerSpec = {
      name,
      timing,
      zone: 'UTC',
      startAt: null,
      endAt: null,
      maxRuns: random.pick([null, null, 3]) ?? null,
      jitterMs: random.pick([0, 0, 700, 4_000]) ?? 0,
      misfire: random.pick<Misfire>(['skip', 'once', 'all', 'after_current']) ?? 'once',
      graceMs: random.pick([0, 3_000, 60_000]) ?? 0,
      overlap: OVERLAPS[job] ?? { kind: 'queue_one' },
      isEnabled: true,
      onlyOn: null,
      except: null,
      shift: 'skip',
    };
    return { name, kind: timing.kind, isCalendared: true, source: null, spec };
  }

  #say(change: Command): void {
    this.world.log(`jobs: ${JSON.stringify(change)}`);
    this.master()?.tell(change);
  }
}
