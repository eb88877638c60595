/** What a task has logged: page by page, with a wait for more, as a stream, or as text to be kept. */
import {
  API_BASE,
  type LogLine as LineView,
  type LogPage as PageBody,
  visibleText,
} from '@soda-scheduler/protocol';
import { logPage, taskLogQuery } from '@soda-scheduler/protocol/schemas';
import type { LogPage, LogQuery, PlacedLine } from '../../../application/logs/logs.ts';
import { fits } from '../../../domain/logs/log-line.ts';
import type { LogPlace } from '../../../application/logs/log-store.ts';
import { isLoss, isTerminal, type Task } from '../../../domain/model/task.ts';
import { checkShape } from '../../body/fields.ts';
import { type ApiRequest, asksFor, type NamespaceRoute, type Reply } from '../../http/route.ts';
import type { ScopedMaster } from '../../scoped-master.ts';
import { found, noTask, taskIdOf } from '../tasks.ts';
import type { Followers } from './followers.ts';
import { eventText, FOLLOWED, type Followed, lastEventIn, replyTo, wholeOf } from './following.ts';

const PLAIN = 'text/plain';
/** After its end a task may have lines on their way for so long, unless more have just come. */
const LATE_MS = 2_000;
const PLACE = /^\d{1,9}\.\d{1,10}$/;

type Asked = ReturnType<typeof taskLogQuery.parse>;
/** A page, and whether nothing will follow it. */
type Page = LogPage & { readonly isLast: boolean };

export function logRoutes(followers: Followers): NamespaceRoute[] {
  return [
    {
      ...FOLLOWED,
      path: `${API_BASE}/task/{task_id}/logs`,
      summary:
        'What the handler of a task has logged. A page looks at so much: it may be short, or empty, and `next` moves ' +
        'on. With `follow=1`: all of it as it comes, until the task has ended. With `Accept: text/plain`: as text.',
      query: taskLogQuery,
      replies: { done: logPage },
      streams: [...FOLLOWED.streams, PLAIN],
      handle: (request, master) => answer(followers, request, master),
    },
  ];
}

async function answer(
  followers: Followers,
  request: ApiRequest,
  master: ScopedMaster,
): Promise<Reply> {
  const asked = checkShape(taskLogQuery, request.query);
  const { task } = await found(master, taskIdOf(request), 0);
  const followed = followedBy(master, request, task, asked);
  const last = lastEventIn(request, PLACE, 'the place of a line');
  const first = await followed.readFrom(placeIn(last ?? asked.after));
  if (first === null) throw noTask(task.id);
  if (asksFor(request, PLAIN)) {
    const contentType = `${PLAIN}; charset=utf-8`;
    const end = followers.begin(request.actor);
    return { body: '', contentType, stream: wholeOf(followed, first, plainPageOf, end) };
  }
  const { wait, follow } = asked;
  return replyTo(request, followers, followed, first, { wait, isFollowing: follow === '1' });
}

interface FollowedLog extends Followed<Page> {
  /** Null: the task is not seen any more. */
  readFrom(after: LogPlace | null): Promise<Page | null>;
}

function followedBy(
  master: ScopedMaster,
  request: ApiRequest,
  { seq: taskSeq, id }: Task,
  { limit, ...asked }: Asked,
): FollowedLog {
  const { logs } = master;
  const attempt = asked.attempt ?? null;
  const filter = { level: asked.level ?? null, text: asked.text ?? null, from: null, to: null };
  const query: Omit<LogQuery, 'after'> = { taskSeq, attempt, limit, ...filter };
  const readFrom = async (after: LogPlace | null): Promise<Page | null> => {
    // In this order: what was written before it ended is on the page.
    const shown = await master.find(id, 0);
    if (shown?.task.seq !== taskSeq) return null;
    const isEnded = isOver(shown.task, attempt, logs.now());
    const mayGrow = !isEnded || logs.mayGrow(taskSeq, attempt);
    const page = await logs.read({ ...query, after, isOver: !mayGrow });
    const isLast = page.isAtEnd && !mayGrow;
    const loss = isLast && after?.n !== END_N ? await lossAfter(page.next) : null;
    if (loss === null) return { ...page, isLast };
    const lines = fits(filter, loss) ? [...page.lines, loss] : page.lines;
    return { ...page, lines, isLast, next: { attempt: loss.attempt, n: END_N } };
  };
  /** Of the newest attempt, whose executor could not say how it ended: the master does. */
  const lossAfter = async (last: LogPlace): Promise<PlacedLine | null> => {
    const shown = await master.find(id, 'all');
    const of = attempt ?? shown?.task.attempt;
    const record = shown?.attempts.find((one) => one.attempt === of);
    if (record === undefined || !isLoss(record.outcome)) return null;
    const why = record.error === null ? '' : `: ${record.error.message}`;
    const n = last.attempt === of ? last.n + 1 : 1;
    const said = { level: 'error', stream: 'log', text: `lost${why}`, fields: null } as const;
    return { attempt: record.attempt, n, at: record.endedAt, ...said };
  };
  return {
    readFrom,
    now: () => logs.now(),
    isOver: () => logs.isOver || request.isOver(),
    news: (page, withinMs) => logs.news(taskSeq, attempt, page?.next ?? NOWHERE, withinMs),
    readAfter: ({ next }) => readFrom(next),
    isAtEnd: ({ isAtEnd }) => isAtEnd,
    isLast: ({ isLast }) => isLast,
    replyOf: (page) => ({ body: bodyOf(page) }),
    textOf: (page) => eventsOf(page) + lostOf(page),
    idOf: ({ next }) => idOf(next),
  };
}

/** Behind all lines of an attempt, and what the master says of its end. */
const END_N = 9_999_999_999;

/** No line ever comes after it. */
const NOWHERE: LogPlace = { attempt: Number.POSITIVE_INFINITY, n: 0 };

/** What is asked for has ended, for long enough. */
function isOver(task: Task, attempt: number | null, now: number): boolean {
  if (isTerminal(task.state)) return now - (task.finishedAt ?? 0) >= LATE_MS;
  if (attempt === null) return false;
  const isRunning = task.state === 'offered' || task.state === 'running';
  return attempt < task.attempt || (attempt === task.attempt && !isRunning);
}

function placeIn(text: string | undefined): LogPlace | null {
  if (text === undefined) return null;
  const [attempt = 0, n = 0] = text.split('.').map(Number);
  return { attempt, n };
}

const idOf = ({ attempt, n }: LogPlace): string => `${attempt}.${n}`;

function bodyOf({ lines, droppedCount, lostCount, next, isAtEnd, isLast }: Page): PageBody {
  const gaps = { dropped: droppedCount, lost_at_end: lostCount };
  const end = { at_end: isAtEnd, ended: isLast };
  return { lines: lines.map(lineView), ...gaps, next: idOf(next), ...end };
}

const missing = (count: number, where: string): string =>
  count === 0 ? '' : `${count} ${count === 1 ? 'line was' : 'lines were'} ${where}\n`;

/** Whoever has the last one goes on behind the page. */
function eventsOf({ lines, next }: Page): string {
  const texts = lines.map((line, at) => {
    const id = idOf(at === lines.length - 1 ? next : line);
    return eventText(id, JSON.stringify(lineView(line)));
  });
  return texts.join('');
}

/** An event of another name, so that whoever reads lines has lines only. */
function lostOf({ lostCount, next }: Page): string {
  if (lostCount === 0) return '';
  const loss = { attempt: next.attempt, lost_at_end: lostCount };
  return `event: lost\n${eventText(idOf(next), JSON.stringify(loss))}`;
}

/** As the API has it. */
export function lineView({ attempt, n, at, level, stream, text, fields }: PlacedLine): LineView {
  const line = { attempt, n, at: new Date(at).toISOString(), level, stream, text };
  return fields === null ? line : { ...line, fields };
}

/** Each gap is said where it is; what was dropped before lines that are not asked for, at the end of the page. */
function plainPageOf({ lines, droppedCount, lostCount }: Page): string {
  const placedCount = lines.reduce((sum, line) => sum + (line.droppedCount ?? 0), lostCount);
  const texts = lines.map(
    (line) => missing(line.droppedCount ?? 0, 'dropped here') + plainOf(line),
  );
  texts.push(missing(droppedCount - placedCount, 'dropped here'));
  return texts.join('') + missing(lostCount, 'lost at the end');
}

/** What executors say steers no terminal, and looks like no line of its own. */
function plainOf({ at, level, stream, text, fields }: PlacedLine): string {
  const from = stream === 'log' ? '' : ` [${stream}]`;
  const more = fields === null ? '' : ` ${JSON.stringify(fields)}`;
  const [head = '', ...rest] = visibleText(text + more).split('\n');
  const lines = [`${new Date(at).toISOString()} ${level.toUpperCase()}${from} ${head}`, ...rest];
  return `${lines.join('\n    ')}\n`;
}
