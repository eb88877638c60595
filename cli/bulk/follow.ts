/** Follows an operation on many tasks: a bar on a terminal, nothing elsewhere until it is over, and then what became of it. */
import type { OperationSummary, OperationView, SodaClient } from '@soda-scheduler/client';
import { Presets, SingleBar } from 'cli-progress';
import { tellAbsence } from '../connection.ts';
import { Failure } from '../exit-code.ts';
import type { Output } from '../output.ts';

/** Of one that has just begun: its id, unless it is waited for. @throws {Failure} not all of it has been done. */
export async function sayBegun(
  client: SodaClient,
  output: Output,
  operationId: string,
  isWaitedFor: boolean,
  signal: AbortSignal,
): Promise<void> {
  if (!isWaitedFor) {
    output.say({ operation_id: operationId }, operationId);
    return;
  }
  const operation = await follow(client, output, operationId, signal);
  output.sayView(operation, countsInWords(operation));
  for (const { task_id, message } of operation.problems) {
    output.hint(`soda: ${task_id === null ? '' : `${task_id}: `}${message}`);
  }
  if (operation.failed > 0 || operation.state === 'canceled') throw new Failure('');
}

/** Resolves once it is over, however. It goes on where this is interrupted. */
async function follow(
  client: SodaClient,
  output: Output,
  operationId: string,
  signal: AbortSignal,
): Promise<OperationView> {
  const bar = output.isTerminal ? progressBar() : null;
  const onProgress = (operation: OperationView): void => {
    bar?.setTotal(Math.max(operation.total, cameTo(operation), 1));
    bar?.update(cameTo(operation), { state: countsInWords(operation) });
  };
  try {
    return await client.operations.wait(operationId, { signal, onProgress, ...tellAbsence() });
  } catch (error) {
    if (signal.aborted) output.hint(`It goes on: soda operation get ${operationId}`);
    throw error;
  } finally {
    bar?.stop();
  }
}

/** From 0 to 1, until it has another total; `state` is said beside it. */
export function progressBar(): SingleBar {
  const bar = new SingleBar(
    // Ctrl-C is dealt with by whoever waits; the bar must not end the process.
    { format: '{bar} {percentage}% {state}', hideCursor: true, gracefulExit: false },
    Presets.shades_classic,
  );
  bar.start(1, 0, { state: '' });
  return bar;
}

function cameTo({ done, asked, skipped, failed }: OperationSummary): number {
  return done + asked + skipped + failed;
}

/** What became of its tasks, in one line. */
export function countsInWords({
  state,
  done,
  asked,
  skipped,
  failed,
}: Pick<OperationSummary, 'state' | 'done' | 'asked' | 'skipped' | 'failed'>): string {
  const running = asked > 0 ? [`told to end ${asked}`] : [];
  const counts = [`done ${done}`, ...running, `skipped ${skipped}`, `failed ${failed}`].join(', ');
  return state === 'canceled' || state === 'paused' ? `${state}: ${counts}` : counts;
}
