/** Reads the rows that the state asks for, and makes the event of them. Decides nothing. */
import type { Load } from '../domain/effects.ts';
import type { Event } from '../domain/events.ts';
import { roomFor } from '../domain/queue/waiting.ts';
import { startClock, type State } from '../domain/state.ts';
import type { TaskStore } from './ports.ts';

export function read(
  store: TaskStore,
  state: State,
  loads: readonly Load[],
  now: number,
): Promise<Event[]> {
  return Promise.all(loads.map((load) => readOne(store, state, load, now)));
}

async function readOne(store: TaskStore, state: State, load: Load, now: number): Promise<Event> {
  const { pageCount } = state.policy;
  switch (load.type) {
    case 'task': {
      const stored = await store.findTask(load.event.taskId);
      const task = stored?.task ?? null;
      const notification = stored?.notification ?? null;
      return { ...load.event, task, notification } as Event;
    }
    case 'lane': {
      const { lane } = load;
      const after = state.lanes.get(lane)?.ready.cursor ?? null;
      const limit = roomFor(state);
      const tasks = await store.loadLane(lane, after, now, limit);
      return { type: 'laneLoaded', lane, tasks, complete: tasks.length < limit };
    }
    case 'delayed': {
      const tasks = await store.loadDelayed(state.delayed.cursor, pageCount);
      return { type: 'delayedLoaded', tasks, complete: tasks.length < pageCount };
    }
    case 'overdue': {
      const tasks = await store.loadOverdue(now, startClock(state, now), pageCount);
      return { type: 'overdueLoaded', tasks, complete: tasks.length < pageCount };
    }
    case 'notifications': {
      const after = state.notifications.cursor;
      const notifications = await store.loadNotifications(after, pageCount);
      const complete = notifications.length < pageCount;
      return { type: 'notificationsLoaded', notifications, complete };
    }
  }
}
