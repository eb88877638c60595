/** What a master asks, and for whom. */
import type { Only } from '../domain/events.ts';
import type { Outcomes } from '../domain/health/outcomes.ts';
import type { LoadCounter } from '../domain/load/counter.ts';
import type { Author } from '../domain/model/audit.ts';
import type { Engine } from './engine/engine.ts';
import type { TaskLogs } from './logs/task-logs.ts';
import type { Clock, TaskStore } from './ports.ts';
import type { Submissions } from './submissions.ts';
import type { Turnstiles } from './turnstile.ts';

export interface MasterOptions {
  readonly engine: Engine;
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly namespace: string;
  /** Of all namespaces together: they read from one store. */
  readonly turnstiles?: Turnstiles;
  readonly logs: TaskLogs;
  /** For whom it asks; absent: for nobody. `asker`: with whom others take turns. */
  readonly author?: Author | null;
  readonly asker?: string | undefined;
  /** The task that commands are for; absent: whichever they name. */
  readonly only?: Only;
  readonly submissions?: Submissions;
  /** Of this namespace, as they are observed; absent: none are. */
  readonly outcomes?: Outcomes;
  readonly load?: LoadCounter;
}
