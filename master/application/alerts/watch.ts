/** What alerts, health and reports know of a namespace beside its state, and who sees to that. */
import type { Message } from '../../domain/alerts/book.ts';
import type { Looked } from '../../domain/alerts/findings.ts';
import { Recent } from '../../domain/alerts/recent.ts';
import { RemedyTurns } from '../../domain/alerts/turns.ts';
import { saidOfJob, saidOfTask } from '../../domain/alerts/said.ts';
import { Outcomes } from '../../domain/health/outcomes.ts';
import { LoadCounter } from '../../domain/load/counter.ts';
import type { Clock, NamespaceRecord, Observer } from '../ports.ts';
import type { Loaded } from '../process/load.ts';

export type Watching = Pick<Looked, 'namespace' | 'outcomes' | 'recent' | 'turns'>;

export function watch(
  { id: namespaceId, name: namespace }: Pick<NamespaceRecord, 'id' | 'name'>,
  clock: Clock,
  hear: (message: Message) => void,
): { readonly watched: Watching & Loaded['watched']; readonly observer: Observer } {
  const outcomes = new Outcomes(clock.now());
  const recent = new Recent(() => clock.now());
  const load = new LoadCounter();
  const observe: Observer['observe'] = (seen) => {
    outcomes.note(seen, clock.now());
    recent.observe(seen);
    load.note(seen);
    if (seen.event === 'alert_said') hear(saidOfTask(namespace, seen));
    if (seen.event === 'fire_refused' || seen.event === 'trigger_paused') {
      hear(saidOfJob(namespace, seen));
    }
  };
  return {
    watched: { namespace, namespaceId, outcomes, recent, turns: new RemedyTurns(), load },
    observer: { observe, turned: () => undefined },
  };
}
