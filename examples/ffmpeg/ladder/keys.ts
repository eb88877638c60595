/**
 * Keys for AES-128, from a folder of the executor that no task can read or write. They are made by whoever serves them to
 * players, never here: on a fleet each executor would make another one. A key is in no task, result, checkpoint, log or
 * argument, and in no file of the media root.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { isFsError } from '../../media/failures.ts';

const KEY_BYTES = 16;

/** `name` is a checked one: without slashes. @throws {NonRetryableError} there is no such key. */
export async function readKey(folder: string | null, name: string): Promise<Buffer> {
  if (folder === null) throw new NonRetryableError('encrypt: this executor has no KEYS');
  const key = await readFile(join(folder, name)).catch((error: unknown) => {
    if (!isFsError(error, 'ENOENT')) throw error;
    throw new NonRetryableError(`encrypt.key: there is no ${name} in KEYS of this executor`);
  });
  if (key.length === KEY_BYTES) return key;
  throw new NonRetryableError(
    `encrypt.key: ${name} has ${key.length} bytes instead of ${KEY_BYTES}`,
  );
}
