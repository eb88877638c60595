/** Ids for tasks whose clients gave none: UUIDs of version 7. */
import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const RANDOM_BYTES = 16;
/** Asking the system for the bytes of one id costs more than all else of it. */
const pool = Buffer.alloc(RANDOM_BYTES * 256);
let used = pool.length;

/** As good as unique: 74 of its bits are random. Sorts by the millisecond it was made in. */
export function newTaskId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, (used += RANDOM_BYTES));
  return v7({ random });
}
