/**
 * What feeds have told, as rows of one table: their keys are the numbers of a namespace (`inNamespace`), so that each
 * feed is one piece of it, in order and without gaps.
 */
import { type Commit, inNamespace } from '../../../application/ports.ts';
import type { FeedEvent } from '../../../domain/feed/feed-event.ts';
import type { Dialect, Statement, Types } from '../dialects/dialect.ts';
import { columns, type Value } from '../rows.ts';

export const eventDefinition = (t: Types): string => `
  seq ${t.seq},
  told_at ${t.instant} NOT NULL,
  kind ${t.key(64)} NOT NULL,
  task_seq ${t.instant} NULL,
  task_id ${t.key(64)} NULL,
  type ${t.key(64)} NULL,
  user_group ${t.name(64)} NULL,
  attempt ${t.integer} NULL,
  executor_id ${t.key(64)} NULL,
  actor ${t.name(64)} NULL,
  data ${t.text} NULL`;

/** Its rows come in the order of the key behind it. */
export const BY_TASK = 'feed_event_task';

export function createFeed(dialect: Dialect): string[] {
  const index = { name: 'task', columns: 'task_seq', where: 'task_seq IS NOT NULL' };
  return dialect.createTable('feed_event', eventDefinition(dialect.types), [index]);
}

const eventColumns = columns<FeedEvent>(
  ['seq', 'integer', (event, ns) => inNamespace(ns, event.seq)],
  ['told_at', 'integer', (event) => event.at],
  ['kind', 'text', (event) => event.kind],
  ['task_seq', 'integer', (event) => event.taskSeq],
  ['task_id', 'text', (event) => event.taskId],
  ['type', 'text', (event) => event.type],
  ['user_group', 'text', (event) => event.group],
  ['attempt', 'integer', (event) => event.attempt],
  ['executor_id', 'text', (event) => event.executorId],
  ['actor', 'text', (event) => event.actor],
  ['data', 'text', (event) => event.data],
);
export const eventList = eventColumns.map(({ name }) => name).join(', ');

/** All that these turns tell, with one statement where the database can. */
export function eventsWritten(
  dialect: Dialect,
  turns: readonly { readonly ns: number; readonly commit: Pick<Commit, 'events'> }[],
): Statement[] {
  const rows: Value[][] = [];
  for (const { ns, commit } of turns) {
    for (const event of commit.events ?? []) rows.push(eventColumns.map(({ of }) => of(event, ns)));
  }
  return rows.length === 0 ? [] : dialect.insert('feed_event', eventColumns, rows);
}
