/** Puts together what alerts are made of: who looks, who sends, and who says that the master is well. */
import { randomBytes } from 'node:crypto';
import { Alerts, type AlertsOptions } from './application/alerts/alerts.ts';
import type { Watching } from './application/alerts/watch.ts';
import type { Clock } from './application/ports.ts';
import type { Part } from './application/process/lifecycle.ts';
import type { Leader } from './application/process/leading.ts';
import type { Namespaces } from './application/process/namespaces.ts';
import type { Config } from './config.ts';
import { HttpAlertSender } from './infrastructure/alerts/alert-sender.ts';
import { sayAlive } from './infrastructure/alerts/alive.ts';
import { Mailer } from './infrastructure/alerts/mailer.ts';
import type { AddressPolicy } from '@soda-scheduler/address-policy';
import type { NameResolver } from './infrastructure/callbacks/name-resolver.ts';

const ID_BYTES = 12;

/** What leads a namespace, with what alerts know of it beside its state. */
interface Watched extends Leader {
  readonly watched: Watching;
}

export function alerting(
  {
    config: { smtpUrl, mailFrom, aliveUrl },
    ...shared
  }: Pick<AlertsOptions, 'store' | 'clock' | 'log' | 'rareLog'> & {
    readonly config: Config;
    /** Never set. */
    readonly evenClock: Clock;
  },
  given: Pick<AlertsOptions, 'duties' | 'disk'> & {
    readonly namespaces: Pick<Namespaces<Watched>, 'ask' | 'leaders' | 'status' | 'storeTrouble'>;
    readonly secrets: readonly string[];
    readonly policy: AddressPolicy;
    readonly resolver: NameResolver;
  },
): { readonly alerts: Alerts; readonly parts: readonly Part[] } {
  const { store, clock, evenClock, log, rareLog } = shared;
  const { namespaces, secrets, policy, resolver, duties, disk } = given;
  const resolve = (host: string) => resolver.resolve(host);
  const mailer =
    smtpUrl === null || mailFrom === null ? null : new Mailer(smtpUrl, mailFrom, evenClock);
  const sender = new HttpAlertSender({ secrets, policy, resolve, clock: evenClock, mailer });
  const alerts = new Alerts({
    ...{ store, clock, log, rareLog, duties, disk, sender },
    ask: (question) => namespaces.ask(question),
    look: () =>
      namespaces.leaders.map(({ watched, engine }) => ({ ...watched, state: engine.state })),
    newId: () => `al-${randomBytes(ID_BYTES).toString('hex')}`,
  });
  const sending = { start: () => undefined, stop: () => sender.stop() };
  const isWell = () => namespaces.status === 'ready' && namespaces.storeTrouble === null;
  const alive = { resolve, clock: evenClock, log, isWell };
  return {
    alerts,
    parts: [sending, alerts, ...(aliveUrl === null ? [] : [sayAlive({ url: aliveUrl, ...alive })])],
  };
}
