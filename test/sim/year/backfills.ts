/**
 * Backfills of a year, by rows alone.
 *
 * Y4: what a backfill runs comes with one record of its own, which counts how often that time was run again, once in each
 * backfill, while that has not ended, and so many at a time as it may; of times of the trigger alone that calendars and
 * people leave in, and that need it. Neither what it begins nor its ends touch what triggers have done. Where nothing was
 * changed meanwhile, no time that needs it is left when it is done.
 */
import type { Commit } from '../../../master/application/ports.ts';
import { type BackfillWork, isOver } from '../../../master/domain/long-work/work.ts';
import type { Occurrence } from '../../../master/domain/model/job.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import type { YearChecks } from './checks.ts';
import { timesBetween } from './wall.ts';

interface Followed {
  readonly work: BackfillWork;
  /** What all goes by that decides of times, as it was when this began. */
  readonly groundCount: number;
  readonly nominals: Set<number>;
  readonly liveIds: Set<string>;
}

export class BackfillChecks {
  readonly #fail: (what: string) => void;
  readonly #checks: YearChecks;
  readonly #followed = new Map<string, Followed>();
  /** Of each trigger: by nominal time and rerun. */
  readonly #records = new Map<string, Map<string, Occurrence>>();
  /** The backfill of each task that has not ended. */
  readonly #owners = new Map<string, string>();
  /** Ended without success. */
  readonly #failedIds = new Set<string>();
  runCount = 0;
  /** By how they have ended, and of those that are done which could be checked to the end. */
  readonly seen = new Map<string, number>();

  /** @param checks of what the triggers do, told of each commit before. */
  constructor(checks: YearChecks, fail: (what: string) => void) {
    this.#checks = checks;
    this.#fail = (what) => fail(`Y4 ${what}`);
  }

  get open(): readonly BackfillWork[] {
    return [...this.#followed.values()].map(({ work }) => work).filter((work) => !isOver(work));
  }

  committed(commit: Commit): void {
    const { writes } = commit;
    const begun: Task[] = [];
    let endedCount = 0;
    let ownEndedCount = 0;
    for (const write of writes) {
      if (write.table === 'task' && write.op === 'insert') begun.push(write.row);
      if (write.table !== 'history' || write.op !== 'insert') continue;
      const { id, state } = write.row.task;
      endedCount += 1;
      if (this.#ended(id)) ownEndedCount += 1;
      if (state !== 'succeeded') this.#failedIds.add(id);
    }
    const rows = writes.flatMap((write) =>
      write.table === 'occurrence' && write.op === 'put' ? [write.row] : [],
    );
    const again = rows.filter(({ rerun }) => rerun > 0);
    for (const task of begun) this.#began(task, again);
    for (const row of again) this.#isNeeded(row, begun);
    if (
      again.length + ownEndedCount > 0 &&
      begun.length + endedCount === again.length + ownEndedCount
    ) {
      const touched = writes.find(({ table }) => table === 'trigger' || table === 'jobActivity');
      if (touched !== undefined) this.#fail(`a backfill has touched ${touched.table}`);
      if (rows.length > again.length) this.#fail('a backfill has written what a trigger did');
    }
    for (const row of rows) this.#recorded(row);
    for (const write of writes) {
      if (write.table !== 'work' || write.op !== 'put') continue;
      if (write.row.kind === 'backfill') this.#went(write.row);
    }
  }

  #began({ id, job }: Task, again: readonly Occurrence[]): void {
    if (job === null || job.backfill === null) return;
    const { operationId, rerun } = job.backfill;
    const of = this.#followed.get(operationId);
    const what = `${id} of ${operationId}`;
    if (of === undefined || isOver(of.work)) return this.#fail(`${what} begins where that is over`);
    const record = again.find(({ taskId }) => taskId === id);
    const isItsOwn =
      record?.nominal === job.nominal && record.rerun === rerun && record.trigger === job.trigger;
    if (!isItsOwn) this.#fail(`${what} has no record of its own`);
    if (of.nominals.has(job.nominal)) this.#fail(`${what} is the second of ${iso(job.nominal)}`);
    of.nominals.add(job.nominal);
    of.liveIds.add(id);
    this.#owners.set(id, operationId);
    this.runCount += 1;
    const { maxRunning } = of.work.request;
    if (of.liveIds.size > maxRunning) this.#fail(`${what} is one of more than ${maxRunning}`);
  }

  #ended(id: string): boolean {
    const owner = this.#owners.get(id);
    this.#owners.delete(id);
    return owner !== undefined && this.#followed.get(owner)?.liveIds.delete(id) === true;
  }

  #isNeeded(row: Occurrence, begun: readonly Task[]): void {
    const { job, trigger, nominal, rerun, until, taskId } = row;
    const what = `${job}/${trigger} of ${iso(nominal)}, ${rerun}`;
    const task = begun.find(({ id }) => id === taskId);
    const { work } = this.#followed.get(task?.job?.backfill?.operationId ?? '') ?? {};
    if (work === undefined || until !== nominal) return this.#fail(`${what}: no run of a backfill`);
    const { from, until: end, which } = work.request;
    const of = this.#checks.triggerOf(job, trigger);
    const times = of && timesBetween(of.spec, of.row.anchorAt, nominal - 1, nominal);
    if (times?.length !== 1 || nominal < from || nominal >= end)
      this.#fail(`${what}: no such time`);
    if (!this.#checks.mayRun(job, trigger, nominal)) this.#fail(`${what}: it is left out`);
    const known = this.#recordsAt(job, trigger, nominal);
    const newest = Math.max(0, ...known.map((one) => one.rerun));
    if (rerun !== newest + 1) this.#fail(`${what}: the newest was ${newest}`);
    if (known.some((one) => one.reason === 'skipped by hand')) this.#fail(`${what}: by hand`);
    const isRun = known.some(({ state }) => state === 'pending' || state === 'ran');
    if (which === 'missing' && isRun) this.#fail(`${what}: it is not missing`);
    const last = known.findLast(({ state }) => state === 'ran')?.taskId ?? null;
    if (which !== 'missing' && last !== null && !this.#failedIds.has(last)) {
      this.#fail(`${what}: its run before has not ended`);
    }
  }

  #recorded(row: Occurrence): void {
    const key = `${row.job}/${row.trigger}`;
    const records = this.#records.get(key) ?? new Map<string, Occurrence>();
    this.#records.set(key, records);
    const place = `${row.nominal}/${row.rerun}`;
    if (row.rerun > 0 && records.has(place)) this.#fail(`${key} has two records of ${place}`);
    records.set(place, row);
  }

  /** In the order of their reruns. */
  #recordsAt(job: string, trigger: string, at: number): readonly Occurrence[] {
    const records = this.#records.get(`${job}/${trigger}`)?.values() ?? [];
    const found = [...records].filter(({ nominal, until }) => nominal <= at && at <= until);
    return found.sort((a, b) => a.rerun - b.rerun);
  }

  #went(work: BackfillWork): void {
    const { id, state } = work;
    const { groundCount } = this.#checks;
    const before = this.#followed.get(id);
    if (before !== undefined && isOver(before.work)) this.#fail(`${id} goes on after its end`);
    const begun = { groundCount, nominals: new Set<number>(), liveIds: new Set<string>() };
    this.#followed.set(id, { ...(before ?? begun), work });
    if (!isOver(work)) return;
    const isChecked = state === 'done' && before?.groundCount === groundCount;
    const how = isChecked ? 'done, to the end' : state;
    this.seen.set(how, (this.seen.get(how) ?? 0) + 1);
    if (state === 'done' && before !== undefined && before.liveIds.size > 0) {
      this.#fail(`${id} is done while ${before.liveIds.size} of its runs have not ended`);
    }
    if (isChecked) this.#isAllDone(work, before.nominals);
  }

  #isAllDone({ id, request }: BackfillWork, nominals: ReadonlySet<number>): void {
    const { job, trigger, from, until } = request;
    const of = this.#checks.triggerOf(job, trigger);
    const times = of && timesBetween(of.spec, of.row.anchorAt, from - 1, until - 1);
    for (const at of times ?? []) {
      if (nominals.has(at) || !this.#checks.mayRun(job, trigger, at)) continue;
      const known = this.#recordsAt(job, trigger, at);
      const isLeft = known.some((one) => one.reason === 'skipped by hand');
      if (isLeft || known.some(({ state }) => state !== 'skipped' && state !== 'merged')) continue;
      this.#fail(`${id} is done, and ${job}/${trigger} has not run at ${iso(at)}`);
    }
  }
}

const iso = (at: number): string => new Date(at).toISOString().slice(0, 16);
