/**
 * Bugs, each wrapped around the code from outside. The simulation must find every one of them:
 * that is how the checks themselves are checked.
 */
import type { Engine } from '../../master/application/engine.ts';
import type { Commit, TaskStore } from '../../master/application/ports.ts';
import { TermLost } from '../../master/application/ports.ts';
import type { Event } from '../../master/domain/events.ts';
import type { State } from '../../master/domain/state.ts';
import type { Ledger } from './ledger.ts';
import type { SimLink } from './link.ts';
import type { Sabotage } from './master-process.ts';

interface Mutant extends Sabotage {
  readonly name: string;
}

/** Before each event reaches the mailbox; null drops it. */
function onEvent(change: (event: Event, state: State | null) => Event | null): Sabotage {
  return {
    engine: (engine: Engine) => {
      const post = engine.post.bind(engine);
      engine.post = (event) => {
        const changed = change(event, engine.state);
        if (changed !== null) post(changed);
      };
    },
  };
}

function onCommit(change: (commit: Commit) => Commit): Sabotage {
  return onStore((store) => ({ commit: (commit) => store.commit(change(commit)) }));
}

/** A store with some of its methods replaced. */
function onStore(replace: (store: TaskStore, ledger: Ledger) => Partial<TaskStore>): Sabotage {
  return {
    store: (store, ledger) => {
      const replaced = replace(store, ledger);
      return new Proxy(store, {
        get: (target, name) => {
          const method: unknown = Reflect.get(replaced, name) ?? Reflect.get(target, name);
          return typeof method === 'function' ? method.bind(target) : method;
        },
      });
    },
  };
}

function onLink(change: (link: SimLink) => void): Sabotage {
  return { link: change };
}

/** Counts calls, so that a bug strikes now and then and not at the first step. */
function everyNth(n: number): () => boolean {
  let count = 0;
  return () => ++count % n === 0;
}

function mutantList(): Mutant[] {
  const now = everyNth(5);
  return [
    {
      name: 'answers before the commit has ended',
      ...onStore((store) => ({
        commit: (commit) => {
          store.commit(commit).catch(() => undefined);
          return Promise.resolve();
        },
      })),
    },
    {
      name: 'takes a failed commit for done',
      ...onStore((store) => ({
        commit: (commit) =>
          store.commit(commit).catch((error: unknown) => {
            if (error instanceof TermLost) throw error;
          }),
      })),
    },
    {
      name: 'forgets to write that an attempt was offered',
      ...onCommit((commit) => ({
        ...commit,
        updates: commit.updates.filter(({ state }) => state !== 'offered' || !now()),
      })),
    },
    {
      name: 'forgets to write how an attempt ended',
      ...onCommit((commit) => ({ ...commit, attempts: now() ? [] : commit.attempts })),
    },
    {
      name: 'ends a task without its callback',
      ...onCommit((commit) => ({
        ...commit,
        finishes: commit.finishes.map((finish) => ({ ...finish, notification: null })),
      })),
    },
    {
      name: 'takes the result of any attempt for that of the newest',
      ...onEvent((event, state) => {
        if (event.type !== 'attemptEnded') return event;
        const task = state?.tasks.get(event.taskId);
        if (task === undefined || task.executorId === null) return event;
        return { ...event, attempt: task.attempt, executorId: task.executorId };
      }),
    },
    {
      name: 'forgets what executors say they run when they come back',
      ...onEvent((event) =>
        event.type === 'executorConnected' ? { ...event, running: [] } : event,
      ),
    },
    {
      name: 'loses a result',
      ...onEvent((event) => (event.type === 'attemptEnded' && now() ? null : event)),
    },
    {
      name: 'takes an executor for lost when its socket breaks',
      ...onEvent((event) =>
        event.type === 'executorDisconnected' ? { ...event, left: true } : event,
      ),
    },
    {
      name: 'drops heartbeats',
      ...onEvent((event) => (event.type === 'heartbeatReceived' ? null : event)),
    },
    {
      name: 'misses the end of a callback',
      ...onEvent((event) => (event.type === 'notificationTried' && now() ? null : event)),
    },
    {
      name: 'counts callbacks as delivered that were not',
      ...onEvent((event) =>
        event.type === 'notificationTried' ? { ...event, outcome: 'delivered' } : event,
      ),
    },
    {
      name: 'believes that a lane has no more rows in the store',
      ...onStore((store) => ({
        loadLane: async (lane, after, at, limit) => {
          const page = await store.loadLane(lane, after, at, limit);
          return page.slice(0, Math.max(0, limit - 1));
        },
      })),
    },
    {
      name: 'reads pages of a lane out of order',
      ...onStore((store) => ({
        loadLane: async (lane, after, at, limit) => {
          const page = await store.loadLane(lane, after, at, limit + 1);
          return page.length > limit ? page.slice(1) : page;
        },
      })),
    },
    {
      name: 'never looks for tasks that became due in the store',
      ...onStore(() => ({ loadDelayed: () => Promise.resolve([]) })),
    },
    {
      name: 'forgets what was running when it began',
      ...onStore(() => ({ loadActive: () => Promise.resolve([]) })),
    },
    {
      name: 'does not ask whether an id is taken, and stores it again',
      ...onStore(() => ({ findIds: () => Promise.resolve(new Map<string, string>()) })),
    },
    {
      name: 'goes on with a term that was taken over',
      ...onStore((store, ledger) => ({
        commit: (commit) => store.commit({ ...commit, term: ledger.term }),
      })),
    },
    {
      name: 'loses an assign frame',
      ...onLink((link) => {
        const send = link.send.bind(link);
        link.send = (sessionId, command, term) => {
          if (command.type !== 'assign' || !now()) send(sessionId, command, term);
        };
      }),
    },
    {
      name: 'never tells an executor to stop',
      ...onLink((link) => {
        const send = link.send.bind(link);
        link.send = (sessionId, command, term) => {
          if (command.type !== 'cancel') send(sessionId, command, term);
        };
      }),
    },
    {
      name: 'acknowledges frames when they arrive',
      ...onLink((link) => {
        link.acknowledgesAtOnce = true;
      }),
    },
  ];
}

/** Fresh for every run: some of them count. */
export function mutant(name: string): Sabotage {
  const found = mutantList().find((one) => one.name === name);
  if (found === undefined) throw new Error(`no mutant ${name}`);
  return found;
}

export const MUTANT_NAMES: readonly string[] = mutantList().map(({ name }) => name);
