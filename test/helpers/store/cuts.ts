/**
 * Where a test cuts a connection off: behind one answer of the server in so many, others in each run. To cut behind each
 * of them takes minutes; a fault that a run misses the next ones find. `SODA_SEED` repeats a run.
 */
import { randomInt } from 'node:crypto';

const STRIDE = 4;

/** `attempt` answers whether there was something to be cut behind that answer. Resolves with the first behind which there was not. */
export async function cutBehindSome(
  attempt: (answer: number) => Promise<boolean>,
): Promise<number> {
  const seed = Number(process.env['SODA_SEED'] ?? randomInt(2 ** 31));
  for (let answer = 1 + (seed % STRIDE); ; answer += STRIDE) {
    const wasCut = await attempt(answer).catch((cause: unknown) => {
      throw new Error(`cut behind answer ${answer}, SODA_SEED=${seed}`, { cause });
    });
    if (!wasCut) return answer;
  }
}
