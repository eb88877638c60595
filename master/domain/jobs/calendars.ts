/**
 * Calendars, and the black-outs of all jobs, as people set them. Triggers that go by them find their next times anew
 * then, some in each turn; a row says how far that is, so that a restart goes on with it.
 */
import { CALENDARS_LENGTH_MAX, CALENDARS_MAX, ERAS_MAX } from '../bounds.ts';
import type { CommandOutcome, Output } from '../effects.ts';
import type { Event } from '../events.ts';
import { tell } from '../feed/tell.ts';
import { ALL_JOBS, type Calendar } from '../model/job.ts';
import type { State } from '../state/state.ts';
import { putTrigger } from './fire.ts';
import type { JobHappening } from './job-events.ts';

type OnCalendar = Extract<Event, { type: 'calendarSet' }>;

export function onCalendar(state: State, event: OnCalendar, now: number, out: Output): void {
  const reply = decide(state, event, now, out);
  out.effects.push({ type: 'reply', request: event.request, reply });
}

function decide(state: State, event: OnCalendar, now: number, out: Output): CommandOutcome {
  const { name, text, expect, isForced, isUsed, by } = event;
  const { calendars } = state.jobs;
  const before = calendars.get(name);
  if (expect !== null && expect !== (before?.version ?? 0)) {
    const message = `It is not at version ${expect}, but at ${before?.version ?? 0}.`;
    return { kind: 'stale', message };
  }
  if (text === null) {
    if (before === undefined) return { kind: 'unknown', message: 'There is no such calendar.' };
    if (isUsed && !isForced) {
      return { kind: 'conflict', message: 'Triggers go by it: change them first, or use force.' };
    }
    if (!hasRoom(state)) return TOO_FAST;
    endEra(state, now);
    calendars.delete(name);
    out.changes.push({ op: 'remove', table: 'calendar', key: name, expect: 'any' });
    tell(state, out, 'calendar.deleted', now, {}, { calendar: name });
    replan(state, now, out);
    return { kind: 'done' };
  }
  const version = (before?.version ?? 0) + 1;
  if (before?.text === text) return { kind: 'done', version: before.version, isNew: false };
  const refusal = refusalOf(state, name, text);
  if (refusal !== null) return refusal;
  if (!hasRoom(state)) return TOO_FAST;
  const { replanAfter = null } = before ?? {};
  endEra(state, now);
  putCalendar(state, { name, version, text, changedAt: now, by, replanAfter }, out);
  if (name === ALL_JOBS) tell(state, out, 'blackouts.changed', now, {}, { version });
  else tell(state, out, 'calendar.changed', now, {}, { calendar: name, version });
  replan(state, now, out);
  return { kind: 'done', version, isNew: before === undefined };
}

function refusalOf(state: State, name: string, text: string): CommandOutcome | null {
  const { calendars } = state.jobs;
  if (!calendars.has(name) && calendars.size >= CALENDARS_MAX) {
    return { kind: 'full', message: `there are ${CALENDARS_MAX} calendars: delete one` };
  }
  let length = text.length;
  for (const one of calendars.values()) if (one.name !== name) length += one.text.length;
  if (length <= CALENDARS_LENGTH_MAX) return null;
  return { kind: 'full', message: `calendars would have ${length} characters together` };
}

function putCalendar({ jobs }: State, row: Calendar, out: Output): void {
  jobs.calendars.set(row.name, row);
  out.changes.push({ op: 'put', table: 'calendar', key: row.name, row });
}

/** Each change has all triggers find their times once more: without a bound they would never be through. */
const hasRoom = ({ jobs }: State): boolean => jobs.eras.length < ERAS_MAX;

const TOO_FAST: CommandOutcome = {
  kind: 'full',
  message: `triggers are yet to find their times after the last ${ERAS_MAX} changes of calendars and black-outs`,
};

/** What was left out until now stays so. */
function endEra({ jobs }: State, until: number): void {
  jobs.eras = [...jobs.eras, { until, calendars: new Map(jobs.calendars) }];
}

const NO_BLACKOUTS = '{"blackouts":[]}';

/** From the first trigger on, wherever it was. */
function replan(state: State, now: number, out: Output): void {
  noteReplan(state, '', now, out);
  askForReplan(state, out);
}

function noteReplan(state: State, replanAfter: string | null, now: number, out: Output): void {
  const none = { name: ALL_JOBS, version: 0, text: NO_BLACKOUTS, changedAt: now, by: null };
  putCalendar(state, { ...none, ...state.jobs.calendars.get(ALL_JOBS), replanAfter }, out);
}

/** Where triggers are yet to find their next times. */
export function askForReplan(state: State, out: Output): void {
  const { replanAfter = null } = state.jobs.calendars.get(ALL_JOBS) ?? {};
  if (replanAfter === null || state.loading.has('replan')) return;
  state.loading.add('replan');
  out.loads.push({ type: 'replan' });
}

/** They were read while nothing was stepped, and have their new next times. */
export function replanLoaded(
  state: State,
  { triggers, after }: Extract<JobHappening, { type: 'replanLoaded' }>,
  now: number,
  out: Output,
): void {
  state.loading.delete('replan');
  for (const row of triggers) putTrigger(state, row, out);
  if (after === null) state.jobs.eras = [];
  noteReplan(state, after, now, out);
  askForReplan(state, out);
}
