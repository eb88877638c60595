/** What an operator lets `script` run. */
import { access, constants, stat } from 'node:fs/promises';
import { extname, isAbsolute, join } from 'node:path';
import { z } from 'zod';

const absolute = z.string().refine(isAbsolute, { error: 'expected an absolute path' });

export const scriptName = z
  .string()
  .max(128)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'expected the name of a file, without a path');

export const digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'expected SHA-256 as 64 hexadecimal digits');

export const scriptSettings = z.strictObject({
  /** Where the scripts lie, themselves and not in folders of it. */
  folder: absolute,
  /** By the ending of the name (`.py`): the program and the arguments before the script. */
  interpreters: z
    .record(
      z.string().regex(/^\.[a-z0-9]{1,8}$/),
      z
        .array(z.string())
        .min(1)
        .refine(([path = '']) => isAbsolute(path), {
          error: 'expected an absolute path first',
        }),
    )
    .refine((given) => Object.keys(given).length > 0, { error: 'expected at least one' }),
  /** Digests that must hold whatever a task says; then a task need not say any. */
  pinned: z.record(scriptName, digest).default({}),
  /** Where each run has a folder of its own for a while. */
  scratch: absolute,
  pass_env: z.array(z.string()).default([]),
  output_bytes_max: z
    .int()
    .min(1024)
    .default(64 * 1024 * 1024),
});

export type ScriptSettings = z.output<typeof scriptSettings>;

export async function lookAtScripts(
  settings: ScriptSettings,
): Promise<{ readonly problems: string[]; readonly warnings: string[] }> {
  const problems: string[] = [];
  for (const name of ['folder', 'scratch'] as const) {
    const found = await stat(settings[name]).catch(() => null);
    if (!found?.isDirectory()) problems.push(`${name}: ${settings[name]} is no directory`);
    else if (name === 'folder' && (found.mode & 0o002) !== 0) {
      problems.push(`folder: ${settings.folder} may be written by everybody`);
    }
  }
  if (await isWritable(settings.scratch)) {
    if (settings.scratch === settings.folder) problems.push('scratch: expected another folder');
  } else problems.push(`scratch: ${settings.scratch} cannot be written`);
  for (const [ending, [path = '']] of Object.entries(settings.interpreters)) {
    const isProgram = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!isProgram) problems.push(`interpreters.${ending}: ${path} is no program`);
  }
  for (const name of Object.keys(settings.pinned)) {
    if (!(extname(name) in settings.interpreters)) {
      problems.push(`pinned.${name}: no interpreter for ${extname(name) || 'it'}`);
    }
    const found = await stat(join(settings.folder, name)).catch(() => null);
    if (!found?.isFile()) problems.push(`pinned.${name}: there is no such file in the folder`);
  }
  const mayChange = (await isWritable(settings.folder))
    ? [`folder: ${settings.folder} may be written by this user, and so by what it runs`]
    : [];
  return { problems, warnings: mayChange };
}

function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}
