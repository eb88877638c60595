/** A cron expression in words, where people say it shorter than it is written. Pure. */
import { language, t } from '../../words/words.ts';

const NAMES = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
/** 1 November 2026 is a Sunday. */
const SUNDAY_AT = Date.UTC(2026, 10, 1);
const DAY_MS = 86_400_000;

/** As it is written, where there are no better words. */
export function cronWords(expression: string): string {
  const fields = expression
    .trim()
    .split(/\s+/)
    .map((field) => (field === '?' ? '*' : field));
  if (fields.length === 6 && fields[0] === '0') fields.shift();
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  if (fields.length !== 5 || month !== '*') return expression;
  const isEveryDay = day === '*' && weekday === '*';
  const step = /^\*\/(\d+)$/;
  if (isEveryDay && hour === '*') {
    if (minute === '*') return t('cron.minutes', { n: 1 });
    const [, minutes] = step.exec(minute) ?? [];
    if (minutes !== undefined && 60 % Number(minutes) === 0) {
      return t('cron.minutes', { n: Number(minutes) });
    }
    if (/^\d+$/.test(minute)) return t('cron.hourly', { minute: minute.padStart(2, '0') });
  }
  if (!/^\d+$/.test(minute) || !/^\d+(,\d+)*$/.test(hour)) return expression;
  const time = hour
    .split(',')
    .map((one) => `${one.padStart(2, '0')}:${minute.padStart(2, '0')}`)
    .join(', ');
  if (isEveryDay) return t('cron.daily', { time });
  if (day === '*') {
    const days = weekdaysIn(weekday);
    return days === null ? expression : t('cron.on', { days, time });
  }
  if (weekday !== '*') return expression;
  if (day === 'L') return t('cron.last-day', { time });
  return /^\d+$/.test(day) ? t('cron.day', { day, time }) : expression;
}

/** `1-5` and `MON,FRI` in words; null: it is another thing. */
function weekdaysIn(text: string): string | null {
  const names = text.split(',').map((part) => {
    const ends = part.split('-').map(numberOf);
    if (ends.length > 2 || ends.some((end) => end === null)) return null;
    return ends.map((end) => nameOf(end ?? 0)).join('–');
  });
  return names.includes(null) ? null : names.join(', ');
}

function numberOf(text: string): number | null {
  const named = NAMES.indexOf(text.toUpperCase());
  if (named >= 0) return named;
  return /^[0-7]$/.test(text) ? Number(text) % 7 : null;
}

/** @param weekday 0: Sunday. */
export function nameOf(weekday: number): string {
  const at = SUNDAY_AT + weekday * DAY_MS;
  return new Date(at).toLocaleDateString(language(), { weekday: 'short', timeZone: 'UTC' });
}
