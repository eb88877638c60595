/** Bugs of alerts, of logs, of health and of usage, for `mutants.ts`. */
import type { DialOptions } from '../../../../executor-sdk/session/dial.ts';
import type { AlertStore } from '../../../../master/application/ports.ts';
import type { AlertRule } from '../../../../master/domain/alerts/rule.ts';
import type { FlowState, Health } from '../../../../master/domain/health/health.ts';
import type { Sabotage } from '../../actors/master-process.ts';
import { type Mutant, onWrites } from '../../actors/sabotage.ts';
import { usageMutants } from './usage.ts';

const watched = { raisesAlerts: true } as const;
/** Some tasks name an executor that is not there, and nothing else keeps them. */
const lonely = {
  ...{ raisesAlerts: true, pinsTasks: true, executorCount: 1, taskCount: 12, stormMs: 60_000 },
  ...{ limitsTypes: false, sharesTypes: false, routesTypes: false, pausesParts: false },
  ...{ hasOperator: false, usesLimits: false, suspends: false, runsOperations: false },
} as const;

/** A store of alerts with some of its methods replaced. */
function onAlerts(replace: (store: AlertStore) => Partial<AlertStore>): Sabotage {
  return {
    alerts: ({ store, ...ports }) => ({ ...ports, store: { ...store, ...replace(store) } }),
  };
}

function onRules(change: (rule: AlertRule) => AlertRule): Sabotage {
  return onAlerts((store) => ({
    load: async (now) => {
      const stored = await store.load(now);
      return { ...stored, rules: stored.rules.map(change) };
    },
  }));
}

function onFlow(change: (flow: Health['flow']) => FlowState): Sabotage {
  return {
    master: (master) => {
      const health = master.health.bind(master);
      master.health = async (sight) => {
        const told = await health(sight);
        return told && { ...told, flow: { ...told.flow, state: change(told.flow) } };
      };
    },
  };
}

export function observingMutants(): Mutant[] {
  return [...alertMutants(), ...healthMutants(), ...logMutants(), ...usageMutants()];
}

function alertMutants(): Mutant[] {
  return [
    {
      name: 'tells of an alert before it is written',
      settings: watched,
      ...onAlerts((store) => ({
        write: (...of) => {
          store.write(...of).catch(() => undefined);
          return Promise.resolve();
        },
      })),
    },
    {
      name: 'forgets at its start what receivers have yet to be told',
      faults: { masterCrash: true, notify: true },
      settings: watched,
      ...onAlerts((store) => ({
        load: async (now) => ({ ...(await store.load(now)), deliveries: [] }),
      })),
    },
    {
      name: 'forgets at its start what is raised',
      faults: { masterCrash: true },
      settings: watched,
      ...onAlerts((store) => ({
        load: async (now) => ({ ...(await store.load(now)), alerts: [] }),
      })),
    },
    {
      name: 'raises under another id what it could not write, for all it knows',
      faults: { store: true },
      settings: watched,
      ...onAlerts((store) => {
        let loaded: ReturnType<AlertStore['load']> | null = null;
        return { load: (now) => (loaded ??= store.load(now)) };
      }),
    },
    {
      name: 'tells that an alert is over, and not that it was raised',
      settings: watched,
      alerts: ({ sender, ...ports }) => ({
        ...ports,
        sender: {
          ...sender,
          send: async (receiver, message) =>
            message.told.some(({ event }) => event === 'raised')
              ? { error: null, isFinal: false }
              : sender.send(receiver, message),
        },
      }),
    },
    {
      name: 'forgets at its start which alerts are silenced',
      faults: { masterCrash: true },
      settings: watched,
      ...onAlerts((store) => ({
        load: async (now) => {
          const stored = await store.load(now);
          return {
            ...stored,
            alerts: stored.alerts.map((alert) => ({ ...alert, silencedUntil: null })),
          };
        },
      })),
    },
    {
      name: 'gives nobody time to come before it says that nobody is there',
      settings: watched,
      ...onRules((rule) => ({ ...rule, threshold: 0, checkCount: 1 })),
    },
    {
      name: 'never says that nobody is there',
      faults: {},
      settings: lonely,
      ...onRules((rule) => ({ ...rule, isEnabled: rule.kind !== 'no_executor' })),
    },
  ];
}

function healthMutants(): Mutant[] {
  return [
    {
      name: 'says that work flows as long as any is due',
      faults: {},
      settings: lonely,
      ...onFlow(({ state }) => (state === 'stopped' ? 'flowing' : state)),
    },
    {
      name: 'says that nothing moves where there is nothing to do',
      settings: watched,
      ...onFlow(({ state }) => (state === 'idle' ? 'stopped' : state)),
    },
  ];
}

function logMutants(): Mutant[] {
  const settings = { writesLogs: true, longRunChance: 0.6 };
  /** What its executors log, a frame at a time; null: it does not go out. */
  const onFrame = (change: (frame: LogFrame) => LogFrame | null): Sabotage => ({
    executor: (ports) => ({
      ...ports,
      dial: (options: DialOptions) => {
        const dialled = ports.dial(options);
        const send = (text: string): void => {
          const frame = JSON.parse(text) as LogFrame;
          const changed = frame.type === 'log' ? change(frame) : frame;
          if (changed !== null) dialled.send(JSON.stringify(changed));
        };
        return { ...dialled, send };
      },
    }),
  });
  return [
    {
      name: 'forgets how many lines an attempt has said',
      faults: { masterCrash: true },
      settings,
      ...onWrites((write) => (write.table === 'logEnd' ? null : write)),
    },
    {
      name: 'has executors that drop lines of a log and do not count them',
      settings,
      ...onFrame((frame) => ({ ...frame, lines: frame.lines.slice(-1) })),
    },
    {
      name: 'has executors that lose lines for no reason',
      faults: {},
      settings,
      ...onFrame((frame) => (frame.n === 1 ? null : frame)),
    },
  ];
}

interface LogFrame {
  readonly type: string;
  readonly n: number;
  readonly lines: readonly unknown[];
}
