/** How an attempt tidies up behind itself. */
import { rm } from 'node:fs/promises';

/** What cannot be removed is told and left to whoever sweeps: it changes nothing of how the attempt ends. */
export async function removeOrTell(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(
    ({ code, message }: NodeJS.ErrnoException) =>
      console.warn(`${path} cannot be removed, and is left: ${code ?? message}`),
  );
}
