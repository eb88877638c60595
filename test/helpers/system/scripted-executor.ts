/** The executor of most tests of the whole system: a process whose handlers take the steps that tests give them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stop } from 'esbuild';
import { oncePerRun } from '../store/once-per-run.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** As it is written, to be put beside another SDK. */
export const EXECUTOR = join(root, 'test/system/processes/executor.mjs');

type Bundle = (files: Readonly<Record<string, string>>, options: object) => Promise<void>;

/** The same with the SDK in few files, made once in a run: it starts in 0.2 s of processor time instead of 0.33. */
export function bundledExecutor(): Promise<string> {
  return oncePerRun('executor', async (folder) => {
    const { bundle } = (await import(join(root, 'scripts/bundle.mjs'))) as { bundle: Bundle };
    const sdk = join(root, 'executor-sdk/dist');
    // The SDK looks for its others from where it is.
    const files = {
      'process/executor': EXECUTOR,
      'process/guard-process': join(sdk, 'children/guard-process.js'),
      'session/session-thread': join(sdk, 'session/session-thread.js'),
    };
    await bundle(files, { outdir: folder, chunkNames: 'process/[name]-[hash]' });
    await stop();
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    return join(folder, 'process/executor.js');
  });
}
