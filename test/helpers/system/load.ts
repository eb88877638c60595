/** Clients that submit one task after another, as fast as they are accepted. */
import { setTimeout as delay } from 'node:timers/promises';
import type { HttpAnswer, System } from './system.ts';

/** After a refusal, or no answer: what it is to find out takes seconds, and more requests do not hurry it. */
const BREATH_MS = 50;

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
        if (answer.status === 202) {
          accepted.push(String(answer.body['task_id']));
          continue;
        }
        refused.push(answer);
      } catch (error) {
        unanswered.push(error);
      }
      await delay(BREATH_MS);
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
