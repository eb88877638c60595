/** What keeps a task from being offered though executors are there: limits that are reached. */
import { type Quota, reachedBy, reachedByGroup, type ReachedLimit } from '../limits/quota.ts';
import { type Lack, lackOf } from '../limits/supplies.ts';
import { usedAt } from '../limits/supply.ts';
import { reachedInAll } from '../limits/whole.ts';
import { windowsAt } from '../limits/windows.ts';
import { type Executor, isFree, type Occupation } from '../model/executor.ts';
import { nameOfPlace } from '../model/shared-limit.ts';
import type { Lane } from '../queue/lane.ts';
import { neededFor } from './ahead.ts';
import { type Asked, type Facts, type Obstacle, type Remedy, withState } from './asked.ts';
import { inWords } from './words.ts';

/** In the order in which they are asked. `able`: who might have it if he were free. */
export function* byLimits(asked: Asked, able: readonly Executor[]): Generator<Obstacle> {
  const inAll = reachedInAll(asked.state);
  if (inAll !== null) yield ofAll(asked, inAll);
  const { quota } = asked;
  const ofType = quota && reachedBy(quota);
  if (ofType !== null) yield ofTypeOrGroup(asked, ofType, null);
  const { group } = asked.task.user;
  const mine = quota?.groups.get(group);
  const ofGroup = quota && mine ? reachedByGroup({ ...mine, quota }) : null;
  if (ofGroup !== null) yield ofTypeOrGroup(asked, ofGroup, group);
  const lack = lackOn(asked, able);
  if (lack !== null) yield ofLack(asked, able, lack);
}

function limited(
  asked: Asked,
  limit: ReachedLimit,
  message: string,
  counts: (occupation: Occupation) => boolean,
  remedies: () => Iterable<Remedy>,
): Obstacle {
  const key = `limited ${limit.name}`;
  const isOfAttempts = !limit.name.endsWith('.rate');
  const facts = { limit, ...(isOfAttempts && usersOf(asked, counts)) };
  return { reason: 'limited', key, message, facts, remedies };
}

/** Whose attempts count towards it, as numbers. */
function usersOf(
  { state, task }: Asked,
  counts: (occupation: Occupation) => boolean,
): Pick<Facts, 'usedBy'> {
  const usedBy = { ownGroup: 0, ownType: 0, others: 0 };
  for (const { occupation } of [...state.executors.values(), ...state.elders.values()]) {
    if (occupation === null || !counts(occupation)) continue;
    if (occupation.type !== task.type) usedBy.others++;
    else if (occupation.group === task.user.group) usedBy.ownGroup++;
    else usedBy.ownType++;
  }
  return { usedBy };
}

/** So many attempts of all, or what they hold in memory. */
function ofAll(asked: Asked, limit: ReachedLimit): Obstacle {
  const { max, used, name } = limit;
  const all = () => true;
  if (name === 'running_task_bytes') {
    const message = `What runs holds ${used} bytes, and ${max} are allowed (running_task_bytes).`;
    const otherwise = 'It starts once enough of what runs has ended; smaller params would help.';
    return { ...limited(asked, limit, message, all, () => []), otherwise };
  }
  const message = `${used} of at most ${max} (max_running) run.`;
  return limited(asked, limit, message, all, function* () {
    const raisedTo = (maxRunning: number | null) =>
      withState(asked, { settings: { ...asked.state.settings, maxRunning } });
    const value = used + neededFor(raisedTo(null), 1, all, () => 1);
    const words = `Raise max_running of the namespace to ${value}.`;
    yield raised('namespace', value, words, raisedTo(value));
  });
}

/** @param group Whose limit it is; null: that of the type. */
function ofTypeOrGroup(asked: Asked, limit: ReachedLimit, group: string | null): Obstacle {
  const { type } = asked.task;
  const { name, max, used } = limit;
  const of = group === null ? `type ${type}` : `group ${group}`;
  const isRate = name.endsWith('.rate');
  const what = isRate ? 'have been offered in this window' : 'run';
  const message = `${used} of at most ${max} of ${of} ${what} (${name}).`;
  const counts = (one: Occupation) => one.type === type && (group === null || one.group === group);
  const remedies = () => {
    if (isRate) return inNextWindow(asked, group);
    return name === 'limits.windows' ? afterWindow(asked) : raiseType(asked, limit, group);
  };
  const obstacle = limited(asked, limit, message, counts, remedies);
  const { limits = {} } = asked.quota?.taskType.override ?? {};
  const isOverridden = (group === null ? limits.maxRunning : limits.perGroup) !== undefined;
  return { ...obstacle, facts: { ...obstacle.facts, isOverridden } };
}

function raised(target: string, value: number, message: string, asked: Asked): Remedy {
  return { change: { action: 'raise_limit', target, value, message }, asked };
}

/** Tasks that come first and count towards it: those of the type, or of its group alone. */
function sharing({ task }: Asked, group: string | null): (lane: Lane) => number {
  return ({ kind, group: of }) =>
    kind.type === task.type && (group === null || group === of) ? 1 : 0;
}

function* raiseType(
  asked: Asked,
  { name, used }: ReachedLimit,
  group: string | null,
): Generator<Remedy> {
  const { quota, task } = asked;
  if (quota === null) return;
  const { limits } = quota;
  const raisedTo = (maxRunning: number | null): Asked => {
    const { perGroup } = limits;
    const of =
      group === null ? { maxRunning } : { perGroup: perGroup && { ...perGroup, maxRunning } };
    return { ...asked, quota: { ...quota, limits: { ...limits, ...of } } };
  };
  const mayTake = ({ types }: Executor) => types.includes(task.type);
  const value = used + neededFor(raisedTo(null), 1, mayTake, sharing(asked, group));
  const words = `Raise ${name} of type ${task.type} to ${value}.`;
  yield raised(`type/${task.type}`, value, words, raisedTo(value));
}

/** The clock in its zone lifts it. */
function* afterWindow(asked: Asked): Generator<Remedy> {
  const { quota, now } = asked;
  if (quota === null || !Number.isFinite(quota.open.until)) return;
  const { until } = quota.open;
  const then = { ...quota, open: windowsAt(quota.limits.windows, until) };
  yield waited(asked, until, then, `Wait for ${inWords(until - now)}: then the window ends`);
}

/** As many begin in each window; those that come first have the next ones. */
function* inNextWindow(asked: Asked, group: string | null): Generator<Remedy> {
  const { quota, task } = asked;
  if (quota === null) return;
  const rate = group === null ? quota.limits.rate : quota.limits.perGroup?.rate;
  const use = quota.rates.get(group ?? '');
  if (!rate || use === undefined) return;
  const windowMs = rate.seconds * 1000;
  const next = { ...quota, knownAt: use.windowAt + windowMs };
  const mayTake = ({ types }: Executor) => types.includes(task.type);
  const needed = neededFor({ ...asked, quota: next }, 1, mayTake, sharing(asked, group));
  const until = use.windowAt + windowMs * Math.ceil(needed / rate.count);
  const words = `Wait for ${inWords(until - asked.now)}: then another window of ${rate.seconds} s begins`;
  yield waited(asked, until, { ...quota, knownAt: until }, words);
}

function waited(asked: Asked, until: number, quota: Quota, words: string): Remedy {
  const change = {
    action: 'wait_until',
    target: null,
    value: until,
    message: `${words}.`,
  } as const;
  return { change, asked: { ...asked, now: until, quota } };
}

/**
 * Why none of these executors may take now what the task uses of shared limits, where the least is taken; of the free
 * ones, if some are.
 */
function lackOn({ state, task, kind, now }: Asked, able: readonly Executor[]): Lack | null {
  if (kind === null || task.uses.length === 0) return null;
  const free = able.filter(isFree);
  let lack: Lack | null = null;
  for (const executor of free.length > 0 ? free : able) {
    const found = lackOf(state, kind, executor, { now, first: task });
    if (found === null) return null;
    if (lack === null || usedOf(found) <= usedOf(lack)) lack = found;
  }
  return lack;
}

const usedOf = ({ supply, place }: Lack): number => usedAt(supply, place ?? '');

function ofLack(asked: Asked, able: readonly Executor[], lack: Lack): Obstacle {
  const { supply, n, place, older } = lack;
  const { name, max, per } = supply.limit;
  const used = usedOf(lack);
  const limit = { name: `limit/${name}`, max, used };
  const counts = ({ taken }: Occupation) => taken.some((one) => one.limit === name);
  if (place === null) {
    const label = typeof per === 'string' ? per : per.label;
    const message = `No fitting executor has a label ${label}:..., by which limit ${name} is counted.`;
    return limited(asked, limit, message, counts, () => labelled(asked, able, label));
  }
  const where = place === '' ? '' : ` on ${nameOfPlace(place)}`;
  const more = n > max ? ', more than there is' : '';
  const message =
    older === null
      ? `${used} of at most ${max} of limit ${name} are in use${where}, and it takes ${n}${more}.`
      : `A task that takes more came first, and waits until there is more of limit ${name} than ${max - used}${where}.`;
  return limited(asked, limit, message, counts, () => raiseShared(asked, able, lack));
}

function* raiseShared(asked: Asked, able: readonly Executor[], lack: Lack): Generator<Remedy> {
  const { supply, n } = lack;
  const { limit } = supply;
  const { name } = limit;
  const raisedTo = (max: number): Asked => {
    const supplies = new Map(asked.state.supplies);
    return withState(asked, {
      supplies: supplies.set(name, { ...supply, limit: { ...limit, max } }),
    });
  };
  const takes = ({ kind }: Lane) => kind.uses.find(({ limit: of }) => of === name)?.n ?? 0;
  const unlimited = raisedTo(Number.MAX_SAFE_INTEGER);
  const value = usedOf(lack) + neededFor(unlimited, n, (one) => able.includes(one), takes);
  yield raised(`limit/${name}`, value, `Raise limit ${name} to ${value}.`, raisedTo(value));
}

/** Any label will do by which it can be counted; its own name makes no two executors share. */
function* labelled(asked: Asked, able: readonly Executor[], prefix: string): Generator<Remedy> {
  const executor = able.find(isFree) ?? able[0];
  if (executor === undefined) return;
  const label = `${prefix}:${executor.id}`;
  const { id } = executor;
  const value = [...(executor.override.labels ?? executor.own.labels), label];
  const other = { ...executor, labels: [...executor.labels, label] };
  const message = `Give executor ${id} a label ${prefix}:..., such as ${label}.`;
  yield {
    change: { action: 'add_label', target: `executor/${id}`, value, message },
    asked: { ...asked, fleet: asked.fleet.map((one) => (one === executor ? other : one)) },
  };
}
