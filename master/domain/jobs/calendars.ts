/**
 * Calendars, and the black-outs of all jobs, as people set them. Triggers that go by them find their next times anew
 * then, some in each turn; a row says how far that is, so that a restart goes on with it.
 */
import { CALENDARS_LENGTH_MAX, CALENDARS_MAX, ERAS_LENGTH_MAX, ERAS_MAX } from '../bounds.ts';
import type { CommandOutcome, Output } from '../effects.ts';
import type { Event } from '../events.ts';
import { tell } from '../feed/tell.ts';
import { ALL_JOBS, type Calendar } from '../model/job.ts';
import type { State } from '../state/state.ts';
import { putTrigger } from './fire.ts';
import type { JobHappening } from './job-events.ts';
import type { JobsState, Replan } from './jobs-state.ts';

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
    if (!hasRoom(state, name)) return TOO_MANY;
    endEra(state, name, now);
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
  if (!hasRoom(state, name)) return TOO_MANY;
  const { replanAfter = null } = before ?? {};
  endEra(state, name, now);
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

/** What was before each change is kept until all triggers have found their times after it. */
function hasRoom({ jobs }: State, name: string): boolean {
  let length = lengthOf(jobs.calendars.get(name));
  for (const era of jobs.eras) length += era.length;
  return jobs.eras.length < ERAS_MAX && length <= ERAS_LENGTH_MAX;
}

const lengthOf = (calendar: Calendar | undefined): number => calendar?.text.length ?? 0;

const TOO_MANY: CommandOutcome = {
  kind: 'full',
  message:
    'what was before the last changes of calendars and black-outs is kept until all triggers have found their times: there is no room for another',
};

/** What was left out until now stays so. */
function endEra({ jobs }: State, name: string, until: number): void {
  const length = lengthOf(jobs.calendars.get(name));
  jobs.eras = [...jobs.eras, { until, calendars: new Map(jobs.calendars), length }];
}

const NO_BLACKOUTS = '{"blackouts":[]}';

/** A round that is under way goes on, and is followed by another: so changes never keep it from its end. */
function replan(state: State, now: number, out: Output): void {
  const { jobs } = state;
  if (jobs.replan === null || jobs.replan.after === '') jobs.replan = nextRound(jobs);
  noteReplan(state, now, out);
  askForReplan(state, out);
}

const nextRound = ({ eras }: JobsState): Replan => ({ after: '', eraCount: eras.length });

/** A master that begins would know of no further round: its own begins with the first trigger then. */
function noteReplan(state: State, now: number, out: Output): void {
  const { replan: round, eras } = state.jobs;
  const isLast = round === null || round.eraCount === eras.length;
  const replanAfter = isLast ? (round?.after ?? null) : '';
  const known = state.jobs.calendars.get(ALL_JOBS);
  if (known === undefined) {
    const none = { name: ALL_JOBS, version: 0, text: NO_BLACKOUTS, changedAt: now, by: null };
    return putCalendar(state, { ...none, replanAfter }, out);
  }
  // Without its text, which may be long: that is not written for each page of triggers.
  state.jobs.calendars.set(ALL_JOBS, { ...known, replanAfter });
  const set = { op: 'set', table: 'calendar', key: ALL_JOBS, expect: 'any' } as const;
  out.changes.push({ ...set, row: { replanAfter }, large: false });
}

/** It goes on where it was. */
export function recallReplan(state: State, out: Output): void {
  const { replanAfter = null } = state.jobs.calendars.get(ALL_JOBS) ?? {};
  if (replanAfter !== null) state.jobs.replan = { after: replanAfter, eraCount: 0 };
  askForReplan(state, out);
}

/** Where triggers are yet to find their next times. */
function askForReplan(state: State, out: Output): void {
  if (state.jobs.replan === null || state.loading.has('replan')) return;
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
  const { jobs } = state;
  state.loading.delete('replan');
  for (const row of triggers) putTrigger(state, row, out);
  if (jobs.replan === null) return;
  if (after !== null) jobs.replan = { ...jobs.replan, after };
  else {
    jobs.eras = jobs.eras.slice(jobs.replan.eraCount);
    jobs.replan = jobs.eras.length === 0 ? null : nextRound(jobs);
  }
  noteReplan(state, now, out);
  askForReplan(state, out);
}
