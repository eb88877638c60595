/**
 * A long absence of the master, after which triggers with `misfire: all` make up for what they have missed; kills at random
 * while they do. The same seed gives the same absence.
 *
 * Y5: each nominal time has exactly one record. Of those that were missed a trigger runs the newest hundred at most, and all of
 * them together ten thousand for each time that a master begins; where none dies, hardly fewer. What is beyond is skipped
 * for `overflow`.
 */
import type { Commit } from '../../../master/application/ports.ts';
import type { DefinedTrigger } from '../../../master/domain/jobs/job-events.ts';
import type { Occurrence } from '../../../master/domain/model/job.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import { sampleJob, sampleSpec } from '../../helpers/jobs/sample-job.ts';
import { Random } from '../random.ts';
import { YearMaster, type YearSabotage } from './master.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const BEGIN = Date.UTC(2026, 0, 1);
/** As the documentation has them. */
const OF_TRIGGER_MAX = 100;
const IN_ALL_MAX = 10_000;
const TRIGGERS_OF_JOB = 20;
/** Within so long all have theirs: 200 in a second. */
const TURNS_MS = MINUTE_MS;
/** Between two looks at what is due. */
const STEP_MS = 500;
/** Within so long all is made up for, also where it begins anew. */
const RECOVERY_MS = 10 * MINUTE_MS;

export interface AbsenceOutcome {
  readonly violation: string | null;
  readonly madeUpCount: number;
  readonly missedCount: number;
  readonly beginCount: number;
}

export function simulateAbsence(seed: number, sabotage?: YearSabotage): Promise<AbsenceOutcome> {
  return new Absence(seed, sabotage).run();
}

class Absence {
  readonly #random: Random;
  readonly #master: YearMaster;
  readonly #everyMs: number;
  readonly #keys: string[] = [];
  /** Of each trigger, by nominal time. */
  readonly #records = new Map<string, Map<number, Occurrence>>();
  readonly #isKilled: boolean;
  #beginCount = 0;
  #now = BEGIN;

  constructor(seed: number, sabotage: YearSabotage | undefined) {
    this.#random = new Random(seed);
    this.#isKilled = seed % 2 === 0;
    this.#everyMs = this.#random.between(30, 90) * SECOND_MS;
    const kills = new Random(seed ^ 0x51ab);
    this.#master = new YearMaster(kills, (one) => this.#committed(one), sabotage);
  }

  async run(): Promise<AbsenceOutcome> {
    const random = this.#random;
    await this.#begin(BEGIN);
    const jobCount = random.between(6, 8);
    for (let job = 0; job < jobCount; job++) await this.#put(`job-${job}`);
    const leaves = BEGIN + random.between(1, 5) * MINUTE_MS;
    await this.#passTo(leaves);
    this.#master.kill();
    const returns = leaves + random.between(2 * HOUR_MS, 6 * HOUR_MS);
    this.#beginCount = 0;
    this.#master.killChance = this.#isKilled ? 0.01 : 0;
    await this.#begin(returns);
    const end = await this.#passTo(returns + RECOVERY_MS);
    this.#master.killChance = 0;
    await this.#passTo(end + 2 * this.#everyMs);
    return this.#judged(returns, end);
  }

  async #begin(now: number): Promise<void> {
    this.#now = now;
    this.#beginCount += 1;
    await this.#master.begin(now);
  }

  /** One that was killed is followed by another at once. */
  async #passTo(until: number): Promise<number> {
    for (;;) {
      if (!this.#master.isAlive) await this.#begin(this.#now);
      else if (this.#master.nextAt > until) break;
      else {
        this.#now = Math.max(this.#now + STEP_MS, this.#master.nextAt);
        await this.#master.tick(this.#now);
      }
    }
    this.#now = Math.max(this.#now, until);
    return this.#now;
  }

  #put(name: string): Promise<void> {
    const triggers = Array.from({ length: TRIGGERS_OF_JOB }, (_, at): DefinedTrigger => {
      const spec = sampleSpec({
        ...{ name: `t${at}`, timing: { kind: 'every', everyMs: this.#everyMs } },
        ...{ misfire: 'all', graceMs: 0, overlap: { kind: 'allow' } },
      });
      this.#keys.push(`${name}/${spec.name}`);
      return { name: spec.name, kind: 'every', isCalendared: false, source: null, spec };
    });
    const spec = JSON.stringify({ triggers: triggers.map((one) => one.spec) });
    const how = { expect: null, isTrial: false, by: null, within: ALL };
    const job = { name, definition: { ...sampleJob({ name }), spec }, triggers, ...how };
    return this.#master.tell((request) => ({ type: 'jobSet', request, ...job }), BEGIN);
  }

  #committed({ writes }: Commit): void {
    for (const write of writes) {
      if (write.table !== 'occurrence' || write.op !== 'put') continue;
      const { job, trigger, nominal } = write.row;
      const key = `${job}/${trigger}`;
      const own = this.#records.get(key) ?? new Map<number, Occurrence>();
      this.#records.set(key, own.set(nominal, write.row));
    }
  }

  #judged(returns: number, end: number): AbsenceOutcome {
    const wrong: string[] = [];
    let [madeUpCount, missedCount, wantedCount] = [0, 0, 0];
    for (const key of this.#keys) {
      const own = [...(this.#records.get(key)?.values() ?? [])];
      let [ofTrigger, missed] = [0, 0];
      for (let at = BEGIN + this.#everyMs; at <= end; at += this.#everyMs) {
        const of = own.filter(({ nominal, until }) => nominal <= at && at <= until);
        if (of.length !== 1) wrong.push(`${key} has ${of.length} records of ${at}`);
        const [record] = of;
        const isMissed = at < returns && record !== undefined && record.noticedAt >= returns;
        if (isMissed) missed += 1;
        if (isMissed && record.state === 'ran') ofTrigger += 1;
        else if (isMissed && record.reason !== 'overflow') wrong.push(`${key}: ${record.reason}`);
      }
      const times = own.reduce((sum, { count }) => sum + count, 0);
      const from = Math.min(...own.map(({ nominal }) => nominal));
      const to = Math.max(...own.map(({ until }) => until));
      if (times !== (to - from) / this.#everyMs + 1) wrong.push(`${key} counts ${times}`);
      if (ofTrigger > OF_TRIGGER_MAX) wrong.push(`${key} runs ${ofTrigger}`);
      madeUpCount += ofTrigger;
      missedCount += missed;
      // Of its newest hundred some have come while it waited for its turn.
      const newCount = Math.ceil(TURNS_MS / this.#everyMs);
      wantedCount += Math.max(0, Math.min(OF_TRIGGER_MAX, missed) - newCount);
    }
    if (madeUpCount > IN_ALL_MAX * this.#beginCount) wrong.push(`${madeUpCount} are run`);
    const least = this.#isKilled ? 0 : Math.min(IN_ALL_MAX, wantedCount);
    if (madeUpCount < least) wrong.push(`${madeUpCount} are run of ${least}`);
    const [violation = null] = wrong;
    return { violation, madeUpCount, missedCount, beginCount: this.#beginCount };
  }
}
