/** Clients that submit one task after another, as fast as they are accepted. */
import type { HttpAnswer, System } from './system.ts';
import { eventually } from './wait.ts';

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

/** After a refusal, or no answer, a client goes on once the master says that it is ready. */
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
  let comeback: Promise<unknown> | null = null;
  /** All clients wait for the same answer. */
  const ready = (): Promise<unknown> => {
    comeback ??= eventually('the master is ready again', async () => {
      return isOver() || (await fetch(`${system.url}/readyz`)).ok;
    }).finally(() => {
      comeback = null;
    });
    return comeback;
  };
  const client = async (): Promise<void> => {
    while (!isOver()) {
      try {
        const answer = await system.post('/task/submit', { task, user: { group: 'load' } });
        if (answer.status === 202) {
          accepted.push(String(answer.body['task_id']));
          continue;
        }
        refused.push(answer);
      } catch (error) {
        unanswered.push(error);
      }
      await ready();
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
