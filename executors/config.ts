/** The configuration of `soda-executors`: one YAML or JSON file. What is not in it is off. */
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { requestSettings } from './http-request/params.ts';
import { problemsOf } from './params.ts';
import { scriptSettings } from './script/settings.ts';
import { commandSettings } from './shell-command/settings.ts';

const config = z.strictObject({
  url: z.string().default('http://127.0.0.1:18890'),
  namespace: z.string().optional(),
  id: z.string().optional(),
  labels: z.array(z.string()).default([]),
  /** Instead of `SODA_EXECUTOR_TOKEN`. */
  token_file: z.string().optional(),
  drain_seconds: z.number().min(0).max(86_400).default(10),
  allow_root: z.boolean().default(false),
  'shell.command': commandSettings.optional(),
  'http.request': requestSettings.optional(),
  script: scriptSettings.optional(),
});

export type Config = z.output<typeof config>;

export const types = ['shell.command', 'http.request', 'script'] as const;

/** @throws with all that is wrong, for a person to read. */
export async function readConfig(path: string): Promise<Config> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new Error(`${path} cannot be read: ${error.message}`);
  });
  let given: unknown;
  try {
    given = parse(text);
  } catch (error) {
    throw new Error(`${path} is no YAML: ${(error as Error).message}`, { cause: error });
  }
  const parsed = config.safeParse(given ?? {});
  if (parsed.success) return parsed.data;
  throw new Error(
    problemsOf(parsed.error)
      .map((problem) => `${path}: ${problem}`)
      .join('\n'),
  );
}
