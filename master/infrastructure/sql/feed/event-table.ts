/**
 * What feeds have told, as rows of one table: their keys are the numbers of a namespace (`inNamespace`), so that each
 * feed is one piece of it, in order and without gaps.
 */
import { type Commit, inNamespace } from '../../../application/ports.ts';
import type { FeedEvent } from '../../../domain/feed/feed-event.ts';
import type { Alike, Columns, Dialect, Family, Statement, Types } from '../dialects/dialect.ts';
import type { Value } from '../rows.ts';

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

/** What most events of a turn have for themselves, and what they have in common with others. */
const own: Columns = [
  { name: 'seq', kind: 'integer' },
  { name: 'task_seq', kind: 'integer' },
  { name: 'task_id', kind: 'text' },
  { name: 'executor_id', kind: 'text' },
];
const ownOf = (event: FeedEvent, ns: number): Value[] => [
  inNamespace(ns, event.seq),
  event.taskSeq,
  event.taskId,
  event.executorId,
];
const common: Columns = [
  { name: 'told_at', kind: 'integer' },
  { name: 'kind', kind: 'text' },
  { name: 'type', kind: 'text' },
  { name: 'user_group', kind: 'text' },
  { name: 'attempt', kind: 'integer' },
  { name: 'actor', kind: 'text' },
  { name: 'data', kind: 'text' },
];
const commonOf = (event: FeedEvent): Value[] => [
  event.at,
  event.kind,
  event.type,
  event.group,
  event.attempt,
  event.actor,
  event.data,
];
export const eventList = [...own, ...common].map(({ name }) => name).join(', ');

const family: Family = { table: 'feed_event', own, common };

interface EventsAlike extends Alike {
  /** The first of them. */
  readonly event: FeedEvent;
  readonly rows: Value[][];
}

/** All that these turns tell, with few statements: the values that are bound are most of what it costs. */
export function eventsWritten(
  dialect: Dialect,
  turns: readonly { readonly ns: number; readonly commit: Pick<Commit, 'events'> }[],
): Statement[] {
  const groups: EventsAlike[] = [];
  /** The newest group of each name. */
  const named = new Map<string, EventsAlike>();
  let newest: EventsAlike | undefined;
  for (const { ns, commit } of turns) {
    for (const event of commit.events ?? []) {
      // Mostly it is as the one before: to name it takes longer than to see that.
      if (newest === undefined || !isAlike(newest.event, event)) {
        const name = `${event.kind} ${event.type} ${event.group} ${event.data}`;
        newest = named.get(name);
        // Two that differ may have one name.
        if (newest === undefined || !isAlike(newest.event, event)) {
          newest = { event, common: commonOf(event), rows: [] };
          groups.push(newest);
          named.set(name, newest);
        }
      }
      newest.rows.push(ownOf(event, ns));
    }
  }
  return groups.length === 0 ? [] : dialect.insertAlike(family, groups);
}

function isAlike(one: FeedEvent, other: FeedEvent): boolean {
  return (
    one.kind === other.kind &&
    one.at === other.at &&
    one.type === other.type &&
    one.group === other.group &&
    one.attempt === other.attempt &&
    one.actor === other.actor &&
    one.data === other.data
  );
}
