/** What happens to jobs and calendars, handed to whoever decides it. */
import type { Output } from '../effects.ts';
import type { Event } from '../events.ts';
import type { State } from '../state/state.ts';
import { onCalendar, replanLoaded } from './calendars.ts';
import { triggersLoaded } from './fire.ts';
import type { CalendarChange, JobChange, JobHappening } from './job-events.ts';
import { runReplaced, runsFound } from './replaced.ts';
import { onJob } from './set.ts';
import { settledLoaded } from './settle.ts';

export type OfJobs = Extract<Event, { type: JobHappening['type'] }>;
/** What somebody asks for. */
export type AskedOfJobs = Extract<Event, { type: JobChange['type'] | CalendarChange['type'] }>;

const ASKED: Readonly<Record<AskedOfJobs['type'], true>> = {
  jobSet: true,
  jobEnabled: true,
  jobRemoved: true,
  jobRun: true,
  occurrenceSkipped: true,
  calendarSet: true,
};
const READ: Readonly<Record<Exclude<OfJobs, AskedOfJobs>['type'], true>> = {
  triggersLoaded: true,
  settledLoaded: true,
  replanLoaded: true,
  runReplaced: true,
  runsFound: true,
};

export function isAskedOfJobs(event: Event): event is AskedOfJobs {
  return Object.hasOwn(ASKED, event.type);
}

export function isOfJobs(event: Event): event is OfJobs {
  return isAskedOfJobs(event) || Object.hasOwn(READ, event.type);
}

export function onJobs(state: State, event: OfJobs, now: number, out: Output): void {
  switch (event.type) {
    case 'calendarSet':
      return onCalendar(state, event, now, out);
    case 'runReplaced':
      return runReplaced(state, event, now, out);
    case 'runsFound':
      return runsFound(state, event, now, out);
    case 'triggersLoaded':
      return triggersLoaded(state, event, now, out);
    case 'settledLoaded':
      return settledLoaded(state, event, now, out);
    case 'replanLoaded':
      return replanLoaded(state, event, now, out);
    default:
      return onJob(state, event, now, out);
  }
}
