/** Jobs, triggers and times, in words of one line. */
import type {
  JobSummary,
  JobView,
  NextFire,
  OccurrenceView,
  TriggerView,
} from '@soda-scheduler/client';

/** `0 19 * * 1-5 Asia/Shanghai`, `every 60 s`, or the like. */
export function triggerInWords(trigger: TriggerView): string {
  const { cron, every, delay, at, rotate, on, zone } = trigger;
  const words = () => {
    if (cron !== undefined) return `${cron} ${zone}`;
    if (every !== undefined) return `every ${secondsInWords(every)}`;
    if (delay !== undefined) return `${secondsInWords(delay)} after its end`;
    if (at !== undefined) return `once at ${at}`;
    if (on !== undefined) return `when ${on.job} has ${on.state ?? 'succeeded'}`;
    if (rotate?.minutes !== undefined) return `every ${rotate.minutes} min`;
    return `every ${rotate?.days} d at ${rotate?.at ?? '00:00'} ${zone}`;
  };
  return [words(), ...daysInWords(trigger)].join(', ');
}

function daysInWords({ only_on, except, shift }: TriggerView): string[] {
  const named = (days: NonNullable<typeof only_on>) =>
    typeof days === 'string'
      ? days
      : [days.calendar, days.days, days.label].filter((part) => part !== undefined).join(' ');
  return [
    ...(only_on === undefined ? [] : [`only on ${named(only_on)}`]),
    ...(except === undefined ? [] : [`except ${named(except)}`]),
    ...(shift === undefined || shift === 'skip' ? [] : [`else the ${shift} day`]),
  ];
}

/** What it says beside its times: when they begin and end, how many there are, and whether it stands still. */
export function boundsInWords(trigger: TriggerView): string[] {
  const { enabled, start_at: start, end_at: end, max_runs: max, runs, jitter = 0 } = trigger;
  return [
    ...(start === undefined ? [] : [`from ${start}`]),
    ...(end === undefined ? [] : [`until ${end}`]),
    ...(max === undefined ? [] : [`${runs} of ${max} runs`]),
    ...(jitter === 0 ? [] : [`up to ${secondsInWords(jitter)} later`]),
    ...(enabled ? [] : ['disabled']),
  ];
}

/** Why none of its times comes any more, whatever they are. */
const isUsedUp = ({ max_runs: max, runs }: TriggerView): boolean =>
  max !== undefined && runs >= max;

const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
] as const;

function secondsInWords(seconds: number): string {
  const unit = UNITS.find(([size]) => seconds >= size && seconds % size === 0);
  return unit === undefined ? `${seconds} s` : `${seconds / unit[0]} ${unit[1]}`;
}

/** Why nothing fires it, or null. */
export function stillInWords({ enabled, triggers }: JobSummary): string | null {
  if (!enabled) return 'disabled';
  const paused = triggers.filter((trigger) => trigger.paused !== null);
  if (paused.length === 0) return null;
  return paused.map(({ name, paused: why }) => `${name} paused: ${why?.reason}`).join('; ');
}

/** Why no time of it is known. */
export function noneInWords(job: JobView): string {
  const { name, triggers, warnings } = job;
  const still = stillInWords(job);
  if (still !== null) return `${name}: ${still}`;
  if (triggers.length === 0) return `${name} has no triggers: it is run by hand`;
  const words =
    warnings.length > 0
      ? warnings
      : triggers.map((one) =>
          isUsedUp(one)
            ? `${one.name} has had its ${one.max_runs} runs`
            : [triggerInWords(one), ...boundsInWords(one)].join(', '),
        );
  return `${name} has no time that is known yet: ${words.join('; ')}`;
}

/** The newest last, a letter each: `ssfs`. */
export function recentInWords({ recent }: JobSummary): string {
  return recent
    .map((state) => (state === 'succeeded' ? '.' : state.slice(0, 1).toUpperCase()))
    .toReversed()
    .join('');
}

/** What has been made of a time, and who has: null where nothing was. */
export function outcomeInWords({ outcome, reason }: NextFire): string {
  return reason === null ? outcome : `${outcome}: ${reason}`;
}

/** When a trigger is fired next, whatever is left out before. */
export function nextInWords({ trigger, at, local, zone }: NextFire): string {
  return `next: ${trigger} at ${at}${zone === 'UTC' ? '' : `, ${local} in ${zone}`}`;
}

/** `2026-10-01T11:00:00Z`, or from the first to the last with their count. */
export function nominalInWords({ nominal, to, count }: OccurrenceView): string {
  return count === 1 ? nominal : `${nominal} to ${to} (${count})`;
}
