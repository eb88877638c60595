/**
 * Waiting for something to become true, with a deadline and a name. Nothing here sleeps for a
 * time that a test has guessed: a probe is asked again and again until it answers.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** The longer it takes, the less often it is asked. */
const POLL_MS = 20;
const POLL_MS_MAX = 400;
const WITHIN_MS = 120_000;

/** Thrown by a probe: there is nothing left to wait for. */
export class Hopeless extends Error {}

type Answer<T> = T | undefined | null | false;

/** The first answer of `probe` that is not empty. A probe that throws has no answer yet. */
export async function eventually<T>(
  what: string,
  probe: () => Answer<T> | Promise<Answer<T>>,
  withinMs = WITHIN_MS,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let pollMs = POLL_MS;
  let trouble: unknown;
  for (;;) {
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== null && answer !== false) return answer;
      trouble = undefined;
    } catch (error) {
      if (error instanceof Hopeless) throw error;
      trouble = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`not within ${withinMs} ms: ${what}`, { cause: trouble });
    }
    await delay(pollMs);
    pollMs = Math.min(pollMs * 1.1, POLL_MS_MAX);
  }
}
