/** The attempts of a task, the newest first: who had it, how long, and how it ended. */
import { type AttemptView, jsonAt, type TaskView } from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import { callForText } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { ExecutorLink } from '../../parts/executor-link.tsx';
import { ErrorDetails } from '../../parts/json.tsx';
import { Section } from '../../parts/page.tsx';
import { Outcome } from '../../parts/state.tsx';
import { Time, Took } from '../../parts/time.tsx';
import { t } from '../../words/words.ts';

type Attempt = TaskView['timeline'][number];

const SHOWN = 20;

export function Timeline({ task }: { readonly task: TaskView }) {
  const [isWhole, setWhole] = useState(false);
  const attempts = [...task.timeline].reverse();
  if (attempts.length === 0) return null;
  const shown = isWhole ? attempts : attempts.slice(0, SHOWN);
  return (
    <Section title={t('attempts')}>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th class="num">#</th>
              <th>{t('outcome')}</th>
              <th>{t('executor')}</th>
              <th class="num">{t('task.started')}</th>
              <th class="num">{t('task.took')}</th>
              <th class="fill">{t('task.error')}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((attempt) => (
              <Row key={attempt.attempt} taskId={task.task_id} attempt={attempt} />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < attempts.length && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          {t('attempts.all', { n: attempts.length })}
        </button>
      )}
    </Section>
  );
}

function Row({ taskId, attempt }: { readonly taskId: string; readonly attempt: Attempt }) {
  const { namespace } = useFrame().place;
  const [whole, setWhole] = useState<{ message: string; details: string | undefined } | null>(null);
  const { error } = attempt;
  const hasMore =
    error !== null &&
    (error.details !== undefined ||
      error.details_bytes !== undefined ||
      error.message.endsWith('…'));
  const open = async (): Promise<void> => {
    const path = `/task/${encodeURIComponent(taskId)}/attempt/${attempt.attempt}`;
    const text = await callForText({ path, namespace });
    const { error: all } = JSON.parse(text) as AttemptView;
    setWhole({ message: all?.message ?? '', details: jsonAt(text, ['error', 'details']) });
  };
  return (
    <tr>
      <td class="num">{attempt.attempt}</td>
      <td>
        <Outcome of={attempt.outcome} />
      </td>
      <td>
        <ExecutorLink id={attempt.executor_id} />
      </td>
      <td class="num">
        <Time at={attempt.started_at ?? attempt.offered_at} />
      </td>
      <td class="num">
        <Took from={attempt.started_at} to={attempt.ended_at} />
      </td>
      <td class="fill whole">
        {error !== null && (
          <>
            <span class="error">{whole?.message ?? error.message}</span>{' '}
            {hasMore && whole === null && (
              <button
                type="button"
                class="quiet"
                onClick={() => void open().catch(() => undefined)}
              >
                {t('attempts.details')}
              </button>
            )}
            {whole?.details !== undefined && <ErrorDetails text={whole.details} />}
          </>
        )}
      </td>
    </tr>
  );
}
