/** Puts together what alerts are made of: who looks, who sends, and who says that the master is well. */
import { randomBytes } from 'node:crypto';
import { Alerts, type AlertsOptions } from './application/alerts/alerts.ts';
import type { Clock, NamespaceRecord, Observer } from './application/ports.ts';
import type { Loaded } from './application/process/load.ts';
import type { Part } from './application/process/lifecycle.ts';
import type { Leader } from './application/process/leading.ts';
import type { Namespaces } from './application/process/namespaces.ts';
import type { Config } from './config.ts';
import type { Message } from './domain/alerts/book.ts';
import type { Looked } from './domain/alerts/findings.ts';
import { Recent } from './domain/alerts/recent.ts';
import { saidOfTask } from './domain/alerts/said.ts';
import { Outcomes } from './domain/health/outcomes.ts';
import { LoadCounter } from './domain/load/counter.ts';
import { HttpAlertSender } from './infrastructure/alerts/alert-sender.ts';
import { sayAlive } from './infrastructure/alerts/alive.ts';
import { Mailer } from './infrastructure/alerts/mailer.ts';
import type { AddressPolicy } from './infrastructure/callbacks/address-policy.ts';
import type { NameResolver } from './infrastructure/callbacks/name-resolver.ts';

const ID_BYTES = 12;

/** What is known of a namespace beside its state, and who sees to that. */
export function watch(
  { id: namespaceId, name: namespace }: Pick<NamespaceRecord, 'id' | 'name'>,
  clock: Clock,
  hear: (message: Message) => void,
): { readonly watched: Watched['watched'] & Loaded['watched']; readonly observer: Observer } {
  const outcomes = new Outcomes(clock.now());
  const recent = new Recent(() => clock.now());
  const load = new LoadCounter();
  const observe: Observer['observe'] = (seen) => {
    outcomes.note(seen, clock.now());
    recent.observe(seen);
    load.note(seen);
    if (seen.event === 'alert_said') hear(saidOfTask(namespace, seen));
  };
  return {
    watched: { namespace, namespaceId, outcomes, recent, load },
    observer: { observe, turned: () => undefined },
  };
}

/** What leads a namespace, with what alerts know of it beside its state. */
interface Watched extends Leader {
  readonly watched: Pick<Looked, 'namespace' | 'outcomes' | 'recent'>;
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
