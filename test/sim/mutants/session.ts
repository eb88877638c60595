/** Bugs of the SDK's session, wrapped around its ports: mutants like those of `mutants.ts`. */
import type { DialOptions, Dialled } from '../../../executor-sdk/session/dial.ts';
import type { SessionSabotage } from '../actors/executor-kind.ts';
import type { Mutant } from '../actors/sabotage.ts';

/** Each connection of a session, as it is dialled. */
function onDial(wrap: (dialled: Dialled, options: DialOptions) => Dialled): SessionSabotage {
  return (ports) => ({ ...ports, dial: (options) => wrap(ports.dial(options), options) });
}

interface Said {
  readonly type: string;
  readonly n?: number;
  readonly task_id?: string;
  readonly attempt?: number;
}

export function sessionMutants(): Mutant[] {
  return [
    {
      name: 'has executors that renew their lease from heartbeats that nobody answered',
      faults: { network: true },
      settings: { longRunChance: 1, stormMs: 120_000 },
      executor: onDial((dialled, { onText }) => ({
        ...dialled,
        send: (text) => {
          dialled.send(text);
          const { type, n } = JSON.parse(text) as Said;
          if (type === 'heartbeat')
            queueMicrotask(() => onText(JSON.stringify({ type, n, ack: 0 })));
        },
      })),
    },
    {
      name: 'has executors that forget to send a result again',
      executor: (ports) => {
        const sent = new Set<string>();
        const forgetful = onDial((dialled) => ({
          ...dialled,
          send: (text) => {
            const { type, task_id, attempt } = JSON.parse(text) as Said;
            const name = `${type} ${task_id}/${attempt}`;
            if (type !== 'result' || !sent.has(name)) dialled.send(text);
            sent.add(name);
          },
        }));
        return forgetful(ports);
      },
    },
    {
      name: 'has executors that begin before their acceptance is acknowledged',
      executor: (ports) => ({
        ...ports,
        tell: (message) => {
          if (message.type !== 'begin') ports.tell(message);
          if (message.type !== 'assigned') return;
          ports.tell({ type: 'begin', taskId: message.task.id, attempt: message.task.attempt });
        },
      }),
    },
    {
      name: 'has executors that go on without a lease',
      faults: { masterPause: true },
      settings: { longRunChance: 1, stormMs: 120_000, executorCount: 4 },
      executor: (ports) => ({
        ...ports,
        tell: (message) => {
          if (message.type !== 'abort' || message.reason !== 'lease_lost') ports.tell(message);
        },
        groups: { endBy: () => undefined, killAll: () => undefined },
        endProcess: () => undefined,
      }),
    },
    {
      name: 'has executors that go on with a handler that does not end',
      faults: { network: true, handlers: true },
      settings: { longRunChance: 1, stormMs: 120_000 },
      executor: (ports) => ({ ...ports, endProcess: () => undefined }),
    },
  ];
}
