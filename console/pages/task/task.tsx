/** One task: what it does or why it does not, what can be done about it, and all that is known of it. */
import { jsonAt, type TaskView } from '@soda-scheduler/protocol';
import { callForText, curlOf } from '../../api/call.ts';
import { masterNow } from '../../api/clock.ts';
import { useFrame } from '../../frame/context.ts';
import { useResource } from '../../frame/resource.ts';
import { Copy } from '../../parts/copy.tsx';
import { ErrorDetails, Json } from '../../parts/json.tsx';
import { ExecutorLink } from '../../parts/link.tsx';
import { Missing } from '../missing.tsx';
import { nameOf } from '../tasks/priority.ts';
import { Facts, Head, Loaded, Section } from '../../parts/page.tsx';
import { sizeOf } from '../../parts/size.ts';
import { Bar, isEnded, State } from '../../parts/state.tsx';
import { lengthOf, Time, TimeInFull, Took } from '../../parts/time.tsx';
import { clockOf } from '../../words/instant.ts';
import { t, wordOf } from '../../words/words.ts';
import { TaskActions } from './actions.tsx';
import { Callback } from './callback.tsx';
import { TaskEvents, useEvents } from './events.tsx';
import { Logs } from './logs.tsx';
import { Timeline } from './timeline.tsx';
import { Why } from './why.tsx';

/** With the text of the answer, in which the values of others stand as they were written. */
interface Told {
  readonly task: TaskView;
  readonly text: string;
}

const LIVE_MS = 2_000;

export function TaskPage({ id }: { readonly id: string }) {
  const { place, me } = useFrame();
  const { namespace } = place;
  const request = { path: `/task/${encodeURIComponent(id)}`, namespace };
  const told = useResource<Told>(
    `${namespace} ${id}`,
    async (signal) => {
      const text = await callForText({ ...request, signal });
      return { task: JSON.parse(text) as TaskView, text };
    },
    LIVE_MS,
  );
  return (
    <>
      <Head
        title={id}
        actions={told.data !== null && <TaskActions task={told.data.task} reload={told.reload} />}
      >
        {told.data !== null && <State of={told.data.task.state} />}
        <Copy text={id} label={t('copy.id')} />
        <Copy text={curlOf(request, me.name !== null)} label={t('copy.curl')} />
      </Head>
      <Loaded of={told} none={<Missing name={id} list="tasks" />}>
        {({ task, text }) => <Whole task={task} text={text} reload={told.reload} />}
      </Loaded>
    </>
  );
}

function Whole({ task, text, reload }: Told & { readonly reload: () => void }) {
  const params = jsonAt(text, ['params']) ?? 'null';
  const result = jsonAt(text, ['result']) ?? 'null';
  const progress = jsonAt(text, ['progress', 'state']) ?? 'null';
  const details = jsonAt(text, ['error', 'details']);
  const events = useEvents(task.task_id);
  return (
    <>
      <Now task={task} progress={progress} />
      {task.error !== null && (
        <Section title={errorTitle(task)}>
          <p class="error whole">
            {task.error.name === undefined ? '' : `${task.error.name}: `}
            {task.error.message}
          </p>
          {details !== undefined && <ErrorDetails text={details} />}
        </Section>
      )}
      {task.failure_reason !== null && <p class="note">{wordOf('failure', task.failure_reason)}</p>}
      {!isEnded(task) && (
        <Why key={task.state} taskId={task.task_id} suspended={task.suspended} reload={reload} />
      )}
      <div class="columns">
        <Section title={t('task.params')}>
          <Json text={params} label={t('task.params')} />
        </Section>
        {result !== 'null' && (
          <Section title={t('task.result')}>
            <Json text={result} label={t('task.result')} />
          </Section>
        )}
      </div>
      <Timeline task={task} events={events ?? []} />
      <Logs taskId={task.task_id} attempt={task.attempt} hasEnded={isEnded(task)} />
      {task.notification !== null && <Callback notification={task.notification} events={events} />}
      <Section title={t('task.facts')}>
        <TaskFacts task={task} />
      </Section>
      <TaskEvents events={events ?? []} />
    </>
  );
}

/** While it goes on, or where it was canceled, its error is that of an attempt before. */
function errorTitle(task: TaskView): string {
  const attempt = task.timeline.findLast(({ error }) => error !== null)?.attempt;
  const isCause =
    isEnded(task) && (task.state !== 'canceled' || task.error?.name === 'booking_end');
  return isCause || attempt === undefined ? t('task.error') : t('task.error-of', { n: attempt });
}

/** What its newest attempt has said, or one that was suspended; not what is left of one that has ended. */
function hasProgress({ state, progress, started_at: since }: TaskView): boolean {
  if (state === 'suspended') return true;
  return progress !== null && since !== null && progress.at >= since;
}

/** How far it is. */
function Now({ task, progress }: { readonly task: TaskView; readonly progress: string }) {
  const { link } = useFrame();
  const { state, executor_id: executor, started_at: startedAt, checkpoint_bytes: bytes } = task;
  const isRunning = state === 'running' || state === 'offered';
  return (
    <>
      <p class="summary">
        <a href={link('type', task.type)}>{task.type}</a>
        <span>
          {t('group')}{' '}
          <a href={link('tasks', null, { group: task.user.group })}>{task.user.group}</a>
        </span>
        {executor !== null && (
          <span>
            {t('executor')} <ExecutorLink id={executor} />
          </span>
        )}
        {startedAt !== null && (
          <span>
            {t(isRunning ? 'task.runs' : 'task.took')}{' '}
            <Took from={startedAt} to={task.finished_at} />
          </span>
        )}
        {bytes > 0 && !isEnded(task) && (
          <span>{t('task.checkpoint', { size: sizeOf(bytes) })}</span>
        )}
        {isRunning && task.cancel_requested_at !== null && (
          <span class="warn">{t('task.ending')}</span>
        )}
      </p>
      {task.progress !== null && !isEnded(task) && hasProgress(task) && (
        <Progress of={task.progress} />
      )}
      {progress !== 'null' && !isEnded(task) && <Json text={progress} label={t('task.progress')} />}
    </>
  );
}

const onClock = (at: string): string => clockOf(at, masterNow());

/** How far, how fast, until when; and of what the work is made. */
function Progress({ of: progress }: { readonly of: NonNullable<TaskView['progress']> }) {
  const { percent, parts = [], speed, estimate } = progress;
  return (
    <>
      <p class="summary">
        <Bar of={t('task.progress')} percent={percent} />
        {speed !== undefined && <span>{t('task.speed', { speed: speed.toFixed(1) })}</span>}
        {estimate !== undefined && (
          <span
            title={t('task.estimate', { low: onClock(estimate.low), high: onClock(estimate.high) })}
          >
            {t('task.ends')} <TimeInFull at={estimate.end_at} />
          </span>
        )}
        {estimate === undefined && progress.eta_seconds !== undefined && (
          <span>{t('task.own-word', { length: lengthOf(progress.eta_seconds * 1000) })}</span>
        )}
        <span>
          {t('task.reported')} <Time at={progress.at} />
        </span>
      </p>
      {parts.length > 0 && (
        <ul class="parts">
          {parts.map((part) => (
            <li key={part.name}>
              <span>{part.name}</span> <Bar of={part.name} percent={part.percent} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Seconds of head start, or the name that they have. */
function priorityText(priority: number): string {
  const name = nameOf(priority);
  if (name !== undefined) return wordOf('priority', name);
  return `${priority < 0 ? '−' : ''}${lengthOf(Math.abs(priority) * 1000)}`;
}

/** Seconds: below 0 always as long, and else what doubling waits end at. */
function retryText(interval: TaskView['retry']['interval']): string {
  const inSeconds = (value: number) => lengthOf(Math.abs(value) * 1000);
  if (typeof interval !== 'number') return interval.map(inSeconds).join(', ');
  const name = interval < 0 ? 'task.retry.always' : 'task.retry.up-to';
  return interval === 0 ? '–' : t(name, { length: inSeconds(interval) });
}

function TaskFacts({ task }: { readonly task: TaskView }) {
  const { user, retry, uses, needs } = task;
  const seconds = (value: number | null) => (value === null ? null : lengthOf(value * 1000));
  return (
    <Facts
      of={[
        [t('task.submitted'), <TimeInFull at={task.submitted_at} />],
        [t('task.due-at'), <TimeInFull at={task.due_at} />],
        [t('task.started'), task.started_at && <TimeInFull at={task.started_at} />],
        [t('task.finished'), task.finished_at && <TimeInFull at={task.finished_at} />],
        [t('task.deadline'), task.deadline && <TimeInFull at={task.deadline} />],
        [t('filter.project'), user.project],
        [t('filter.env'), user.env],
        [t('filter.user'), user.user],
        [t('task.priority'), priorityText(task.priority)],
        [t('task.place'), task.place && wordOf('place', task.place)],
        [t('task.labels'), task.labels.join(' ')],
        [t('filter.requires'), task.requires.join(' ')],
        [t('task.uses'), uses.map(({ limit, n }) => `${n} × ${limit}`).join(', ')],
        [t('task.needs'), needs.disk_bytes && sizeOf(needs.disk_bytes)],
        [
          t('attempts'),
          `${task.attempts_used} / ${retry.max_attempts === 0 ? '∞' : retry.max_attempts}`,
        ],
        [t('task.retry'), retryText(retry.interval)],
        [t('task.execution_timeout'), seconds(task.execution_timeout)],
        [t('task.stall_timeout'), seconds(task.stall_timeout)],
        [t('task.start_timeout'), seconds(task.start_timeout)],
        [t('task.checkpoint.size'), task.checkpoint_bytes > 0 && sizeOf(task.checkpoint_bytes)],
        [t('task.trace'), task.trace_id && <span class="id">{task.trace_id}</span>],
        [t('task.version'), task.version],
      ]}
    />
  );
}
