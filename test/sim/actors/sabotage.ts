/** How a bug is wrapped around the code from outside: around a port, or before each event. */
import type { Engine } from '../../../master/application/engine/engine.ts';
import type { TaskStore } from '../../../master/application/ports.ts';
import type { RowWrite } from '../../../master/domain/changes.ts';
import type { Event } from '../../../master/domain/events.ts';
import type { State } from '../../../master/domain/state/state.ts';
import type { Sabotage } from './master-process.ts';
import type { FaultClasses, Settings } from '../faults.ts';
import type { Ledger } from '../ledger.ts';
import type { SimLink } from '../link.ts';

export interface Mutant extends Sabotage {
  readonly name: string;
  /** Where the usual mixture rarely brings about what the bug needs. */
  readonly faults?: Partial<FaultClasses>;
  readonly settings?: Partial<Settings>;
}

/** Before each event reaches the mailbox; null drops it. */
export function onEvent(change: (event: Event, state: State | null) => Event | null): Sabotage {
  return {
    engine: (engine: Engine) => {
      const post = engine.post.bind(engine);
      engine.post = (event) => {
        const changed = change(event, engine.state);
        if (changed !== null) post(changed);
      };
    },
  };
}

/** Each row that is to be written; null forgets it. */
export function onWrites(change: (write: RowWrite) => RowWrite | null): Sabotage {
  return onStore((store) => ({
    commit: (commit) => {
      const writes = commit.writes.map(change).filter((write) => write !== null);
      return store.commit({ ...commit, writes });
    },
  }));
}

/** A store with some of its methods replaced. */
export function onStore(
  replace: (store: TaskStore, ledger: Ledger) => Partial<TaskStore>,
): Sabotage {
  return {
    store: (store, ledger) => {
      const replaced = replace(store, ledger);
      return new Proxy(store, {
        get: (target, name) => {
          const method: unknown = Reflect.get(replaced, name) ?? Reflect.get(target, name);
          return typeof method === 'function' ? method.bind(target) : method;
        },
      });
    },
  };
}

export function onLink(change: (link: SimLink) => void): Sabotage {
  return { link: change };
}

/** Changes the state itself, before each event. */
export function onState(change: (state: State) => void): Sabotage {
  return onEvent((event, state) => {
    if (state !== null) change(state);
    return event;
  });
}

/** Counts calls, so that a bug strikes now and then and not at the first step. */
export function everyNth(n: number): () => boolean {
  let count = 0;
  return () => ++count % n === 0;
}
