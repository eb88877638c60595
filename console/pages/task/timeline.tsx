/** The attempts of a task, the newest first: who had it, how long, and how it ended. */
import { type AttemptView, jsonAt, type TaskView } from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import { callForText } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { ErrorDetails } from '../../parts/json.tsx';
import { ExecutorLink } from '../../parts/link.tsx';
import { Section } from '../../parts/page.tsx';
import { Outcome } from '../../parts/state.tsx';
import { type Layout, Table } from '../../parts/table.tsx';
import { Time, Took } from '../../parts/time.tsx';
import { t } from '../../words/words.ts';

/** With the task that it is of. */
type Attempt = TaskView['timeline'][number] & { readonly taskId: string };

const SHOWN = 20;

export function Timeline({ task }: { readonly task: TaskView }) {
  const [isWhole, setWhole] = useState(false);
  const attempts = [...task.timeline].reverse();
  if (attempts.length === 0) return null;
  const shown = isWhole ? attempts : attempts.slice(0, SHOWN);
  return (
    <Section title={t('attempts')}>
      <Table
        of={attemptLayout}
        rows={shown.map((attempt) => ({ ...attempt, taskId: task.task_id }))}
      />
      {shown.length < attempts.length && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          {t('attempts.all', { n: attempts.length })}
        </button>
      )}
    </Section>
  );
}

const attemptLayout: Layout<Attempt> = {
  keyOf: ({ attempt }) => String(attempt),
  columns: [
    { title: 'attempt', class: 'num', show: ({ attempt }) => attempt },
    { title: 'outcome', show: ({ outcome }) => <Outcome of={outcome} /> },
    { title: 'executor', show: ({ executor_id: id }) => <ExecutorLink id={id} /> },
    {
      title: 'task.started',
      class: 'num',
      show: ({ started_at: startedAt, offered_at: offeredAt }) => (
        <Time at={startedAt ?? offeredAt} />
      ),
    },
    {
      title: 'task.took',
      class: 'num',
      show: ({ started_at: from, ended_at: to }) => <Took from={from} to={to} />,
    },
    {
      title: 'task.error',
      class: 'fill',
      text: 'whole',
      show: (attempt) => <WhatFailed of={attempt} />,
    },
  ],
};

function WhatFailed({ of: { taskId, attempt, error } }: { readonly of: Attempt }) {
  const { namespace } = useFrame().place;
  const [whole, setWhole] = useState<{ message: string; details: string | undefined } | null>(null);
  if (error === null) return null;
  const hasMore =
    error.details !== undefined || error.details_bytes !== undefined || error.message.endsWith('…');
  const open = async (): Promise<void> => {
    const path = `/task/${encodeURIComponent(taskId)}/attempt/${attempt}`;
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
