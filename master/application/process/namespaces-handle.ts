/** What the access layer may ask about namespaces. Implemented by `namespaces.ts`. */
import type { Author } from '../../domain/model/audit.ts';
import type { MasterHandle, MasterStatus } from '../master-handle.ts';
import type { Pause } from '../../domain/model/pause.ts';
import type { Retention } from '../../domain/model/task.ts';
import type { NamespaceRecord } from '../ports.ts';
import type { StoreTrouble } from '../store-watch.ts';

export interface NamespaceView {
  readonly record: NamespaceRecord;
  /** None where nobody leads it: it has none then, or soon is led. */
  readonly counts: {
    /** Without those that are held. */
    readonly waiting: number;
    readonly running: number;
    readonly held: number;
  };
  /** Groups and labels of it. */
  readonly pausedCount: number;
}

/** What is left out stays as it is, or is the default of a new one. */
export interface NamespaceChange {
  readonly paused?: Omit<Pause, 'at'> | null;
  readonly maxWaiting?: number | null;
  readonly maxRunning?: number | null;
  readonly retention?: Retention;
}

export interface NamespacesHandle {
  /** Of `default`, which stands for the process; none is ready while the disk of the store is full. */
  readonly status: MasterStatus;
  /** Why the store does not answer; null: it does, as far as it was asked. */
  readonly storeTrouble: StoreTrouble | null;
  /**
   * Begins to lead the namespace where nobody does, and goes on at least while `work` is under way.
   * @throws {UnknownNamespace} @throws {NamespaceEnding} @throws {Unavailable}
   */
  use<T>(
    name: string,
    work: (leader: { readonly master: MasterHandle }) => T | Promise<T>,
  ): Promise<T>;
  /** By name. @throws {Unavailable} */
  list(): readonly NamespaceView[];
  /** With its counts for certain. @throws {UnknownNamespace} @throws {Unavailable} */
  get(name: string): Promise<NamespaceView>;
  /**
   * Makes or changes it. `author`: for whom; without one nobody keeps it.
   * @throws {TooManyNamespaces} @throws {PauseOver} @throws {Unavailable}
   */
  put(
    name: string,
    change: NamespaceChange,
    author?: Author | null,
  ): Promise<{ readonly view: NamespaceView; readonly isNew: boolean }>;
  /** Of all namespaces; null: there is none. */
  readonly pauseOfAll: Pause | null;
  /** After this nothing is begun in any of them, nor in those that are made later; null: it is again. @throws {Unavailable} */
  pauseAll(pause: Omit<Pause, 'at'> | null, author?: Author | null): Promise<void>;
  /** @throws {UnknownNamespace} @throws {NamespaceInUse} @throws {Unavailable} */
  delete(name: string, author?: Author | null): Promise<void>;
}

export class UnknownNamespace extends Error {
  override readonly name = 'UnknownNamespace';
  readonly namespace: string;

  constructor(namespace: string) {
    super(`there is no namespace ${namespace}`);
    this.namespace = namespace;
  }
}

/** It cannot be deleted. */
export class NamespaceInUse extends Error {
  override readonly name = 'NamespaceInUse';

  constructor(namespace: string, why: string) {
    super(`The namespace ${namespace} cannot be deleted: ${why}.`);
  }
}

/** Its deletion is under way: nothing may be asked of it, nor come into it. */
export class NamespaceEnding extends Error {
  override readonly name = 'NamespaceEnding';

  constructor(namespace: string) {
    super(`The namespace ${namespace} is being deleted.`);
  }
}

/** A pause that is to be set would be over already. */
export class PauseOver extends Error {
  override readonly name = 'PauseOver';
}

export class TooManyNamespaces extends Error {
  override readonly name = 'TooManyNamespaces';

  constructor(countMax: number) {
    super(`There are ${countMax} namespaces, and no more may be: delete one that is not needed.`);
  }
}
