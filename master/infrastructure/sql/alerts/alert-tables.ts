/** The tables of alerts, of all namespaces together: what is raised, what is told of it, by which rules, and to whom. */
import type { AlertDelivery } from '../../../application/ports.ts';
import type { Alert } from '../../../domain/alerts/alert.ts';
import type { Dialect, Index, Types } from '../dialects/dialect.ts';
import { columns } from '../rows.ts';

export const alertDefinition = (t: Types): string => `
  id ${t.key(64)} NOT NULL PRIMARY KEY,
  rule ${t.key(64)} NOT NULL,
  kind ${t.key(32)} NOT NULL,
  severity ${t.key(16)} NOT NULL,
  namespace ${t.key(32)} NULL,
  type ${t.key(64)} NULL,
  user_group ${t.name(64)} NULL,
  subject ${t.text} NOT NULL,
  message ${t.text} NOT NULL,
  remedy ${t.text} NULL,
  fields ${t.text} NULL,
  raised_at ${t.instant} NOT NULL,
  seen_at ${t.instant} NOT NULL,
  said_count ${t.integer} NOT NULL,
  cleared_at ${t.instant} NULL,
  told_at ${t.instant} NULL,
  repeat_count ${t.integer} NOT NULL,
  silenced_until ${t.instant} NULL,
  silenced_by ${t.name(64)} NULL,
  silence_reason ${t.text} NULL`;

export const deliveryDefinition = (t: Types): string => `
  id ${t.key(64)} NOT NULL PRIMARY KEY,
  receiver ${t.key(64)} NOT NULL,
  made_at ${t.instant} NOT NULL,
  told ${t.text} NOT NULL,
  more_count ${t.integer} NOT NULL,
  state ${t.key(16)} NOT NULL,
  tries ${t.integer} NOT NULL,
  next_try_at ${t.instant} NOT NULL,
  error ${t.text} NULL,
  ended_at ${t.instant} NULL`;

/** Rules and receivers. */
export const alertSettingDefinition = (t: Types): string => `
  what ${t.key(16)} NOT NULL,
  name ${t.key(64)} NOT NULL,
  definition ${t.text} NOT NULL,
  PRIMARY KEY (what, name)`;

/** Of few: a master that begins looks for them, however many others there are. */
const silencedIndex: Index = {
  name: 'silenced',
  columns: 'silenced_until',
  where: 'silenced_until IS NOT NULL',
};

/** For alerts of a version before. */
export function addSilencedIndex(dialect: Dialect, made?: ReadonlySet<string>): string[] {
  const isMade = made?.has(`alert_${silencedIndex.name}`) === true;
  return isMade ? [] : [dialect.createIndex('alert', silencedIndex)];
}

export function createAlerts(dialect: Dialect): string[] {
  const t = dialect.types;
  return [
    ...dialect.createTable('alert', alertDefinition(t), [
      { name: 'raised', columns: 'raised_at, id' },
      { name: 'cleared', columns: 'cleared_at' },
      silencedIndex,
    ]),
    ...dialect.createTable('alert_delivery', deliveryDefinition(t), [
      { name: 'state', columns: 'state, ended_at' },
    ]),
    ...dialect.createTable('alert_setting', alertSettingDefinition(t), []),
  ];
}

export const alertColumns = columns<Alert>(
  ['id', 'text', (alert) => alert.id],
  ['rule', 'text', (alert) => alert.rule],
  ['kind', 'text', (alert) => alert.kind],
  ['severity', 'text', (alert) => alert.severity],
  ['namespace', 'text', (alert) => alert.namespace],
  ['type', 'text', (alert) => alert.type],
  ['user_group', 'text', (alert) => alert.group],
  ['subject', 'text', (alert) => alert.subject],
  ['message', 'text', (alert) => alert.message],
  ['remedy', 'text', (alert) => alert.change],
  ['fields', 'text', (alert) => alert.fields],
  ['raised_at', 'integer', (alert) => alert.raisedAt],
  ['seen_at', 'integer', (alert) => alert.seenAt],
  ['said_count', 'integer', (alert) => alert.count],
  ['cleared_at', 'integer', (alert) => alert.clearedAt],
  ['told_at', 'integer', (alert) => alert.toldAt],
  ['repeat_count', 'integer', (alert) => alert.repeatCount],
  ['silenced_until', 'integer', (alert) => alert.silencedUntil],
  ['silenced_by', 'text', (alert) => alert.silencedBy],
  ['silence_reason', 'text', (alert) => alert.silenceReason],
);

export const deliveryColumns = columns<AlertDelivery>(
  ['id', 'text', (delivery) => delivery.id],
  ['receiver', 'text', (delivery) => delivery.receiver],
  ['made_at', 'integer', (delivery) => delivery.madeAt],
  ['told', 'text', (delivery) => JSON.stringify(delivery.told)],
  ['more_count', 'integer', (delivery) => delivery.moreCount],
  ['state', 'text', (delivery) => delivery.state],
  ['tries', 'integer', (delivery) => delivery.tries],
  ['next_try_at', 'integer', (delivery) => delivery.nextTryAt],
  ['error', 'text', (delivery) => delivery.error],
  ['ended_at', 'integer', (delivery) => delivery.endedAt],
);

export interface AlertSetting {
  readonly what: 'rule' | 'receiver';
  readonly one: { readonly name: string };
}

export const settingColumns = columns<AlertSetting>(
  ['what', 'text', ({ what }) => what],
  ['name', 'text', ({ one }) => one.name],
  ['definition', 'text', ({ one }) => JSON.stringify(one)],
);
