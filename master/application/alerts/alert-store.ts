/** What alerts need of the outside: where they are kept, and who carries them to people. See `ports.ts`. */
import type { Alert } from '../../domain/alerts/alert.ts';
import type { AlertReceiver, AlertRule } from '../../domain/alerts/rule.ts';
import type { AuditRecord } from '../../domain/model/audit.ts';

/** One alert, as receivers are told of it. */
export interface ToldAlert {
  readonly event: 'raised' | 'repeated' | 'cleared' | 'test';
  readonly alert: Alert;
}

/** What one receiver is told at once. */
export interface AlertDelivery {
  /** Unique, and the same for each try. */
  readonly id: string;
  /** By name. */
  readonly receiver: string;
  readonly madeAt: number;
  readonly told: readonly ToldAlert[];
  /** Others that were told at the same time. */
  readonly moreCount: number;
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly tries: number;
  readonly nextTryAt: number;
  /** Of the newest try; null: it went well, or there was none. */
  readonly error: string | null;
  readonly endedAt: number | null;
}

/** An alert, and how it was told. */
export interface SeenAlert {
  readonly alert: Alert;
  readonly deliveries: readonly AlertDelivery[];
}

export interface StoredAlerts {
  readonly rules: readonly AlertRule[];
  readonly receivers: readonly AlertReceiver[];
  /** Those that are raised, or silenced beyond `now`. */
  readonly alerts: readonly Alert[];
  /** Pending ones. */
  readonly deliveries: readonly AlertDelivery[];
}

/**
 * Of all namespaces. Reads come after `Store.open`, writes after the first term of `default`: they reject with `TermLost`, and
 * write nothing, once another owner has begun one.
 */
export interface AlertStore {
  load(now: number): Promise<StoredAlerts>;
  /** In place of what had that name; null: there is none any more. */
  setRule(name: string, rule: AlertRule | null, audit?: AuditRecord | null): Promise<void>;
  setReceiver(
    name: string,
    receiver: AlertReceiver | null,
    audit?: AuditRecord | null,
  ): Promise<void>;
  /** All of it or nothing, each in place of what had its id. */
  write(
    alerts: readonly Alert[],
    deliveries: readonly AlertDelivery[],
    audit?: AuditRecord | null,
  ): Promise<void>;
  /** Up to `limit` of those that are cleared, the newest first, raised before that; by (raisedAt, id). */
  listCleared(
    before: { readonly raisedAt: number; readonly id: string } | null,
    limit: number,
  ): Promise<Alert[]>;
  /** Removes what was cleared, or told, before that instant. */
  drop(before: number): Promise<void>;
}

/** What became of a try. */
export interface AlertTry {
  /** Null: it was taken. */
  readonly error: string | null;
  /** No other try would help. */
  readonly isFinal: boolean;
}

/** Carries messages to receivers. Implemented in `infrastructure/alerts/`. */
export interface AlertSender {
  /** Never rejects, and ends within a minute. */
  send(
    receiver: AlertReceiver,
    message: Pick<AlertDelivery, 'id' | 'told' | 'moreCount'>,
  ): Promise<AlertTry>;
  /** Why nothing can be sent so, as far as it can be told before; null: it may be. */
  refusalOf(receiver: AlertReceiver): { readonly field: string; readonly message: string } | null;
}
