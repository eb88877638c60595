/**
 * What has become of the nominal times of triggers, by rows alone. Which times there are is counted here, second by
 * second: nothing is asked of the code that fires.
 *
 * J1: each nominal time of a trigger has exactly one record, whatever died, and however the trigger was changed.
 *
 * J2: a task of a job comes with the record of its time, in one commit, and each time has one task at most.
 *
 * J3: no run of a job begins while another runs, where its policy says so; and none that was to be skipped.
 */
import type { Commit } from '../../../../master/application/ports.ts';
import type { RowWrite } from '../../../../master/domain/changes.ts';
import type { Job, Occurrence, Trigger } from '../../../../master/domain/model/job.ts';
import type { Task } from '../../../../master/domain/model/task.ts';
import type { TriggerSpec } from '../../../../master/domain/schedule/trigger-spec.ts';
import type { World } from '../../world.ts';

/** Seconds of an interval that are counted: of an absence of days the rest is taken on trust. */
const COUNTED_MS_MAX = 4 * 3_600_000;
const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  pending: ['ran', 'replaced', 'skipped', 'refused'],
};

type Times = Pick<Occurrence, 'nominal' | 'until' | 'count' | 'state' | 'reason' | 'calendar'>;

export class OccurrenceChecks {
  readonly #world: World;
  readonly #jobs = new Map<string, Job>();
  readonly #triggers = new Map<string, Trigger>();
  /** Of each trigger, by nominal time. */
  readonly #records = new Map<string, Map<number, Times>>();
  readonly #live = new Map<number, string>();
  /** The task of each. */
  readonly #runs = new Map<string, string>();
  decidedCount = 0;

  constructor(world: World) {
    this.#world = world;
  }

  jobOf(name: string): Job | undefined {
    return this.#jobs.get(name);
  }

  committed(commit: Commit): void {
    const { writes } = commit;
    for (const write of writes) if (write.table === 'occurrence') this.#recorded(write);
    for (const write of writes) if (write.table === 'trigger') this.#decided(write, commit.now);
    for (const write of writes) {
      if (write.table === 'job' && write.op === 'remove') this.#jobs.delete(write.key);
      if (write.table === 'job' && write.op === 'put') this.#jobs.set(write.key, write.row);
    }
    const begun: Task[] = [];
    for (const write of writes) {
      if (write.table === 'task' && write.op === 'insert') begun.push(write.row);
      if (write.table === 'history' && write.op === 'insert') this.#live.delete(write.key[0]);
    }
    for (const task of begun) this.#began(task, writes);
  }

  #recorded({ key, ...write }: RowWrite<'occurrence'>): void {
    const [job, trigger, nominal, rerun] = key;
    if (write.op !== 'put' || trigger === '' || rerun !== 0) return;
    const of = `${job}/${trigger}`;
    const records = this.#records.get(of) ?? new Map<number, Times>();
    this.#records.set(of, records);
    const { row } = write as { readonly row: Occurrence };
    const known = records.get(nominal);
    if (known === undefined) {
      for (const other of records.values()) {
        if (other.nominal <= row.until && row.nominal <= other.until) {
          this.#violate('J1', `${of} has two records of ${nominal}: ${other.state}, ${row.state}`);
        }
      }
    } else {
      const isMore = known.state === row.state && row.until > known.until && row.count > 1;
      const isNext = FOLLOWS[known.state]?.includes(row.state) ?? false;
      const isSame = known.state === row.state && row.until === known.until;
      if (!isMore && !isNext && !isSame) {
        this.#violate('J1', `${of} at ${nominal} was ${known.state} and is ${row.state}`);
      }
    }
    records.set(nominal, row);
    if (row.state === 'ran' && row.count !== 1) this.#violate('J1', `${of} ran ${row.count} times`);
    const isDark = row.reason?.startsWith('black-out') === true;
    if ((row.state === 'ran') !== (row.taskId !== null)) {
      this.#violate('J2', `${of} at ${nominal} is ${row.state}, with task ${row.taskId}`);
    }
    const blackouts = blackoutsOf(this.#jobs.get(job));
    const lies = blackouts.some(({ from, to }) => from <= nominal && nominal < to);
    if (isDark !== lies && !['pending', 'replaced'].includes(row.state) && this.#jobs.has(job)) {
      this.#violate('J3', `${of} at ${nominal} is ${row.state} ${row.reason}, black-out: ${lies}`);
    }
  }

  /** What it says to be decided has its records. */
  #decided(write: RowWrite<'trigger'>, now: number): void {
    const key = write.key.join('/');
    const before = this.#triggers.get(key);
    if (write.op === 'remove') {
      this.#triggers.delete(key);
      return;
    }
    const { row } = write;
    const isSame = before?.spec === row.spec;
    this.#triggers.set(key, row);
    if (before === undefined) return;
    const max = Math.max(before.firedCount, specOf(row).maxRuns ?? Number.POSITIVE_INFINITY);
    if (row.firedCount > max) {
      this.#violate('J3', `${key} has fired ${row.firedCount} times`);
    }
    // One that was disabled had no times meanwhile.
    if (before.nextAt === null && isSame) return;
    const until = isSame ? row.decidedUntil : Math.max(row.changedAt, before.decidedUntil);
    this.#checkCovered(key, before, until, now);
  }

  #checkCovered(key: string, of: Trigger, until: number, now: number): void {
    const spec = specOf(of);
    const job = this.#jobs.get(of.job);
    const isOn = of.nextAt !== null && of.paused === null && job?.isEnabled === true;
    if (!isOn || (spec.maxRuns ?? of.firedCount + 1) <= of.firedCount) return;
    const records = [...(this.#records.get(key) ?? new Map<number, Times>()).values()];
    let expected = 0;
    const from = Math.max(of.decidedUntil, until - COUNTED_MS_MAX);
    for (let at = Math.floor(from / 1_000) * 1_000; at <= until; at += 1_000) {
      const shown = nominalIn(spec, of.anchorAt, at);
      if (shown === null || shown <= from || shown > until) continue;
      expected += 1;
      const isCovered = records.some(({ nominal, until: to }) => nominal <= shown && shown <= to);
      if (!isCovered && !this.#isOver(spec, key)) {
        this.#violate('J1', `${key} has no record of ${shown}, decided until ${until} at ${now}`);
        return;
      }
    }
    this.decidedCount += expected;
  }

  /** It has no times after its last run. */
  #isOver({ maxRuns }: TriggerSpec, key: string): boolean {
    return maxRuns !== null && (this.#triggers.get(key)?.firedCount ?? maxRuns) >= maxRuns;
  }

  #began(task: Task, writes: Commit['writes']): void {
    const { job, id, seq } = task;
    if (job === null) return;
    const run = `${job.name}/${job.trigger}/${job.nominal}`;
    const known = this.#runs.get(run);
    // Somebody has it run again.
    if (known === id) return void this.#live.set(seq, job.name);
    const record = writes.find(
      (one) => one.table === 'occurrence' && one.op === 'put' && one.row.taskId === id,
    );
    if (record === undefined) this.#violate('J2', `${id} is a run of ${run}, without its record`);
    if (known !== undefined) this.#violate('J2', `${run} has two tasks, ${known} and ${id}`);
    this.#runs.set(run, id);
    const rivals = [...this.#live.values()].filter((name) => name === job.name);
    const isAlone = !/^(allow|max)/.test(job.name);
    if (isAlone && job.trigger !== '' && rivals.length > 0) {
      this.#violate('J3', `${id} begins while another run of ${job.name} has not ended`);
    }
    if (job.name.startsWith('max') && rivals.length >= 2) {
      this.#violate('J3', `${id} is the third run of ${job.name}`);
    }
    this.#live.set(seq, job.name);
  }

  #violate(invariant: string, what: string): void {
    this.#world.violate(invariant, what);
  }
}

const specOf = ({ spec }: Trigger): TriggerSpec => JSON.parse(spec) as TriggerSpec;

function blackoutsOf(job: Job | undefined): readonly { from: number; to: number }[] {
  const { blackouts = [] } = JSON.parse(job?.spec ?? '{}') as {
    blackouts?: { from: number; to: number }[];
  };
  return blackouts;
}

/** The nominal time in the second that begins then; null: there is none. Knows what the operator uses. */
function nominalIn({ timing }: TriggerSpec, anchorAt: number, second: number): number | null {
  if (timing.kind === 'every') {
    const next = anchorAt + Math.ceil((second - anchorAt) / timing.everyMs) * timing.everyMs;
    return next >= second && next < second + 1_000 && next > anchorAt ? next : null;
  }
  if (timing.kind !== 'cron') return null;
  const [, step = ''] = /^\*\/(\d+) \* \* \* \* \*$/.exec(timing.expression) ?? [];
  return ((second / 1_000) % 60) % Number(step) === 0 ? second : null;
}
