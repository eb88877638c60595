/** What an engine is made of. */
import type { Tally } from '../../domain/bounds.ts';
import type { Pause } from '../../domain/model/pause.ts';
import type { Policy } from '../../domain/state/policy.ts';
import type { Templates } from '../jobs/templates.ts';
import type { Turnstile } from '../turnstile.ts';
import type { Clock, ExecutorLink, Log, Notifier, Observer, TaskStore } from '../ports.ts';

export interface EngineOptions {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly link: ExecutorLink;
  readonly notifier: Notifier;
  readonly observer: Observer;
  readonly log: Log;
  readonly policy: Policy;
  readonly templates: Templates;
  /** Names this process in the term row. */
  readonly owner: string;
  readonly seed: number;
  /** Of all namespaces, as it holds now. Absent: there is none. */
  readonly pauseOfAll?: () => Pause | null;
  /** What frames hold that wait for a turn, here and in other namespaces. */
  readonly frames?: Tally;
  /** For those that are to read their state from the store: all namespaces at once would wait for each other too long. */
  readonly rebuilds: Turnstile;
}
