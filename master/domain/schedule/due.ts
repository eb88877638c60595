/**
 * What of a trigger is due, and what becomes of it by how late it is noticed (misfire): of each nominal time exactly
 * one thing. What is run then is up to the overlap policy. Pure; costs by days, not by how many times were missed.
 */
import { type Coming, Fates, jitterOf, type Surroundings } from './coming.ts';
import type { TriggerSpec } from './trigger-spec.ts';

/** What becomes of a nominal time, or of `count` of them that follow one another, to `to`. */
export interface Due extends Pick<Coming, 'nominal' | 'to' | 'count' | 'reason' | 'calendar'> {
  /** `run`: of one time only. What its overlap makes of it is to be asked. */
  readonly state: 'run' | 'skipped' | 'merged';
  /** When it was to fire; of several the last. */
  readonly at: number;
  /** Noticed later than its grace. */
  readonly isLate: boolean;
}

export interface DuePage {
  /** In order: when all of it is decided, all up to the last `to` is. */
  readonly due: readonly Due[];
  /** There is more that is due: none of this is the newest. */
  readonly isMore: boolean;
}

export interface DueLimits {
  /** Records of one answer; some more where several late ones are run. */
  readonly countMax: number;
  /** Late ones that are run by `all`. */
  readonly lateCountMax: number;
  /**
   * The trigger is about to be changed: its times up to now are decided as it is, also those that were moved to a day
   * that is yet to come, or whose jitter is yet to pass.
   */
  readonly isEdited?: boolean;
  /** What is left out, up to the first that is to run: that is up to whoever fires it. */
  readonly isOfLeftOut?: boolean;
}

/** @param after All before, and it itself, is decided. */
export function dueOf(
  spec: TriggerSpec,
  around: Surroundings,
  after: number,
  now: number,
  { countMax, lateCountMax, isEdited = false, isOfLeftOut = false }: DueLimits,
): DuePage {
  const fates = new Fates(spec, around);
  const found: Found[] = [];
  for (let until = after; ; ) {
    const nominal = fates.times.next(until);
    const one = nominal === null ? null : dueAt(nominal, { spec, around, fates, now, isEdited });
    const isMore = one !== null && (found.length >= countMax || fates.isTired);
    if (one === null || isMore || (one.isRun && isOfLeftOut)) {
      // The newest of the late ones are kept: they are still to come where what follows is late.
      const isLateBehind = isMore && now - one.at > spec.graceMs;
      return { due: afterMisfire(found, fates, isLateBehind ? 0 : lateCountMax, spec), isMore };
    }
    found.push(one);
    until = one.to;
    // The next one comes when its run has ended.
    if (one.isRun && spec.timing.kind === 'delay') {
      return { due: afterMisfire(found, fates, lateCountMax, spec), isMore: false };
    }
  }
}

interface Found extends Omit<Due, 'state'> {
  readonly isRun: boolean;
  readonly outcome: Coming['outcome'];
}

interface Asked {
  readonly spec: TriggerSpec;
  readonly around: Surroundings;
  readonly fates: Fates;
  readonly now: number;
  readonly isEdited: boolean;
}

/** Null: it is not due. */
function dueAt(nominal: number, { spec, around, fates, now, isEdited }: Asked): Found | null {
  // What would fire before then is late for certain, and there may be a million of it.
  const lateBefore = now - spec.graceMs - spec.jitterMs;
  const { at: firesAt, ...coming } = fates.of(nominal, now);
  const { jitterMs } = spec;
  if (firesAt === null)
    return nominal > now ? null : { ...coming, at: nominal, isRun: false, isLate: false };
  if (coming.outcome === 'runs' && nominal < lateBefore && spec.timing.kind !== 'delay') {
    const end = fates.runsUntil(nominal, lateBefore);
    const to = fates.times.last(nominal, end) ?? nominal;
    const count = fates.times.count(nominal, end);
    const at = to + jitterOf(jitterMs, around.key, to);
    return { ...coming, to, count, at, isRun: true, isLate: true };
  }
  const isDue = firesAt <= now;
  if (isDue || (isEdited && firesAt - jitterOf(jitterMs, around.key, nominal) <= now)) {
    const isLate = now - firesAt > spec.graceMs;
    return { ...coming, at: Math.min(firesAt, now), isRun: true, isLate };
  }
  if (!isEdited || nominal > now) return null;
  const reason = `${coming.reason}, and was changed before`;
  return { ...coming, outcome: 'skipped', reason, at: nominal, isRun: false, isLate: false };
}

function afterMisfire(
  found: readonly Found[],
  fates: Fates,
  lateCountMax: number,
  { misfire }: TriggerSpec,
): readonly Due[] {
  const isInTime = found.some(({ isRun, isLate }) => isRun && !isLate);
  // One that is in time stands for those that are late.
  const keptMax = misfire === 'all' ? lateCountMax : isInTime ? 0 : Math.min(1, lateCountMax);
  let left = misfire === 'skip' ? 0 : keptMax;
  const isMerged = misfire === 'once' || misfire === 'after_current';
  const why = misfire === 'all' ? 'overflow' : 'misfire';
  const due: Due[] = [];
  // The newest ones are kept, so it begins with them.
  for (const one of found.toReversed()) {
    const { isRun, outcome, ...rest } = one;
    if (!isRun) due.push({ ...rest, state: outcome === 'merged' ? 'merged' : 'skipped' });
    else if (!one.isLate) due.push({ ...rest, state: 'run' });
    else {
      let { to, count } = one;
      for (; left > 0 && count > 0; left--, count--) {
        due.push({ ...rest, nominal: to, to, count: 1, at: one.at - (one.to - to), state: 'run' });
        to = fates.times.last(one.nominal, to) ?? one.nominal;
      }
      const state = isMerged ? 'merged' : 'skipped';
      if (count > 0) due.push({ ...rest, to, count, state, reason: why });
    }
  }
  return due.reverse();
}
