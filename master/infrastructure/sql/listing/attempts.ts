/** The attempts of tasks, as they are listed: large details left out. */
import type { ListedAttempt } from '../../../application/ports.ts';
import { ATTEMPT_COUNT_MAX } from '../../../domain/bounds.ts';
import type { Database } from '../database.ts';
import { padded, placeholders } from '../dialects/dialect.ts';
import type { Row } from '../rows.ts';
import { attemptList, attemptOf } from '../tables/attempt.ts';

/** Read by one statement: their errors may be large. */
const PAGE_COUNT = 50;

/** Oldest first. */
export async function attemptsOf(
  database: Pick<Database, 'rows'>,
  seq: number,
): Promise<readonly ListedAttempt[]> {
  const rows: Row[] = [];
  while (rows.length < ATTEMPT_COUNT_MAX) {
    // Even what is cut off a large error is read.
    const some = await database.rows(
      `SELECT ${attemptList} FROM task_attempt WHERE task_seq = ? AND attempt < ?
       ORDER BY attempt DESC LIMIT ?`,
      [seq, (rows.at(-1)?.['attempt'] as number | undefined) ?? 2_147_483_647, PAGE_COUNT],
    );
    rows.push(...some);
    if (some.length < PAGE_COUNT) break;
  }
  return rows.slice(0, ATTEMPT_COUNT_MAX).reverse().map(attemptOf);
}

/** Which of these tasks have any. Most have none: the attempt that has succeeded stands in the row of its task. */
export async function withAttempts(
  database: Pick<Database, 'rows'>,
  seqs: readonly number[],
): Promise<ReadonlySet<number>> {
  if (seqs.length === 0) return new Set();
  const wanted = padded(seqs);
  const having = await database.rows(
    `SELECT DISTINCT task_seq FROM task_attempt WHERE task_seq IN ${placeholders(1, wanted.length)}`,
    wanted,
  );
  return new Set(having.map((row) => row['task_seq'] as number));
}

/** Of each of these tasks that has any. */
export async function attemptsOfEach(
  database: Pick<Database, 'rows'>,
  seqs: readonly number[],
): Promise<ReadonlyMap<number, readonly ListedAttempt[]>> {
  const found = new Map<number, readonly ListedAttempt[]>();
  for (const seq of await withAttempts(database, seqs)) {
    found.set(seq, await attemptsOf(database, seq));
  }
  return found;
}
