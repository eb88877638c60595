/** The executors of tests of the whole system, in few files. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stop } from 'esbuild';
import { oncePerRun } from '../store/once-per-run.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** One whose handlers take the steps that tests give them, as it is written: to be put beside another SDK. */
export const EXECUTOR = join(root, 'test/system/processes/executor.mjs');

export type ExecutorName = 'scripted' | 'ffmpeg' | 'live-push';
type Bundle = (files: Readonly<Record<string, string>>, options: object) => Promise<void>;

/**
 * Where each of them is as `<name>.js`, made once in a run: until it is connected it takes 0.2 s of processor time instead
 * of 0.33, those of the examples half.
 */
export function bundledExecutors(): Promise<string> {
  return oncePerRun('executors', async (folder) => {
    const { bundle } = (await import(join(root, 'scripts/bundle.mjs'))) as { bundle: Bundle };
    const sdk = join(root, 'executor-sdk/dist');
    const files = {
      'process/scripted': EXECUTOR,
      'process/ffmpeg': join(root, 'examples/dist/ffmpeg/executor.js'),
      'process/live-push': join(root, 'examples/dist/live-push/executor.js'),
      // The SDK looks for these from where it is.
      'process/guard-process': join(sdk, 'children/guard-process.js'),
      'session/session-thread': join(sdk, 'session/session-thread.js'),
    };
    await bundle(files, { outdir: folder, chunkNames: 'process/[name]-[hash]' });
    await stop();
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    return join(folder, 'process');
  });
}
