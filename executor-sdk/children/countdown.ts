/**
 * The process groups that a guard watches over, and by when they have to be gone. Pure; instants are
 * milliseconds of the clock that all processes of a machine share.
 */

/** All that a guard is told, all of it each time: only the newest counts. */
export interface GuardOrder {
  /** Process groups that are alive, by their ids. */
  readonly groups: readonly number[];
  /** SIGTERM for every group. Undefined: never. */
  readonly endAt?: number;
  /** SIGKILL, likewise. */
  readonly killAt?: number;
}

export interface GroupSignal {
  readonly group: number;
  readonly signal: 'SIGTERM' | 'SIGKILL';
}

export class Countdown {
  /** The last signal to each group. */
  #groups = new Map<number, GroupSignal['signal'] | null>();
  #endAt = Number.POSITIVE_INFINITY;
  #killAt = Number.POSITIVE_INFINITY;

  take(order: GuardOrder): void {
    this.#groups = new Map(order.groups.map((group) => [group, this.#groups.get(group) ?? null]));
    this.#endAt = order.endAt ?? Number.POSITIVE_INFINITY;
    this.#killAt = order.killAt ?? Number.POSITIVE_INFINITY;
  }

  /** When `due` has to be asked next, unless more is told before. */
  get dueAt(): number {
    const signals = [...this.#groups.values()];
    if (signals.includes(null)) return Math.min(this.#endAt, this.#killAt);
    return signals.includes('SIGTERM') ? this.#killAt : Number.POSITIVE_INFINITY;
  }

  /** What has to be done by now; each only once. */
  due(now: number): GroupSignal[] {
    if (now >= this.#killAt) return this.killAll();
    return now >= this.#endAt ? this.#signal('SIGTERM', [null]) : [];
  }

  /** Whatever the time: nobody is left who could end them. */
  killAll(): GroupSignal[] {
    return this.#signal('SIGKILL', [null, 'SIGTERM']);
  }

  #signal(
    signal: GroupSignal['signal'],
    after: readonly (GroupSignal['signal'] | null)[],
  ): GroupSignal[] {
    const groups = [...this.#groups].filter(([, last]) => after.includes(last));
    for (const [group] of groups) this.#groups.set(group, signal);
    return groups.map(([group]) => ({ group, signal }));
  }
}
