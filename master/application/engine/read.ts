/**
 * Reads the rows that the state asks for, and steps what they say. Whoever calls steps nothing else
 * meanwhile, so that rows and memory agree.
 */
import { BOOKED_TASK_PAGE } from '../../domain/booking/booking-bounds.ts';
import { askedBefore } from '../../domain/booking/due.ts';
import { TURN_READ_BYTES_MAX, WORK_SLICE_COUNT_MAX } from '../../domain/bounds.ts';
import type { Output } from '../../domain/effects.ts';
import type { Event } from '../../domain/events.ts';
import { gatesToRead } from '../../domain/limits/places.ts';
import { roomFor } from '../../domain/queue/waiting.ts';
import { ALL, ANY_TASK } from '../../domain/model/task-filter.ts';
import type { Pieces } from '../../domain/pieces.ts';
import { step } from '../../domain/scheduler.ts';
import type { restore } from '../../domain/state/restore.ts';
import { startClock, type State } from '../../domain/state/state.ts';
import type { EngineOptions } from './engine-options.ts';
import type { LoadGroup, LoadOf } from './loads.ts';
import { readEdges } from './read-edges.ts';
import { readWork, searchOf } from './read-work.ts';
import type { JobSources } from '../jobs/read-due.ts';
import { JobReader } from '../jobs/read-jobs.ts';
import type { TaskStore } from '../ports.ts';
import { breathing } from '../turnstile.ts';

export interface Loaded {
  readonly event: Event;
  /** As it was before its row was read; null where the state asked for a page. */
  readonly asked: LoadOf<'task'>['event'] | null;
}

/** With what the rows are read, and where it is kept what has failed. */
type Outside = Pick<EngineOptions, 'store' | 'clock' | 'templates'> & Pick<JobSources, 'faults'>;

export async function read(
  outside: Outside,
  state: State,
  group: LoadGroup,
  now: number,
): Promise<readonly Loaded[]> {
  outside.faults.begin();
  const loaded = await readGroup(outside, state, group, now);
  outside.faults.end();
  return loaded;
}

async function readGroup(
  { store, clock, templates, faults }: Outside,
  state: State,
  group: LoadGroup,
  now: number,
): Promise<readonly Loaded[]> {
  const [first] = group;
  if (first === undefined) return [];
  switch (first.type) {
    case 'task':
      return readTasks(store, state, group as LoadOf<'task'>[], now);
    case 'lane':
      return alone(await readLanes(store, state, group as LoadOf<'lane'>[], now));
    case 'booked':
      return alone(await readBooked(store, state, group as LoadOf<'booked'>[]));
    case 'job':
    case 'triggers':
    case 'settled':
    case 'replan': {
      const reader = new JobReader({ store, templates, faults, breathe: breathing(clock) });
      const events = await reader.read(state, first, now);
      return events.flatMap(alone);
    }
    case 'runs':
      return alone(await readRuns(store, first, now));
    default:
      return alone(await readPage({ store, templates, faults }, state, first, now));
  }
}

const alone = (event: Event): Loaded[] => [{ event, asked: null }];

/** All that a state is built from, as it is when nobody writes. */
export async function readAll(
  store: TaskStore,
  ask: <T>(question: () => Promise<T>) => Promise<T>,
): Promise<
  Pick<Parameters<typeof restore>[0], 'active' | 'lanes' | 'gates' | 'whole' | 'firstTriggerAt'>
> {
  const active = await ask(() => store.loadActive());
  const lanes = await ask(() => store.countLanes());
  const gates = await ask(() => store.countGates());
  const whole = await ask(() => store.loadWhole());
  const firstTriggerAt = await ask(() => store.jobs.firstTriggerAt(Number.MIN_SAFE_INTEGER));
  return { active, lanes, gates, whole, firstTriggerAt };
}

/**
 * Where an event has written a task, the row that was read for the next one is not that of the task any
 * more: what asked for it asks again. So does what asked who is first of a type, where anything was written.
 */
export function* stepLoaded(
  state: State,
  loaded: readonly Loaded[],
  now: number,
  out: Output,
): Pieces<void> {
  const written = new Set<string>();
  for (const { event, asked } of loaded) {
    const changeCount = out.changes.length;
    const isStale =
      asked !== null &&
      (written.has(asked.taskId) || (asked.type === 'moveRequested' && changeCount > 0));
    step(state, isStale ? asked : event, now, out);
    if (asked !== null && out.changes.length > changeCount) written.add(asked.taskId);
    yield;
  }
}

/** What has come into memory since it was asked for is not read, and what is too much asks again. */
async function readTasks(
  store: TaskStore,
  state: State,
  loads: readonly LoadOf<'task'>[],
  now: number,
): Promise<readonly Loaded[]> {
  const ids = new Set(loads.map(({ event }) => event.taskId).filter((id) => !state.tasks.has(id)));
  const found = await store.findTasks([...ids], TURN_READ_BYTES_MAX);
  const loaded = loads.map(({ event: asked }): Loaded => {
    const stored = found.get(asked.taskId);
    if (stored === undefined) return { event: asked, asked };
    const { task, notification } = stored ?? { task: null, notification: null };
    return { event: { ...asked, task, notification } as Event, asked };
  });
  // One in a turn: it decides who is first, or last, for the next one.
  const at = loaded.findIndex(({ event }) => event.type === 'moveRequested');
  const move = loaded[at];
  if (move === undefined) return loaded;
  const event = await withEdge(store, state, move.event as MoveRequested, now);
  return loaded.with(at, { ...move, event });
}

type MoveRequested = Extract<Event, { type: 'moveRequested' }>;

/** Of one whose task is not read yet as it is: it asks again. */
async function withEdge(
  store: TaskStore,
  state: State,
  event: MoveRequested,
  now: number,
): Promise<MoveRequested> {
  const task = state.tasks.get(event.taskId) ?? event.task;
  if (task === undefined) return event;
  if (task === null) return { ...event, edge: null };
  const edges = await readEdges(store, state, event.to, [task.type], now);
  return { ...event, edge: edges.get(task.type) ?? null };
}

async function readLanes(
  store: TaskStore,
  state: State,
  loads: readonly LoadOf<'lane'>[],
  now: number,
): Promise<Event> {
  const limit = roomFor(state, loads.length);
  const ends = loads.map(({ lane }) => {
    return { lane, after: state.lanes.get(lane)?.ready.cursor ?? null };
  });
  const found = await store.loadLanes(ends, now, limit);
  const pages = loads.map(({ lane }, at) => {
    const tasks = found[at] ?? [];
    return { lane, tasks, complete: tasks.length < limit };
  });
  return { type: 'lanesLoaded', pages };
}

async function readRuns(
  store: TaskStore,
  { job, seqMax, cursor }: LoadOf<'runs'>,
  now: number,
): Promise<Event> {
  const filter = { ...ANY_TASK, job };
  const search = searchOf({ action: 'cancel', filter, within: ALL, seqMax, endedBefore: now });
  const page = await store.searchTasks(search, cursor, WORK_SLICE_COUNT_MAX, TURN_READ_BYTES_MAX);
  const tasks = page.tasks.map(({ task }) => task);
  return { type: 'runsFound', job, seqMax, tasks, cursor: page.cursor };
}

/** One page for all of them together. */
async function readBooked(
  store: TaskStore,
  { bookings: { byId } }: State,
  loads: readonly LoadOf<'booked'>[],
): Promise<Event> {
  const limit = Math.floor(BOOKED_TASK_PAGE / loads.length);
  const wanted = loads.map(({ booking }) => {
    const asked = byId.get(booking);
    return { booking, before: asked === undefined ? 0 : askedBefore(asked) };
  });
  const found = await store.loadBooked(wanted, limit);
  const pages = wanted.map(({ booking }, at) => {
    const tasks = found[at] ?? [];
    return { booking, tasks, complete: tasks.length < limit };
  });
  return { type: 'bookedLoaded', pages };
}

async function readPage(
  { store, templates, faults }: Omit<Outside, 'clock'>,
  state: State,
  load: LoadOf<'held' | 'delayed' | 'overdue' | 'notifications' | 'work'>,
  now: number,
): Promise<Event> {
  const { pageCount } = state.policy;
  switch (load.type) {
    case 'held': {
      const open = gatesToRead(state);
      const room = roomFor(state, open.length);
      const wanted = open.map(({ gate, limit }) => ({ gate, limit: Math.min(limit, room) }));
      const found = await store.loadHeld(wanted);
      const pages = wanted.map(({ gate, limit }, at) => {
        const tasks = found[at] ?? [];
        return { gate, tasks, complete: tasks.length < limit };
      });
      return { type: 'heldLoaded', pages };
    }
    case 'work':
      return { type: 'workLoaded', page: await readWork({ store, templates, faults }, state, now) };
    case 'delayed': {
      const tasks = await store.loadDelayed(state.delayed.cursor, pageCount);
      return { type: 'delayedLoaded', tasks, complete: tasks.length < pageCount };
    }
    case 'overdue': {
      const clock = startClock(state, now);
      const after = state.overdue.cursor;
      const page = await store.loadOverdue(now, clock, pageCount, after);
      return { type: 'overdueLoaded', ...page };
    }
    case 'notifications': {
      const after = state.notifications.cursor;
      const notifications = await store.loadNotifications(after, pageCount);
      const complete = notifications.length < pageCount;
      return { type: 'notificationsLoaded', notifications, complete };
    }
  }
}
