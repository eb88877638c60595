/** Follows a task: bars on a terminal, of it and of its parts, and a line now and then elsewhere. */
import { exactJson, type SodaClient, type TaskView } from '@soda-scheduler/client';
import { interruptible, tellAbsence } from '../connection.ts';
import { Failure, Interrupted } from '../exit-code.ts';
import { type Output, plain } from '../output.ts';
import { doneCount, progressInWords } from './progress-words.ts';
import { TaskBars } from './task-bars.ts';
import { isCause } from './task-view.ts';

/** A report that changes no more than a number is told so often, where lines stay. */
const LINE_INTERVAL_MS = 30_000;

/** Returns when the task has succeeded. @throws {Failure} if it ended otherwise. */
export async function watch(client: SodaClient, output: Output, taskId: string): Promise<void> {
  const bars = output.isTerminal ? new TaskBars() : null;
  let task: TaskView;
  let said = '';
  const isDue = pacer();
  const show = (now: TaskView) => {
    const line = stateLine(now, bars !== null);
    if (bars) bars.show(now, line);
    // A report may change what the line leaves out.
    else if (output.json || (line !== said && isDue(now))) output.sayView(now, line);
    else return;
    said = line;
  };
  const absence = bars
    ? {
        ...tellAbsence((state) => bars.say(plain(state))),
        // Nothing need have changed meanwhile, and then nothing else takes these words away.
        onBack: () => bars.say(said),
      }
    : tellAbsence();
  try {
    task = await interruptible((signal) =>
      client.wait(taskId, { signal, onProgress: show, ...absence }),
    );
  } catch (error) {
    bars?.stop();
    if (error instanceof Interrupted) output.hint(`The task goes on: soda task watch ${taskId}`);
    throw error;
  }
  bars?.stop();
  if (task.state !== 'succeeded') throw new Failure(output.json ? '' : endLine(task));
  if (task.result !== null && !output.json) output.say(null, exactJson(task, 'result'));
}

/** Whether something is worth a line: another state, attempt, tenth or part that is done, or it was silent for long. */
function pacer(): (task: TaskView) => boolean {
  let told = '';
  let toldAt = 0;
  return ({ state, attempt, progress }) => {
    const tenth = Math.floor((progress?.percent ?? 0) / 10);
    const step = [state, attempt, tenth, doneCount(progress?.parts ?? [])].join(' ');
    const now = performance.now();
    if (step === told && now - toldAt < LINE_INTERVAL_MS) return false;
    [told, toldAt] = [step, now];
    return true;
  };
}

function stateLine(task: TaskView, hasBar: boolean): string {
  const { state, attempt, executor_id, waiting } = task;
  const parts = [
    state,
    progressInWords(task, Date.now(), hasBar),
    attempt > 1 ? `attempt ${attempt}` : null,
    state === 'running' && executor_id !== null ? `on ${executor_id}` : null,
    waiting?.message ?? null,
    waiting?.reason === 'not_due' ? task.due_at : null,
  ];
  return plain(parts.filter((part) => part !== null).join(', '));
}

function endLine(task: TaskView): string {
  const { state, failure_reason, error } = task;
  const why = [failure_reason, isCause(task) && error?.message].filter(Boolean).join(': ');
  return why === '' ? `the task is ${state}` : `the task is ${state}: ${why}`;
}
