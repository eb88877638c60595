/**
 * Bugs, each wrapped around the code from outside. The simulation must find every one of them:
 * that is how the checks themselves are checked.
 */
import type { Commit } from '../../master/application/ports.ts';
import { TermLost } from '../../master/application/ports.ts';
import { NO_FAULTS, settingsFor } from './faults.ts';
import { auditMutants } from './mutants/audit.ts';
import { bookingMutants } from './mutants/bookings/bookings.ts';
import { callbackMutants } from './mutants/callbacks.ts';
import { executorMutants } from './mutants/executor.ts';
import { queueMutants } from './mutants/queue.ts';
import { routeMutants } from './mutants/routes.ts';
import { clockMutants } from './mutants/clock.ts';
import { sessionMutants } from './mutants/session.ts';
import { shareMutants } from './mutants/shares.ts';
import { pauseMutants } from './mutants/pauses.ts';
import { settingsMutants } from './mutants/settings.ts';
import { limitMutants } from './mutants/limits.ts';
import { observingMutants } from './mutants/observing/observing.ts';
import { operationMutants } from './mutants/operations.ts';
import { suspendedMutants } from './mutants/suspended.ts';
import { typeMutants } from './mutants/types.ts';
import {
  everyNth,
  type Mutant,
  onEvent,
  onLink,
  onState,
  onStore,
  onWrites,
} from './actors/sabotage.ts';
import { jobMutants } from './mutants/jobs/jobs.ts';
import { simulate } from './simulation.ts';

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
      ...onWrites((write) => {
        const isOffer =
          write.table === 'task' && write.op === 'set' && write.row.state === 'offered';
        return isOffer && now() ? null : write;
      }),
    },
    {
      name: 'forgets to write how an attempt ended',
      ...onWrites((write) =>
        write.table === 'attempt' && write.op === 'insert' && now() ? null : write,
      ),
    },
    {
      name: 'offers whatever what runs holds already',
      ...onState((state) => {
        const policy = { ...state.policy, runningBytesMax: Number.POSITIVE_INFINITY };
        Object.assign(state, { policy });
      }),
    },
    {
      name: 'takes the result of any attempt for that of the newest',
      faults: { handlers: true, executorPause: true },
      settings: { executorCount: 4, disturbMsMax: 300, longRunChance: 0.6, stormMs: 100_000 },
      ...onEvent((event, state) => {
        if (event.type !== 'attemptEnded') return event;
        const task = state?.tasks.get(event.taskId);
        const holder = state?.executors.get(task?.executorId ?? '');
        if (task === undefined || holder === undefined || holder.sessionId === null) return event;
        const { id: executorId, sessionId } = holder;
        return { ...event, attempt: task.attempt, executorId, sessionId };
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
      faults: { network: true },
      ...onEvent((event) =>
        event.type === 'executorDisconnected' ? { ...event, left: true } : event,
      ),
    },
    {
      name: 'counts the time in which there was no master',
      faults: { masterCrash: true },
      settings: { longRunChance: 1 },
      ...onStore((store) => ({
        takeTerm: async (...of) => ({ ...(await store.takeTerm(...of)), aliveAt: of[1] }),
      })),
    },
    {
      name: 'takes every executor that it has lost contact to for dead',
      faults: { network: true, executorPause: true, handlers: true },
      settings: { longRunChance: 1, executorCount: 2, stormMs: 120_000 },
      ...onState(({ policy, tasks }) => {
        for (const task of tasks.values()) {
          if (task.lastOutcome === 'lost_contact' && task.state === 'waiting') {
            task.crashCount = policy.crashBudget;
          }
        }
      }),
    },
    {
      name: 'begins a grace anew with every connection',
      faults: { handlers: true, network: true },
      settings: { longRunChance: 1, executorCount: 6, stormMs: 120_000, commandChance: 0.6 },
      ...onEvent((event, state) => {
        if (event.type !== 'executorResumed') return event;
        const executor = state?.executors.get(event.executorId);
        if (executor?.ending && state !== null) executor.ending.acknowledgedAt = state.lastTickAt;
        return event;
      }),
    },
    {
      name: 'listens on to those who have not heard that they have to end',
      faults: { handlers: true },
      settings: { longRunChance: 1, executorCount: 6, stormMs: 120_000, commandChance: 0.6 },
      ...onLink((link) => {
        link.freeze = () => undefined;
      }),
      ...onState(({ executors }) => {
        for (const executor of executors.values()) executor.isFrozen = false;
      }),
    },
    {
      name: 'takes whoever has the id of an executor for the process that had it',
      faults: { executorCrash: true },
      settings: { longRunChance: 1 },
      ...onEvent((event, state) => {
        if (event.type !== 'executorConnected') return event;
        const known = state?.executors.get(event.executorId);
        return known === undefined ? event : { ...event, incarnation: known.incarnation };
      }),
    },
    {
      name: 'lets anybody have the id of a process that lives',
      faults: { executorCrash: true },
      ...onLink((link) => {
        link.forgetsWhoLives = true;
      }),
    },
    {
      name: 'drops heartbeats',
      ...onEvent((event) => (event.type === 'heartbeatReceived' ? null : event)),
    },
    {
      name: 'believes that a lane has no more rows in the store',
      ...onStore((store) => ({
        loadLanes: async (lanes, at, limit) => {
          const pages = await store.loadLanes(lanes, at, limit);
          return pages.map((page) => page.slice(0, Math.max(0, limit - 1)));
        },
      })),
    },
    {
      name: 'reads pages of a lane out of order',
      ...onStore((store) => ({
        loadLanes: async (lanes, at, limit) => {
          const pages = await store.loadLanes(lanes, at, limit + 1);
          return pages.map((page) => (page.length > limit ? page.slice(1) : page));
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
      name: 'does not ask whether it was deposed when it has nothing to write',
      faults: { masterPause: true },
      settings: {
        taskCount: 8,
        executorCount: 1,
        stormMs: 20_000,
        disturbMsMax: 20_000,
        longRunChance: 1,
      },
      ...onStore((store) => ({
        commit: (commit) => (isEmpty(commit) ? Promise.resolve() : store.commit(commit)),
      })),
    },
    {
      name: 'lets those who wait wait on while the store is frozen',
      faults: { store: true },
      engine: (engine) => {
        engine.storeWatch.whileItAnswers = (work) => work;
      },
    },
    {
      name: 'goes on with a term that was taken over',
      ...onStore((store, ledger) => ({
        commit: (commit) => store.commit({ ...commit, term: ledger.term }),
      })),
    },
    {
      name: 'loses an assign frame',
      faults: {},
      ...onLink((link) => {
        const send = link.send.bind(link);
        link.send = (sessionId, command, term) => {
          if (command.type !== 'assign' || !now()) send(sessionId, command, term);
        };
      }),
    },
    {
      name: 'never tells an executor to stop',
      faults: { handlers: true, network: true },
      ...onLink((link) => {
        const send = link.send.bind(link);
        link.send = (sessionId, command, term) => {
          if (command.type !== 'cancel') send(sessionId, command, term);
        };
      }),
    },
    {
      name: 'loses single frames of a session',
      ...onLink((link) => {
        const open = link.open.bind(link);
        link.open = (socket) => {
          const send = socket.send.bind(socket);
          socket.send = (text) => (text.includes('"seq"') && now() ? undefined : send(text));
          open(socket);
        };
      }),
    },
    {
      name: 'finds no work for an executor that became free',
      ...onState(({ freed }) => {
        freed.add = () => freed;
      }),
    },
    {
      name: 'offers tasks to executors that are busy',
      ...onState(({ pools }) => {
        for (const { idle } of pools.values()) idle.delete = () => true;
      }),
    },
    {
      name: 'loses count of what waits',
      ...onState((state) => {
        if (now()) state.waitingCount++;
      }),
    },
    {
      name: 'sets no timers for attempts',
      ...onState(({ deadlines }) => {
        const push = deadlines.push.bind(deadlines);
        deadlines.push = (deadline) => ('attempt' in deadline ? undefined : push(deadline));
      }),
    },
    {
      name: 'never writes what was left for later',
      ...onState((state) => {
        state.flush.at = Number.POSITIVE_INFINITY;
      }),
    },
    {
      name: 'loses checkpoints',
      ...onWrites((write) => (write.op === 'set' ? { ...write, large: false } : write)),
    },
    {
      name: 'never looks for what is overdue in the store',
      ...onStore(() => ({ loadOverdue: () => Promise.resolve({ tasks: [], next: null }) })),
    },
    {
      name: 'lets a task wait that nobody starts',
      ...onState(({ deadlines }) => {
        const push = deadlines.push.bind(deadlines);
        deadlines.push = (deadline) => (deadline.kind === 'start' ? undefined : push(deadline));
      }),
    },
    {
      name: 'offers what a page brought although its deadline has passed',
      faults: { masterCrash: true, executorPause: true },
      ...onStore((store) => ({
        loadLanes: async (...args) => {
          const pages = await store.loadLanes(...args);
          return pages.map((page) => page.map((task) => ({ ...task, deadlineAt: null })));
        },
      })),
    },
    {
      name: 'offers a task again and again to an executor that gives it back',
      faults: { handlers: true },
      settings: { networkLatencyMsMax: 2, storeLatencyMsMax: 1 },
      ...onState(({ executors, givenBack }) => {
        givenBack.clear();
        for (const executor of executors.values()) {
          executor.coolDowns.clear();
          executor.refusalCount = 0;
        }
      }),
    },
    {
      name: 'acknowledges frames when they arrive',
      ...onLink((link) => {
        link.acknowledgesAtOnce = true;
      }),
    },
    ...callbackMutants(),
    ...executorMutants(),
    ...queueMutants(),
    ...routeMutants(),
    ...clockMutants(),
    ...sessionMutants(),
    ...pauseMutants(),
    ...settingsMutants(),
    ...jobMutants(),
    ...shareMutants(),
    ...typeMutants(),
    ...limitMutants(),
    ...suspendedMutants(),
    ...operationMutants(),
    ...auditMutants(),
    ...observingMutants(),
    ...bookingMutants(),
  ];
}

const isEmpty = ({ writes, absences, settings }: Commit): boolean =>
  writes.length + absences.length === 0 && settings === undefined;

/** Runs a seed with a mutant; what the checks said, or null if they were satisfied. */
export async function runMutant(name: string, seed: number): Promise<string | null> {
  // Fresh for every run: some of them count.
  const found = mutantList().find((one) => one.name === name);
  if (found === undefined) throw new Error(`no mutant ${name}`);
  const { faults, settings, ...sabotage } = found;
  const drawn = settingsFor(seed, faults && { ...NO_FAULTS, ...faults });
  return (await simulate({ ...drawn, ...settings }, sabotage)).violation;
}

export const MUTANT_NAMES: readonly string[] = mutantList().map(({ name }) => name);
