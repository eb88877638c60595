/**
 * Says each minute that this master is well, to an address whose owner raises an alarm when it does not: so that
 * somebody learns of a master that is dead, which tells nothing by itself.
 */
import type { Clock, Log } from '../../application/ports.ts';
import {
  AddressPolicy,
  checkedLookup,
  plainHost,
  type Resolve,
} from '@soda-scheduler/address-policy';
import { CallbackRequests } from '../callbacks/callback-request.ts';

const EVERY_MS = 60_000;

export function sayAlive(options: {
  readonly url: string;
  readonly resolve: Resolve;
  readonly clock: Clock;
  readonly log: Log;
  /** It takes work, and its store answers. */
  readonly isWell: () => boolean;
}): { start(): void; stop(): void } {
  const { resolve, clock, log, isWell } = options;
  const url = new URL(options.url);
  // Whoever has set it knows where it leads to.
  const policy = new AddressPolicy([plainHost(url.hostname)], 'SODA_ALIVE_URL');
  const requests = new CallbackRequests(clock, checkedLookup(policy, resolve));
  let callOff: () => void = () => undefined;
  let isHeard = true;
  let isStopped = false;

  const say = async (): Promise<void> => {
    const { status, text } = await requests.post({
      url,
      json: '{}',
      headers: () => ({ 'content-type': 'application/json', 'user-agent': 'soda-scheduler/2' }),
      onSlow: () => undefined,
    });
    if (isStopped) return;
    const wasHeard = isHeard;
    isHeard = status !== null && status < 300;
    if (isHeard || !wasHeard) return;
    const why = status === null ? text : `HTTP ${status}`;
    log.warn('nobody heard that the master is well', { event: 'alert', host: url.host, why });
  };
  const next = (): void => {
    if (isWell()) void say();
    callOff = clock.wakeAt(clock.now() + EVERY_MS, next);
  };
  return {
    start: next,
    stop: () => {
      isStopped = true;
      callOff();
      requests.stop();
    },
  };
}
