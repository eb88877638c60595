/**
 * What each kind of rule finds in a namespace: by counters, by the first tasks of what waits, by what runs. Each says
 * what is so, by which limit, and what would mend it. Nothing here asks the store, or changes anything but whose turn it is.
 */
import { ALERT_FINDINGS_MAX } from './bounds.ts';
import type { Outcome, Outcomes } from '../health/outcomes.ts';
import { ALL } from '../model/task-filter.ts';
import type { Task } from '../model/task.ts';
import type { Pieces } from '../pieces.ts';
import type { State } from '../state/state.ts';
import { currentTask } from '../steps/occupation.ts';
import { type Backlog, backlogOf } from '../views/backlog.ts';
import type { Remedy } from '../why/asked.ts';
import { type Head, headsOf } from '../why/heads.ts';
import { counted, inWords } from '../why/words.ts';
import type { Finding } from './alert.ts';
import { type Recent, SHORT_LIFE_MS } from './recent.ts';
import { bookingFinders } from './booking-findings.ts';
import { commandIn } from './command.ts';
import { fieldsOf, secondsOf, waitFields } from './fields.ts';
import { type AlertKind, type AlertRule, speaksIn, speaksOf } from './rule.ts';
import { isStillThere } from './remedy.ts';
import type { RemedyTurns } from './turns.ts';

/** What there is to be looked at. */
export interface Looked {
  readonly namespace: string;
  readonly state: State;
  readonly outcomes: Outcomes;
  readonly recent: Recent;
  readonly turns: RemedyTurns;
  readonly now: number;
  /** Executors may yet come back: that nobody is there is not looked for. */
  readonly isEarly?: boolean;
}

/** Beside what of it more than one rule asks for, found out once. */
interface Sight extends Looked {
  readonly heads: readonly Head[];
  readonly attempts: ReadonlyMap<string, readonly Outcome[]>;
  readonly backlog: Backlog;
}

/** As it is found. */
interface Found extends Finding {
  /** Of tasks that wait: it may be asked what would start them. */
  readonly asks?: {
    /** Tells what it is asked for from all else in the namespace. */
    readonly key: string;
    readonly asked: () => Pick<Finding, 'change' | 'fields'>;
  };
}

/** Null: there is more to look at, and the look may rest. */
type Find = (sight: Sight, rule: AlertRule) => Iterable<Found | null>;

/** Of fewer ends nobody can say what share has failed; of fewer run times, what is long. */
const ENDS_COUNT_MIN = 10;
const RUN_TIMES_COUNT_MIN = 20;
/** Where nobody has said what is long: so many times as long as 95 of 100 took, and not less than this. */
const LONG_FACTOR = 3;
const LONG_MS_MIN = 60_000;

/** In one look: to ask what would start a task takes a look at all that comes before it. */
const REMEDY_COUNT_MAX = 10;

/** Nobody takes such tasks, whatever anybody has limited. */
const NOBODY = new Set(['no_executor', 'labels_unmatched', 'reserved', 'draining', 'not_ready']);

function lacksExecutors({ obstacle }: Head): boolean {
  return obstacle !== null && NOBODY.has(obstacle.reason);
}

const finders: Readonly<Record<Exclude<AlertKind, 'disk' | 'message'>, Find>> = {
  ...bookingFinders,
  *no_executor(sight, rule) {
    for (const head of sight.heads) {
      if (!lacksExecutors(head)) continue;
      if (head.since !== null && sight.now - head.since < thresholdMs(rule)) continue;
      const what = `Nobody takes tasks of type ${head.type}`;
      const finding = ofHead(sight, head, rule, `type ${head.type}`, what);
      // Of what is in the store only nobody may know since when it waits.
      yield head.since === null ? { ...finding, unsureMs: thresholdMs(rule) } : finding;
    }
  },
  *oldest_wait(sight, rule) {
    for (const head of sight.heads) {
      const { type, obstacle, since } = head;
      if (obstacle === null || rule.reasons?.includes(obstacle.reason) === false) continue;
      if (since === null || sight.now - since < thresholdMs(rule)) continue;
      const subject = `type ${type}, ${obstacle.reason}`;
      yield ofHead(sight, head, rule, subject, `Tasks of type ${type} wait too long`);
    }
  },
  *failure_share({ namespace, attempts }, { threshold: limit }) {
    for (const [type, newest] of attempts) {
      const failed = newest.filter(({ error }) => error !== null);
      const percent = (100 * failed.length) / newest.length;
      if (newest.length < ENDS_COUNT_MIN || percent < (limit ?? 0)) continue;
      const share = `${failed.length} of the newest ${newest.length} attempts of type ${type} have failed`;
      const error = failed.at(-1)?.error ?? null;
      const message = `${share} (limit: ${limit} %)${because(error)}.`;
      const change = `See ${commandIn(namespace, `task errors --type ${type}`)}.`;
      const [count, failedCount] = [newest.length, failed.length];
      yield ofType(type, message, change, {
        count,
        failed: failedCount,
        limit,
        error: brief(error),
      });
    }
  },
  *running_long({ namespace, state, now }, { threshold }) {
    const limits = new Map<string, number | null>();
    for (const executor of state.executors.values()) {
      const { occupation } = executor;
      const task = occupation && currentTask(state, executor, occupation);
      if (!task || task.startedAt === null) continue;
      const { type, startedAt } = task;
      const known = limits.get(type);
      const limitMs = known === undefined ? longMs(state, type, threshold) : known;
      limits.set(type, limitMs);
      const ranMs = now - startedAt - task.hiddenMs;
      if (limitMs === null || ranMs < limitMs) continue;
      const usual = threshold === null ? `, ${LONG_FACTOR} x the 95th percentile of its type` : '';
      const message = `Task ${task.id} of type ${type} has run for ${inWords(ranMs)} on executor ${executor.id} (limit: ${inWords(limitMs)}${usual}).`;
      const why = commandIn(namespace, `task why ${task.id}`);
      const end = commandIn(namespace, `task cancel ${task.id}`);
      const fields = fieldsOf({
        ...{ task_id: task.id, executor_id: executor.id, usual: threshold === null },
        ...{ ran: secondsOf(ranMs), limit: secondsOf(limitMs) },
      });
      yield { ...ofTask(task, message, `See ${why}, or end it: ${end}.`), fields };
    }
  },
  *started_late({ namespace, recent, now }, { threshold, windowMs }) {
    for (const [type, { count, taskId }] of recent.late) {
      const lateCount = count.count(now, windowMs ?? 0);
      if (lateCount < (threshold ?? 1)) continue;
      const what = `${counted(lateCount, 'task')} of type ${type} not started in time in the last ${inWords(windowMs ?? 0)}`;
      yield ofType(
        type,
        `${what}, ${taskId} last (limit: ${threshold}).`,
        `See ${commandIn(namespace, `task why ${taskId}`)}.`,
        { count: lateCount, task_id: taskId, ...within(windowMs), limit: threshold },
      );
    }
  },
  *backlog({ backlog }, { threshold }) {
    for (const { type, waitingCount } of backlog.types) {
      if (waitingCount < (threshold ?? 0)) continue;
      const message = `${counted(waitingCount, 'task')} of type ${type} wait (limit: ${threshold}).`;
      const change = `Start more executors of type ${type}, or submit less.`;
      yield ofType(type, message, change, { count: waitingCount, limit: threshold });
    }
  },
  *callback_gave_up({ namespace, recent, now }, { threshold, windowMs }) {
    for (const [origin, { count, taskId, error }] of recent.gaveUp) {
      const goneCount = count.count(now, windowMs ?? 0);
      if (goneCount < (threshold ?? 1)) continue;
      const what = `${counted(goneCount, 'callback')} to ${origin} given up in the last ${inWords(windowMs ?? 0)}`;
      const again = commandIn(namespace, `task redeliver ${taskId}`);
      const change = `Mend the receiver, then have them sent again: ${again}.`;
      yield {
        ...NOTHING,
        subject: origin,
        message: `${what} (limit: ${threshold})${because(error)}.`,
        change,
        fields: fieldsOf({
          ...{ origin, count: goneCount, task_id: taskId, error: brief(error) },
          ...{ ...within(windowMs), limit: threshold },
        }),
      };
    }
  },
  *callback_backlog({ namespace, backlog }, { threshold }) {
    const { pendingCallbackCount: count } = backlog;
    if (count < (threshold ?? 0)) return;
    const message = `${counted(count, 'callback')} wait to be sent (limit: ${threshold}).`;
    const list = commandIn(namespace, 'task list --notification pending');
    const change = `Find the receivers that do not answer: ${list}.`;
    const fields = fieldsOf({ count, limit: threshold });
    yield { ...NOTHING, subject: 'callbacks', message, change, fields };
  },
  *executor_flapping({ namespace, recent, now }, { threshold, windowMs }) {
    for (const [id, { count }] of recent.joins) {
      const joinCount = count.count(now, windowMs ?? 0);
      if (joinCount < (threshold ?? 1)) continue;
      const message = `Executor ${id} has connected ${joinCount} times in the last ${inWords(windowMs ?? 0)} (limit: ${threshold}).`;
      const drain = commandIn(namespace, `executor drain ${id}`);
      const change = `Look at its log, or take it out of work: ${drain}.`;
      const fields = { executor_id: id, count: joinCount, ...within(windowMs), limit: threshold };
      yield ofExecutor(id, message, change, fields);
    }
    for (const [host, { count }] of recent.shortLived) {
      const goneCount = count.count(now, windowMs ?? 0);
      if (goneCount < (threshold ?? 1)) continue;
      const soon = `have gone within ${inWords(SHORT_LIFE_MS)} of their start`;
      const lately = `in the last ${inWords(windowMs ?? 0)} (limit: ${threshold})`;
      const message = `${counted(goneCount, 'executor')} of host ${host} ${soon} ${lately}, each with an id of its own.`;
      const change = 'Look at the last lines of its log, and at what starts it again.';
      const fields = fieldsOf({
        ...{ host, count: goneCount, ...within(windowMs), limit: threshold },
        short: secondsOf(SHORT_LIFE_MS),
      });
      yield { ...NOTHING, subject: `host ${host}`, message, change, fields };
    }
  },
  *executor_not_ready({ namespace, recent, now }, rule) {
    for (const [id, { since, reason }] of recent.unready) {
      if (now - since < thresholdMs(rule)) continue;
      const message = `Executor ${id} has not been ready for ${inWords(now - since)} (limit: ${inWords(thresholdMs(rule))})${because(reason)}.`;
      const drain = commandIn(namespace, `executor drain ${id}`);
      const change = `Put right what it says, or take it out of work: ${drain}.`;
      const lasts = secondsOf(now - since);
      const fields = { executor_id: id, lasts, limit: rule.threshold, error: brief(reason) };
      yield ofExecutor(id, message, change, fields);
    }
  },
  *poison({ namespace, recent, now }, { threshold, windowMs }) {
    for (const [id, { type, group, failedCount, error, at }] of recent.failing) {
      if (failedCount < (threshold ?? 1) || now - at > (windowMs ?? 0)) continue;
      const message = `Task ${id} of type ${type} has failed ${failedCount} times (limit: ${threshold})${because(error)}.`;
      const [aside, end] = ['suspend', 'cancel'].map((verb) =>
        commandIn(namespace, `task ${verb} ${id}`),
      );
      const change = `Set it aside: ${aside}; or end it: ${end}.`;
      const fields = fieldsOf({
        ...{ task_id: id, failed: failedCount, limit: threshold, error: brief(error) },
      });
      yield { ...NOTHING, type, group, subject: `task ${id}`, message, change, fields };
    }
  },
};

const NOTHING = { namespace: null, type: null, group: null } as const;

/** By the names of rules: so many at most by each, those first that are found first. */
export function* findingsIn(
  looked: Looked,
  rules: readonly AlertRule[],
): Pieces<ReadonlyMap<string, readonly Finding[]>> {
  const sight = yield* sightOf(looked);
  const { namespace } = looked;
  const all = new Map<string, readonly Found[]>();
  for (const rule of rules) {
    const { kind } = rule;
    if (kind === 'disk' || kind === 'message' || !speaksIn(rule, namespace)) continue;
    const found = new Map<string, Found>();
    for (const one of finders[kind](sight, rule)) {
      if (one === null) {
        yield;
        continue;
      }
      const finding = { ...one, namespace };
      if (speaksOf(rule, finding) && !found.has(one.subject)) found.set(one.subject, finding);
      if (found.size >= ALERT_FINDINGS_MAX) break;
    }
    all.set(rule.name, [...found.values()]);
    yield;
  }
  return yield* withRemedies(looked, all);
}

/** What would start tasks that wait, of those whose turn it is. */
function* withRemedies(
  { turns }: Looked,
  all: ReadonlyMap<string, readonly Found[]>,
): Pieces<ReadonlyMap<string, readonly Finding[]>> {
  const keys = [...all.values()].flatMap((found) => found.flatMap(({ asks }) => asks?.key ?? []));
  const turn = turns.take(keys, REMEDY_COUNT_MAX);
  const told = new Map<string, readonly Finding[]>();
  for (const [name, found] of all) {
    const findings: Finding[] = [];
    for (const { asks, ...finding } of found) {
      const isAsked = asks !== undefined && turn.has(asks.key);
      if (isAsked) yield;
      findings.push(
        asks === undefined
          ? finding
          : { ...finding, ...(isAsked ? asks.asked() : { isUnasked: true }) },
      );
    }
    told.set(name, findings);
  }
  return told;
}

function* sightOf(looked: Looked): Pieces<Sight> {
  const { state, outcomes, now, isEarly = false } = looked;
  const found = yield* headsOf(state, now, ALL);
  const attempts = yield* outcomes.attempts(ALL, now);
  const backlog = yield* backlogOf(state, now, found);
  return {
    ...looked,
    heads: isEarly ? found.heads.filter((head) => !lacksExecutors(head)) : found.heads,
    attempts,
    backlog,
  };
}

/** Of the disk that the data of the master are on. */
export function findDisk(
  { threshold }: AlertRule,
  disk: { readonly freeBytes: number; readonly totalBytes: number },
): Finding | null {
  const percent = disk.totalBytes === 0 ? 100 : (100 * disk.freeBytes) / disk.totalBytes;
  if (percent >= (threshold ?? 0)) return null;
  const free = `${(disk.freeBytes / 1e9).toFixed(1)} GB, ${percent.toFixed(1)} %`;
  const message = `The disk of the database is nearly full: ${free} are free (limit: ${threshold} %). Once it is full, nothing is accepted, started or ended.`;
  const change = 'Free some of it, or keep less: SODA_RETENTION_DAYS, SODA_EVENT_DAYS.';
  const fields = fieldsOf({
    ...{ free_bytes: disk.freeBytes, free_percent: Number(percent.toFixed(1)) },
    limit: threshold,
  });
  return { ...NOTHING, subject: 'disk', message, change, fields };
}

function ofHead(
  { now, state }: Sight,
  { type, since, obstacle, count }: Head,
  rule: AlertRule,
  subject: string,
  what: string,
): Found {
  const long = since === null ? '' : `, the first for ${inWords(now - since)}`;
  const limit = inWords(thresholdMs(rule));
  const message = `${what}: ${counted(count, 'task')} waiting${long} (limit: ${limit}). ${obstacle?.message ?? ''}`;
  const waited = since === null ? undefined : secondsOf(now - since);
  const mend = (remedy: Remedy | undefined): Pick<Finding, 'change' | 'fields'> => ({
    change: remedy?.change.message ?? obstacle?.otherwise ?? null,
    fields: fieldsOf({
      ...{ count, waited, limit: rule.threshold },
      ...(obstacle && waitFields(obstacle, remedy)),
    }),
  });
  const finding = { ...NOTHING, type, subject, message: message.trim(), ...mend(undefined) };
  if (obstacle === null) return finding;
  const key = JSON.stringify([rule.name, subject, obstacle.key]);
  const asked = () => {
    for (const remedy of obstacle.remedies()) if (isStillThere(state, remedy)) return mend(remedy);
    return mend(undefined);
  };
  return { ...finding, asks: { key, asked } };
}

type Fields = Parameters<typeof fieldsOf>[0];

function ofType(type: string, message: string, change: string, fields: Fields): Finding {
  const subject = `type ${type}`;
  return { ...NOTHING, type, subject, message, change, fields: fieldsOf(fields) };
}

function ofExecutor(id: string, message: string, change: string, fields: Fields): Finding {
  return { ...NOTHING, subject: `executor ${id}`, message, change, fields: fieldsOf(fields) };
}

/** Of how long ago it counts. */
function within(windowMs: number | null): Fields {
  return { window: secondsOf(windowMs ?? 0) };
}

function ofTask(
  { id, type, user: { group } }: Task,
  message: string,
  change: string,
): Omit<Finding, 'fields'> {
  return { ...NOTHING, type, group, subject: `task ${id}`, message, change };
}

function thresholdMs({ threshold }: AlertRule): number {
  return 1000 * (threshold ?? 0);
}

/** Null: nobody knows what is long for it. */
function longMs(state: State, type: string, threshold: number | null): number | null {
  if (threshold !== null) return 1000 * threshold;
  const times = state.runTimes.of(type);
  if (times.length < RUN_TIMES_COUNT_MIN) return null;
  const p95 = times[Math.floor(0.95 * (times.length - 1))] ?? 0;
  return Math.max(LONG_MS_MIN, LONG_FACTOR * p95);
}

/** What somebody has said of it, in brief. */
function because(text: string | null): string {
  const line = brief(text);
  return line === null ? '' : `: ${line}`;
}

function brief(text: string | null): string | null {
  if (text === null || text === '') return null;
  const line = text.replace(/\s+/g, ' ').replace(/\.$/, '');
  return line.length > 200 ? `${line.slice(0, 200).replace(/\p{Cs}$/u, '')}...` : line;
}
