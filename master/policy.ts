/** What the core goes by, of the configuration and the number of namespaces. */
import type { Config } from './config.ts';
import { defaultPolicy, type Policy } from './domain/state/policy.ts';

/** What runs in one namespace may hold at least this, however many there are. */
const RUNNING_BYTES_MIN = 64 * 1024 * 1024;

/** Of one of `ledCount` namespaces: what memory there is for waiting tasks, each has the same share of. */
export function policyOf(config: Config, ledCount: () => number): Policy {
  const share = (all: number): number => Math.ceil(all / Math.max(1, ledCount()));
  return {
    ...defaultPolicy,
    get windowCountMax() {
      return share(defaultPolicy.windowCountMax);
    },
    get windowBytesMax() {
      return share(defaultPolicy.windowBytesMax);
    },
    get runningBytesMax() {
      return Math.max(RUNNING_BYTES_MIN, share(defaultPolicy.runningBytesMax));
    },
    leaseMs: config.leaseMs,
    assignTimeoutMs: config.assignTimeoutMs,
    executionTimeoutMs: config.executionTimeoutMs,
    startTimeoutMs: config.startTimeoutMs,
    cancelGraceMs: config.cancelGraceMs,
    crashBudget: config.crashBudget,
    laneWindowCount: config.laneWindow,
    waitingCountMax: config.maxWaiting,
    feedLevel: config.events,
    reportZone: config.reportZone,
  };
}
