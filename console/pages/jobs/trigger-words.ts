/** What fires a job, and by the clocks of which zone its times are read. */
import type { TriggerView } from '@soda-scheduler/protocol';
import { lengthOf } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';
import { cronWords } from './cron-words.ts';
import { dayIn, timeIn } from './month/zones.ts';

const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

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

function zoneOf(trigger: TriggerView): string {
  return isByClock(trigger) ? trigger.zone : ownZone();
}

/** Of all its triggers: that of the first which goes by clocks; else that of the browser. */
export function zoneOfJob(triggers: readonly TriggerView[]): string {
  return triggers.find(isByClock)?.zone ?? ownZone();
}
