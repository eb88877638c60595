/**
 * What all processes of a test run share: made by the one that asks first, while the others wait for it.
 * `scripts/test.mjs` gives a run its folder, and removes it in the end, with all that was started.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../system/wait.ts';

/** Somebody else sees to the end of what a run has started. */
export const RUN_IS_WATCHED = process.env['SODA_TEST_FOLDER'] !== undefined;

let own: string | null = null;

/** Without `scripts/test.mjs` a process is a run of its own. */
export function runFolder(): string {
  const given = process.env['SODA_TEST_FOLDER'] ?? own;
  if (given !== null) return given;
  const made = mkdtempSync(join(tmpdir(), 'soda-run-'));
  own = made;
  process.once('exit', () => {
    rmSync(made, { recursive: true, force: true, maxRetries: 10, retryDelay: 10 });
  });
  return made;
}

/** What `make` says of what it has put into the folder. @throws what it throws, in every process. */
export async function oncePerRun(
  name: string,
  make: (folder: string) => Promise<string>,
): Promise<string> {
  const folder = join(runFolder(), name);
  const answer = join(runFolder(), `${name}.json`);
  const isFirst = await mkdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
  if (isFirst) {
    const made = await make(folder).then(
      (said) => ({ said }),
      (error: unknown) => ({ failed: String(error) }),
    );
    await writeFile(`${answer}.new`, JSON.stringify(made));
    await rename(`${answer}.new`, answer);
  }
  const read = await eventually(`${name} is made`, () => readFile(answer, 'utf8'));
  const { said, failed } = JSON.parse(read) as { said?: string; failed?: string };
  if (said === undefined) throw new Error(failed);
  return said;
}
