/**
 * The life of a task, the newest first: its attempts, who had them, how long and how they ended; how long it has waited
 * before each; and what was done to it in between.
 */
import { type AttemptView, jsonAt, type TaskView } from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import { callForText } from '../../api/call.ts';
import { masterNow } from '../../api/clock.ts';
import { useFrame } from '../../frame/context.ts';
import { ErrorDetails } from '../../parts/json.tsx';
import { ExecutorLink } from '../../parts/link.tsx';
import { Section } from '../../parts/page.tsx';
import { Outcome } from '../../parts/state.tsx';
import { type Layout, Table } from '../../parts/table.tsx';
import { lengthOf, Time, Took } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';
import { dataInLine } from './event-data.ts';
import type { TaskEvent } from './told-events.ts';

interface Attempt {
  readonly attempt: TaskView['timeline'][number];
  readonly taskId: string;
  /** Since the one before, or since it was submitted; null: nobody knows. */
  readonly waitedMs: number | null;
  /** Of the whole, from 0 to 1. */
  readonly from: number;
  readonly to: number;
}

/** An attempt, or what somebody has done to the task when it had none. */
type Row = { readonly at: string } & (Attempt | { readonly event: TaskEvent });

const SHOWN = 20;
/** What else the feed tells of a task is an attempt, or its end. */
const BETWEEN: ReadonlySet<string> = new Set([
  'task.changed',
  'task.moved',
  'task.suspended',
  'task.resumed',
  'task.retried',
  'task.start_overdue',
]);

interface Props {
  readonly task: TaskView;
  readonly events: readonly TaskEvent[];
}

export function Timeline({ task, events }: Props) {
  const [isWhole, setWhole] = useState(false);
  const rows = rowsOf(task, events);
  if (task.timeline.length === 0) return null;
  const shown = isWhole ? rows : rows.slice(0, SHOWN);
  return (
    <Section title={t('attempts')}>
      <Table of={layout} rows={shown} />
      {shown.length < rows.length && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          {t('attempts.all', { n: task.timeline.length })}
        </button>
      )}
    </Section>
  );
}

function rowsOf(task: TaskView, events: readonly TaskEvent[]): Row[] {
  const { timeline, task_id: taskId, submitted_at: submittedAt, finished_at: finishedAt } = task;
  const begin = Date.parse(
    timeline[0]?.attempt === 1 ? submittedAt : (timeline[0]?.offered_at ?? ''),
  );
  const length = Math.max(1, (finishedAt === null ? masterNow() : Date.parse(finishedAt)) - begin);
  const share = (at: string | null): number =>
    at === null ? 1 : Math.min(1, Math.max(0, (Date.parse(at) - begin) / length));
  const attempts = timeline.map((attempt, index): Row => {
    const before = index === 0 ? null : timeline[index - 1]?.ended_at;
    const since = before ?? (attempt.attempt === 1 ? submittedAt : null);
    const at = attempt.offered_at;
    return {
      at,
      attempt,
      taskId,
      waitedMs: since === null ? null : Math.max(0, Date.parse(at) - Date.parse(since)),
      from: share(attempt.started_at ?? at),
      to: share(attempt.ended_at),
    };
  });
  const between = events
    .filter(({ kind }) => BETWEEN.has(kind))
    .map((event): Row => ({ at: event.at, event }));
  // What was done in the instant of an offer is what it follows from.
  return [...between, ...attempts].sort((a, b) => Date.parse(a.at) - Date.parse(b.at)).reverse();
}

const layout: Layout<Row> = {
  keyOf: (row) => ('event' in row ? `event ${row.event.seq}` : String(row.attempt.attempt)),
  classOf: (row) => ('event' in row ? 'soft' : ''),
  columns: [
    {
      title: 'attempt',
      class: 'num',
      show: (row) => ('event' in row ? '·' : row.attempt.attempt),
    },
    {
      title: 'outcome',
      show: (row) =>
        'event' in row ? wordOf('event', row.event.kind) : <Outcome of={row.attempt.outcome} />,
    },
    {
      title: 'executor',
      show: (row) =>
        'event' in row ? row.event.actor : <ExecutorLink id={row.attempt.executor_id} />,
    },
    {
      title: 'attempts.waited',
      class: 'num wide',
      show: (row) => ('event' in row || row.waitedMs === null ? null : lengthOf(row.waitedMs)),
    },
    {
      title: 'task.started',
      class: 'num',
      show: (row) => <Time at={'event' in row ? row.at : (row.attempt.started_at ?? row.at)} />,
    },
    {
      title: 'task.took',
      class: 'num',
      show: (row) =>
        'event' in row ? null : <Took from={row.attempt.started_at} to={row.attempt.ended_at} />,
    },
    {
      title: 'attempts.span',
      isTitleHidden: true,
      class: 'wide',
      show: (row) => ('event' in row ? null : <Span of={row} />),
    },
    {
      title: 'task.error',
      class: 'fill',
      text: 'whole',
      show: (row) => ('event' in row ? dataInLine(row.event.data) : <WhatFailed of={row} />),
    },
  ],
};

const SPAN_WIDTH = 120;
const SPAN_WIDTH_MIN = 2;

/** Where it stands in the life of the task. */
function Span({ of: { attempt, from, to } }: { readonly of: Attempt }) {
  const width = Math.max(SPAN_WIDTH_MIN, (to - from) * SPAN_WIDTH);
  return (
    <svg class="span" width={SPAN_WIDTH} height={8} aria-hidden="true">
      <rect class="span-life" y={3} width={SPAN_WIDTH} height={2} />
      <rect
        class={`span-${attempt.outcome ?? 'running'}`}
        x={Math.min(from * SPAN_WIDTH, SPAN_WIDTH - width)}
        width={width}
        height={8}
        rx={1}
      />
    </svg>
  );
}

function WhatFailed({ of: { taskId, attempt } }: { readonly of: Attempt }) {
  const { namespace } = useFrame().place;
  const [whole, setWhole] = useState<{ message: string; details: string | undefined } | null>(null);
  const { error } = attempt;
  if (error === null) return null;
  const hasMore =
    error.details !== undefined || error.details_bytes !== undefined || error.message.endsWith('…');
  const open = async (): Promise<void> => {
    const path = `/task/${encodeURIComponent(taskId)}/attempt/${attempt.attempt}`;
    const text = await callForText({ path, namespace });
    const { error: all } = JSON.parse(text) as AttemptView;
    setWhole({ message: all?.message ?? '', details: jsonAt(text, ['error', 'details']) });
  };
  return (
    <>
      <span class="error">{whole?.message ?? error.message}</span>{' '}
      {hasMore && whole === null && (
        <button type="button" class="quiet" onClick={() => void open().catch(() => undefined)}>
          {t('attempts.details')}
        </button>
      )}
      {whole?.details !== undefined && <ErrorDetails text={whole.details} />}
    </>
  );
}
