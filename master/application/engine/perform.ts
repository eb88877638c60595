/** Hands the effects of a turn to whom they are for. The commit they depend on has taken place. */
import type { Effect, Observation } from '../../domain/effects.ts';
import type { ExecutorLink, Log, Notifier, Observer } from '../ports.ts';

interface Outside {
  readonly link: ExecutorLink;
  readonly notifier: Notifier;
  readonly log: Log;
}

/** As with effects: what fails here has nothing to do with the state. */
export function observe(
  { observer, log }: { readonly observer: Observer; readonly log: Log },
  seen: Observation,
): void {
  try {
    observer.observe(seen);
  } catch (error) {
    log.error('an effect failed', { event: 'effect', type: 'observe', error: String(error) });
  }
}

/** What fails here is no failure of the store: it must not take the state, nor the rest, along. */
export function perform(
  outside: Outside,
  effect: Exclude<Effect, { type: 'reply' }>,
  term: number,
): void {
  try {
    handOver(outside, effect, term);
  } catch (error) {
    const { log } = outside;
    log.error('an effect failed', { event: 'effect', type: effect.type, error: String(error) });
  }
}

function handOver(
  { link, notifier }: Outside,
  effect: Exclude<Effect, { type: 'reply' }>,
  term: number,
): void {
  switch (effect.type) {
    case 'confirmFrame':
      return link.confirm(effect.sessionId, effect.frameSeq);
    case 'sendToExecutor':
      return link.send(effect.sessionId, effect.command, term);
    case 'closeSession':
      return link.close(effect.sessionId, effect.reason);
    case 'freezeExecutor':
      return link.freeze(effect.executorId, effect.incarnation, effect.isFrozen);
    case 'notify':
      return notifier.deliver(effect.notification, effect.task, term);
  }
}
