/**
 * What an executor says of itself in `hello`: who it is, which of its predecessors are dead for
 * certain, and which attempts were ended for a lost lease. The last two are said again until the
 * master has answered.
 */
import { hostname } from 'node:os';
import type { SentHello } from '@soda-scheduler/protocol';
import type { AttemptKey, SessionSettings } from '../thread-messages.ts';

/** As many as a `hello` may name. */
const NAMED_COUNT_MAX = 16;

const FEATURES = ['mac', 'fenced', 'timeouts'];

export type Fenced = NonNullable<SentHello['fenced']>[number];

/** Processes that had the id of this executor before. */
export interface Predecessors {
  /** Of this host since its last start, and of the space of process ids; empty: not known. */
  readonly bootId: string;
  /** Incarnations that have ended for certain. */
  readonly died: readonly string[];
  /** What they ended by themselves for a lost lease, and could not say any more. */
  readonly fenced: readonly Fenced[];
  /** The master has heard of them. */
  onTold(): void;
}

export class Introduction {
  readonly #settings: SessionSettings;
  readonly #predecessors: Predecessors;
  #died: readonly string[];
  #fenced: readonly Fenced[];
  /** As the `hello` that was sent last has named them. */
  #named: readonly Fenced[] = [];

  constructor(settings: SessionSettings, predecessors: Predecessors) {
    this.#settings = settings;
    this.#predecessors = predecessors;
    this.#died = predecessors.died.slice(-NAMED_COUNT_MAX);
    this.#fenced = predecessors.fenced;
  }

  addFenced({ taskId, attempt }: AttemptKey): void {
    this.#fenced = [...this.#fenced, { task_id: taskId, attempt }];
  }

  hello(session: Pick<SentHello, 'session' | 'received' | 'running'>): SentHello {
    const { executorId, incarnation, types, labels, reserve, sdk, leaseMs } = this.#settings;
    this.#named = this.#fenced.slice(-NAMED_COUNT_MAX);
    return {
      type: 'hello',
      executor_id: executorId,
      incarnation,
      types: [...types],
      labels: [...labels],
      reserve: [...reserve],
      slots: 1,
      ...session,
      sdk,
      host: hostname().slice(0, 255),
      pid: process.pid,
      features: FEATURES,
      boot_id: this.#predecessors.bootId,
      ...(leaseMs !== undefined && { lease_ms: leaseMs }),
      died: [...this.#died],
      fenced: [...this.#named],
      lasting_id: this.#settings.isLastingId,
    };
  }

  /** The master has answered the last `hello`. */
  answered(): void {
    if (this.#died.length > 0 || this.#named.length > 0) this.#predecessors.onTold();
    this.#died = [];
    const named = new Set(this.#named);
    this.#fenced = this.#fenced.filter((fenced) => !named.has(fenced));
  }
}
