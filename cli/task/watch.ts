/** Follows a task: a progress bar on a terminal, a line for each change elsewhere. */
import { exactJson, type SodaClient, type TaskView } from '@soda-scheduler/client';
import { Presets, SingleBar } from 'cli-progress';
import { interruptible, tellAbsence } from '../connection.ts';
import { Failure, Interrupted } from '../exit-code.ts';
import { type Output, plain } from '../output.ts';

/** Returns when the task has succeeded. @throws {Failure} if it ended otherwise. */
export async function watch(client: SodaClient, output: Output, taskId: string): Promise<void> {
  const bar = output.isTerminal ? progressBar() : null;
  let task: TaskView;
  let said = '';
  const show = (now: TaskView) => {
    const line = stateLine(now);
    if (bar) bar.update(now.progress?.percent ?? 0, { state: line });
    // A report may change what the line leaves out.
    else if (output.json || line !== said) output.sayView(now, line);
    said = line;
  };
  const absence = bar
    ? {
        ...tellAbsence((state) => bar.update({ state: plain(state) })),
        // Nothing need have changed meanwhile, and then nothing else takes these words away.
        onBack: () => bar.update({ state: said }),
      }
    : tellAbsence();
  try {
    task = await interruptible((signal) =>
      client.wait(taskId, { signal, onProgress: show, ...absence }),
    );
  } catch (error) {
    bar?.stop();
    if (error instanceof Interrupted) output.hint(`The task goes on: soda task watch ${taskId}`);
    throw error;
  }
  if (task.state === 'succeeded') bar?.update(100);
  bar?.stop();
  if (task.state !== 'succeeded') throw new Failure(output.json ? '' : endLine(task));
  if (task.result !== null && !output.json) output.say(null, exactJson(task, 'result'));
}

function progressBar(): SingleBar {
  const bar = new SingleBar(
    // Ctrl-C is dealt with by whoever waits; the bar must not end the process.
    { format: '{bar} {percentage}% {state}', hideCursor: true, gracefulExit: false },
    Presets.shades_classic,
  );
  bar.start(100, 0, { state: '' });
  return bar;
}

function stateLine(task: TaskView): string {
  const { state, progress, attempt, executor_id, waiting } = task;
  const parts = [
    state,
    percentOf(progress),
    attempt > 1 ? `attempt ${attempt}` : null,
    state === 'running' && executor_id !== null ? `on ${executor_id}` : null,
    waiting?.message ?? null,
    waiting?.reason === 'not_due' ? task.due_at : null,
  ];
  return plain(parts.filter((part) => part !== null).join(', '));
}

export function percentOf(progress: TaskView['progress']): string | null {
  const percent = rounded(progress?.percent ?? null);
  return percent === null ? null : `${percent} %`;
}

/** To a tenth: what is behind it is noise of the arithmetic. */
export function rounded(percent: number | null): number | null {
  return percent === null ? null : Math.round(percent * 10) / 10;
}

function endLine({ state, failure_reason, error }: TaskView): string {
  const why = [failure_reason, error?.message].filter(Boolean).join(': ');
  return why === '' ? `the task is ${state}` : `the task is ${state}: ${why}`;
}
