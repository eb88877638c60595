/** What fires a job, and by the clocks of which zone its times are read. */
import type { JobView, TriggerView } from '@soda-scheduler/protocol';
import { lengthOf } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';
import { cronWords } from './cron-words.ts';
import { clockIn, dayIn, timeIn } from './month/zones.ts';

export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** When it fires: `Mon–Fri at 19:00`. */
export function triggerWords(trigger: TriggerView): string {
  const { cron, every, delay, at, rotate, on } = trigger;
  if (cron !== undefined) return cronWords(cron);
  if (every !== undefined) return everyWords(every);
  if (delay !== undefined) return t('trigger.delay', { length: lengthOf(1000 * delay) });
  if (at !== undefined) {
    const zone = zoneOf(trigger);
    const instant = new Date(at).getTime();
    return t('trigger.at', { when: `${dayIn(zone, instant)} ${timeIn(zone, instant)}` });
  }
  if (on !== undefined) {
    return t('trigger.on', { job: on.job, state: wordOf('state', on.state ?? 'succeeded') });
  }
  if (rotate === undefined) return wordOf('kind-of-trigger', trigger.kind);
  if (rotate.minutes !== undefined) return everyWords(60 * rotate.minutes);
  return t('trigger.days', { n: rotate.days ?? 1, time: rotate.at ?? '00:00' });
}

const everyWords = (seconds: number): string =>
  t('trigger.every', { length: lengthOf(1000 * seconds).replace(/^(\d+)\.0 /, '$1 ') });

/** Whether its times are those of clocks that people look at. */
const isByClock = ({ kind, zone }: TriggerView): boolean =>
  kind === 'cron' || kind === 'rotate' || zone !== 'UTC';

/** By whose clocks its times are read: those of the browser for one that goes by none, or is not there any more. */
export function zoneOf(trigger: TriggerView | undefined): string {
  return trigger !== undefined && isByClock(trigger) ? trigger.zone : ownZone();
}

/** Of the trigger that fires next. */
export function zoneOfNext({
  triggers,
  next_at: at,
}: Pick<JobView, 'triggers' | 'next_at'>): string {
  return zoneOf(triggers.find((one) => one.next_at === at));
}

/** Of all its triggers: that of the first which goes by clocks; else that of the browser. */
export function zoneOfJob(triggers: readonly TriggerView[]): string {
  return triggers.find(isByClock)?.zone ?? ownZone();
}

/** What is set for it alone: from and until when, how often, and what differs from its job. */
export function ownSettings(trigger: TriggerView, job: JobView): readonly string[] {
  const { start_at: from, end_at: until, jitter = 0, max_runs: max } = trigger;
  const { misfire, grace, overlap } = trigger;
  const clock = (at: string | number): string =>
    clockIn(zoneOf(trigger), new Date(at).toISOString(), 'year');
  return [
    from === undefined ? '' : t('trigger.from', { when: clock(from) }),
    until === undefined ? '' : t('trigger.until', { when: clock(until) }),
    max === undefined ? '' : t('trigger.max-runs', { n: max }),
    jitter > 0 ? t('trigger.jitter', { length: lengthOf(1000 * jitter) }) : '',
    misfire === job.misfire && grace === job.grace
      ? ''
      : t('trigger.late', { length: lengthOf(1000 * grace), what: wordOf('misfire', misfire) }),
    overlap === job.overlap ? '' : t('trigger.overlap', { what: overlapWords(overlap) }),
  ].filter((text) => text !== '');
}

export function overlapWords(overlap: string): string {
  const [kind = '', max] = overlap.split(':');
  return max === undefined ? wordOf('overlap', kind) : t('overlap.max', { n: Number(max) });
}
