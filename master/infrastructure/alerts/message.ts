/**
 * What receivers of alerts are told, for people and for programs. Whoever writes the words of an alert steers nobody's
 * terminal, and turns no line around. Pure.
 */
import { type AlertMessage, visibleText } from '@soda-scheduler/protocol';
import type { AlertDelivery, ToldAlert } from '../../application/ports.ts';
import type { Alert } from '../../domain/alerts/alert.ts';

export type Told = Pick<AlertDelivery, 'id' | 'told' | 'moreCount'>;

const GRAVITY = ['info', 'warning', 'critical'] as const;

/** The gravest of them. */
export function severityOf({ told }: Told): Alert['severity'] {
  const graver = (a: Alert['severity'], b: Alert['severity']) =>
    GRAVITY.indexOf(b) > GRAVITY.indexOf(a) ? b : a;
  return told.map(({ alert }) => alert.severity).reduce(graver, 'info');
}

/** One line, for a subject. */
export function titleOf(message: Told): string {
  const { told, moreCount } = message;
  const [first] = told;
  if (first === undefined) return 'Soda Scheduler';
  if (told.length + moreCount === 1) return headOf(first);
  const overCount = told.filter(({ event }) => event === 'cleared').length;
  // Of the others nobody knows.
  const of = moreCount === 0 ? 'them' : `the first ${told.length}`;
  const over = overCount === 0 ? '' : `, ${overCount} of ${of} over`;
  return `[${severityOf(message)}] ${told.length + moreCount} alerts${over}`;
}

/** All of it, in lines: of several the title comes first, one has its own. */
export function textOf(message: Told): string {
  const { told, moreCount } = message;
  const title = told.length + moreCount === 1 ? [] : [titleOf(message)];
  const more =
    moreCount === 0
      ? []
      : [`And ${moreCount} more: soda alert list, with --state cleared for what is over.`];
  return visibleText([...title, ...told.map(linesOf), ...more].join('\n\n'));
}

function headOf({ event, alert: { severity, rule, subject, namespace } }: ToldAlert): string {
  const where = namespace === null || namespace === 'default' ? '' : ` in ${namespace}`;
  const state = event === 'cleared' ? 'over' : event === 'test' ? 'test' : severity;
  return visibleText(`[${state}] ${rule}: ${subject}${where}`);
}

function linesOf(told: ToldAlert): string {
  const { event, alert } = told;
  const { kind, message, change, raisedAt, seenAt, clearedAt, count, id, fields } = alert;
  const head = headOf(told);
  if (event === 'test') return `${head}\n${message}`;
  const raised = new Date(raisedAt).toISOString();
  const said = count > 1 ? `, said ${count} times` : '';
  // Of all other kinds the sentence says it.
  const known = fields === null || kind !== 'message' ? [] : [fields];
  if (clearedAt !== null) {
    const over = `It is over since ${new Date(clearedAt).toISOString()}${lastingInWords(raisedAt, clearedAt, 'after')}.`;
    // What was found is said as it was then, which it is no more.
    return [head, over, `It was: ${message}`, ...known, `Raised ${raised}${said}. (${id})`].join(
      '\n',
    );
  }
  return [
    head,
    message,
    ...(change === null ? [] : [`To mend it: ${change}`]),
    ...known,
    `Since ${raised}${lastingInWords(raisedAt, seenAt, 'for')}${said}. (${id})`,
  ].join('\n');
}

/** `, for 6 min`; nothing of less than a minute. */
function lastingInWords(from: number, to: number, word: 'for' | 'after'): string {
  return to - from >= 60_000 ? `, ${word} ${inWords(to - from)}` : '';
}

/** To the minute. */
function inWords(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  const parts = [
    [days, 'd'],
    [hours, 'h'],
    [minutes % 60, 'min'],
  ] as const;
  const shown = parts.filter(([value]) => value > 0).map(([value, unit]) => `${value} ${unit}`);
  return shown.slice(0, 2).join(' ');
}

/** The body of a webhook. */
export function bodyOf({ id, told, moreCount }: Told): AlertMessage {
  return {
    id,
    alerts: told.map(({ event, alert }) => ({
      event,
      id: alert.id,
      rule: alert.rule,
      kind: alert.kind,
      severity: alert.severity,
      namespace: alert.namespace,
      type: alert.type,
      group: alert.group,
      subject: alert.subject,
      message: alert.message,
      change: alert.change,
      fields: alert.fields === null ? null : (JSON.parse(alert.fields) as Record<string, unknown>),
      count: alert.count,
      raised_at: new Date(alert.raisedAt).toISOString(),
      cleared_at: alert.clearedAt === null ? null : new Date(alert.clearedAt).toISOString(),
    })),
    more: moreCount,
  };
}
