/** Clients that submit one task after another, as fast as they are answered. */
import type { HttpAnswer, System } from './system.ts';

export interface Load {
  /** Ids of tasks that were answered 202, in the order of the answers. */
  readonly accepted: string[];
  /** Every other answer. */
  readonly refused: HttpAnswer[];
  /** Exchanges that ended without an answer. */
  readonly unanswered: unknown[];
  /** Resolves when each client has its last answer. */
  stop(): Promise<void>;
}

/** `attempts` as in `System.submit`. Clients go on whatever they are answered. */
export function submitAllTheTime(
  system: System,
  task: Readonly<Record<string, unknown>>,
  clientCount = 8,
): Load {
  const accepted: string[] = [];
  const refused: HttpAnswer[] = [];
  const unanswered: unknown[] = [];
  const stop = new AbortController();
  const isOver = () => stop.signal.aborted || system.isOver;
  const client = async (): Promise<void> => {
    while (!isOver()) {
      try {
        const answer = await system.post('/task/submit', { task, user: { group: 'load' } });
        if (answer.status === 202) accepted.push(String(answer.body['task_id']));
        else refused.push(answer);
      } catch (error) {
        unanswered.push(error);
        // Nothing listens: without a breath this would be a loop that nothing else gets through.
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  };
  const clients = Promise.all(Array.from({ length: clientCount }, client));
  return {
    accepted,
    refused,
    unanswered,
    async stop() {
      stop.abort();
      await clients;
    },
  };
}
