/** What a library for tasks can do, ours or a peer's, so that the same two processes drive all of them. */

/** Some 250 bytes as JSON. `sentAt`: milliseconds since the epoch, with fractions. */
export interface Job {
  readonly sentAt: number;
  readonly pad: string;
}

export interface Place {
  /** Where the server is. */
  readonly server: string;
  /** New for each measurement. */
  readonly queue: string;
  /** Where ends are to be called back; null: nowhere. Peers have no such thing. */
  readonly notifyUrl: string | null;
}

/** So many workers with one task at a time each, or what the documentation of the library recommends for throughput. */
export type Workers = 1 | 10 | 'best';

export interface Producer {
  /** Resolves once the task is accepted. */
  submit(job: Job): Promise<unknown>;
  /** Absent where a library has no such call. */
  submitMany?(jobs: readonly Job[]): Promise<unknown>;
}

/** A module that has these exports. */
export interface Library {
  connectProducer(place: Place): Promise<Producer>;
  /** Resolves once all workers take tasks. `onJob`: a handler that does nothing else. */
  connectWorkers(
    place: Place & { readonly workers: Workers },
    onJob: (job: Job) => void,
  ): Promise<void>;
}

export const jobOf = (): Job => ({
  sentAt: performance.timeOrigin + performance.now(),
  pad: 'x'.repeat(205),
});
