/** Alerts in memory, as a database would have them. */
import type { AlertDelivery, AlertStore } from '../../application/ports.ts';
import type { Alert } from '../../domain/alerts/alert.ts';
import type { AlertReceiver, AlertRule } from '../../domain/alerts/rule.ts';
import type { MemoryAudit } from './audit.ts';

export function memoryAlerts(audit: MemoryAudit): AlertStore {
  const rules = new Map<string, AlertRule>();
  const receivers = new Map<string, AlertReceiver>();
  const alerts = new Map<string, Alert>();
  const deliveries = new Map<string, AlertDelivery>();
  const set = <T>(all: Map<string, T>, name: string, one: T | null): void => {
    if (one === null) all.delete(name);
    else all.set(name, one);
  };
  return {
    load: async (now) => ({
      rules: [...rules.values()],
      receivers: [...receivers.values()],
      alerts: [...alerts.values()].filter(
        ({ clearedAt, silencedUntil }) => clearedAt === null || (silencedUntil ?? 0) > now,
      ),
      deliveries: [...deliveries.values()].filter(({ state }) => state === 'pending'),
    }),
    async setRule(name, rule, made = null) {
      if (made !== null) audit.write([made]);
      set(rules, name, rule);
    },
    async setReceiver(name, receiver, made = null) {
      if (made !== null) audit.write([made]);
      set(receivers, name, receiver);
    },
    async write(changed, told, made = null) {
      if (made !== null) audit.write([made]);
      for (const alert of changed) alerts.set(alert.id, alert);
      for (const delivery of told) deliveries.set(delivery.id, delivery);
    },
    async listCleared(before, limit) {
      const at = before ?? { raisedAt: Number.POSITIVE_INFINITY, id: '' };
      const older = [...alerts.values()].filter(
        ({ clearedAt, raisedAt, id }) =>
          clearedAt !== null &&
          (raisedAt < at.raisedAt || (raisedAt === at.raisedAt && id < at.id)),
      );
      older.sort((a, b) => b.raisedAt - a.raisedAt || (a.id < b.id ? 1 : -1));
      return older.slice(0, limit);
    },
    async drop(before) {
      for (const { id, clearedAt, silencedUntil } of alerts.values()) {
        const isPast = clearedAt !== null && clearedAt < before;
        if (isPast && (silencedUntil ?? 0) < before) alerts.delete(id);
      }
      for (const { id, state, endedAt } of deliveries.values()) {
        if (state !== 'pending' && (endedAt ?? 0) < before) deliveries.delete(id);
      }
    },
  };
}
