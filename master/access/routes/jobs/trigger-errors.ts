/** What no schema can say of the triggers of a job. */
import { didYouMean } from '@soda-scheduler/protocol';
import type { jobRequest } from '@soda-scheduler/protocol/schemas';
import type { z } from 'zod';
import { type Cron, CronRefused, cronOf, leastGapOf } from '../../../domain/schedule/cron.ts';
import { isZone } from '../../../domain/usage/day.ts';
import { instantOf } from '../../body/instants.ts';
import type { FieldError } from '../../http/problem.ts';
import { BY_HAND_NAME } from './templates.ts';

type Fields = Partial<z.output<typeof jobRequest>>;
type Asked = NonNullable<Fields['triggers']>[number];

interface Rules {
  readonly hasCalendar: (name: string) => boolean;
}

/** It yields after each. */
export function* triggerErrors(
  job: string,
  triggers: readonly Asked[],
  rules: Rules,
): Generator<void, FieldError[]> {
  const found: FieldError[] = [];
  const names = new Set<string>();
  let isHinted = false;
  for (const [index, trigger] of triggers.entries()) {
    const at = `triggers[${index}]`;
    const name = trigger.name ?? 'default';
    // One is hinted at: each costs milliseconds, and so does each zone that is new.
    const isWrong = !isZone(trigger.zone ?? 'UTC');
    const errors = ownErrors(job, trigger, rules, isWrong && !isHinted);
    isHinted ||= isWrong;
    if (trigger.name === undefined && triggers.length > 1) {
      errors.push({ field: 'name', message: 'of several triggers each needs a name' });
    } else if (names.has(name)) errors.push({ field: 'name', message: 'another has that name' });
    names.add(name);
    found.push(...errors.map(({ field, message }) => ({ field: `${at}.${field}`, message })));
    yield;
  }
  return found;
}

function ownErrors(job: string, trigger: Asked, rules: Rules, isHinted: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const add = (field: string, message: string) => errors.push({ field, message });
  const { name = '', zone = 'UTC', cron, at, delay, on, only_on, except, shift } = trigger;
  const { jitter = 0 } = trigger;
  let every = trigger.every ?? (trigger.rotate?.minutes ?? Number.POSITIVE_INFINITY) * 60;
  let between = 'the interval';
  // No run by hand may have the id of one that a trigger has fired.
  if (name === BY_HAND_NAME) add('name', `${name} is what runs by hand are called`);
  if (!isZone(zone)) {
    const hint = isHinted ? didYouMean(zone, zonesLike(zone)) : '';
    add('zone', `expected a zone of the IANA, as Asia/Shanghai${hint}`);
  } else if (!isPlace(zone)) {
    add('zone', `expected Area/City, as Asia/Shanghai: ${zone} may be meant for several zones`);
  } else if (cron !== undefined) {
    const found = cronIn(cron);
    if (typeof found === 'string') add('cron', found);
    else [every, between] = [leastGapOf(found), 'the least time between two of its times'];
  }
  const start = instantOf(trigger.start_at);
  const end = instantOf(trigger.end_at);
  if (start !== null && end !== null && end <= start) add('end_at', 'expected later than start_at');
  if (at !== undefined && trigger.start_at !== undefined) add('start_at', 'not with `at`');
  if (jitter > every) add('jitter', `expected at most ${between}, which is ${every} s`);
  if (on?.job === job) add('on.job', 'a job does not wait for itself: use `delay`');
  for (const [field, asked] of Object.entries({ only_on, except })) {
    if (asked === undefined) continue;
    const calendar = typeof asked === 'string' ? asked : asked.calendar;
    if (!rules.hasCalendar(calendar)) add(field, `there is no calendar ${calendar}`);
    if (delay !== undefined || on !== undefined) add(field, 'not with `delay` or `on`');
  }
  if (shift !== undefined && only_on === undefined && except === undefined) {
    add('shift', 'needs `only_on` or `except`');
  }
  return errors;
}

/** `CST` is one zone for the runtime, and another for whoever writes it. */
const isPlace = (zone: string): boolean => zone.includes('/') || /^(UTC|GMT)$/i.test(zone);

/** Those that may be near. */
function zonesLike(zone: string): string[] {
  return Intl.supportedValuesOf('timeZone').filter((one) => Math.abs(one.length - zone.length) < 5);
}

/** A text: why it cannot be read. */
function cronIn(expression: string): Cron | string {
  try {
    return cronOf(expression);
  } catch (error) {
    if (error instanceof CronRefused) return error.message;
    throw error;
  }
}
