/** What an executor of the simulation is, and what it is given of its world. */
import type { SessionClientOptions } from '../../../executor-sdk/session/session-client.ts';
import type { LogChecks } from '../checks/observing/logs.ts';
import type { Random } from '../random.ts';
import type { Faults } from '../faults.ts';
import type { Ledger } from '../ledger.ts';
import type { Network, Socket } from '../network.ts';
import type { Process } from '../world.ts';

export interface ExecutorKind {
  readonly id: string;
  readonly types: readonly string[];
  readonly labels: readonly string[];
  readonly reserve: readonly string[];
  /** Written without regard to the protocol: it knows no lease, and ends nothing it is told to. */
  readonly isRogue: boolean;
  /** Gives back whatever it is offered, while the storm lasts. */
  readonly givesBack: boolean;
  /** It connects again and again, more often than any grace. */
  readonly isRestless?: boolean;
  /** It acknowledges nothing. */
  readonly isMute?: boolean;
  /** As 2.0.0: it knows no proof of its attempts. */
  readonly isOld?: boolean;
}

/** Of a run: when something is logged, and who knows of it. */
export interface Logging {
  readonly random: Random;
  readonly checks: LogChecks;
}

export type SessionSabotage = (ports: SessionClientOptions) => SessionClientOptions;

export interface ExecutorOptions {
  readonly process: Process;
  readonly kind: ExecutorKind;
  readonly incarnation: string;
  readonly ledger: Ledger;
  readonly faults: Faults;
  readonly network: Network;
  readonly longRunChance: number;
  /** It is ready, and not, and ready again, while the storm lasts. */
  readonly flipsReadiness: boolean;
  /** When its handlers tell of events; null: they tell of none. */
  readonly tells: Random | null;
  /** How it gets ready for bookings that it hears of; null: it hears of none. */
  readonly hears: Random | null;
  /** What its handlers log; null: nothing. */
  readonly logs: Logging | null;
  /** Its disk fills and becomes free. */
  readonly hasDisks: boolean;
  /** It carries labels of racks (`racksOf`). */
  readonly hasRacks: boolean;
  /** A socket to the master that is to be dialled now; null: nobody answers. */
  readonly dial: (from: Process) => Socket | null;
  /** The process is gone, by its own doing. */
  readonly onEnd: () => void;
  /** Wraps the ports of its session, to inject a bug that the checks must find. */
  readonly sabotage?: SessionSabotage | undefined;
}
