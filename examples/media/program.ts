/**
 * An executor of this folder as a process: the environment in, `--help`, an exit code out. What its tasks do is
 * its own.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

export const DEFAULT_URL = 'http://127.0.0.1:18890';

/** The settings that each has. */
export const COMMON_SETTINGS = {
  MEDIA_ROOT: z.string({ error: 'name the directory of the media files' }).min(1),
  SODA_URL: z.url().default(DEFAULT_URL),
  SODA_EXECUTOR_TOKEN: z.string().optional(),
  SODA_EXECUTOR_TOKEN_FILE: z.string().optional(),
  FFMPEG_THREADS: z.coerce.number().int().min(1).max(256).optional(),
  EXECUTOR_ID: z.string().min(1).optional(),
  /** With commas between. */
  EXECUTOR_LABELS: z.string().default(''),
  DRAIN_SECONDS: z.coerce.number().min(0).max(86_400).default(10),
};

/** The same for `createExecutor`. */
export function executorOptions(env: {
  readonly SODA_URL: string;
  readonly SODA_EXECUTOR_TOKEN?: string | undefined;
  readonly SODA_EXECUTOR_TOKEN_FILE?: string | undefined;
  readonly EXECUTOR_ID?: string | undefined;
  readonly EXECUTOR_LABELS: string;
  readonly DRAIN_SECONDS: number;
}) {
  const token = env.SODA_EXECUTOR_TOKEN ?? textIn(env.SODA_EXECUTOR_TOKEN_FILE);
  const labels = env.EXECUTOR_LABELS.split(',').map((label) => label.trim());
  return {
    url: env.SODA_URL,
    ...(token === undefined ? {} : { token }),
    ...(env.EXECUTOR_ID === undefined ? {} : { id: env.EXECUTOR_ID }),
    labels: labels.filter((label) => label !== ''),
    drainTimeoutMs: env.DRAIN_SECONDS * 1000,
  };
}

/** @throws the file cannot be read. */
export function textIn(file: string | undefined): string | undefined {
  return file === undefined ? undefined : readFileSync(file, 'utf8').trim();
}

/** Runs `main` with the settings of the environment, or says what is wrong with them and ends with 1. */
export function runProgram<Settings extends z.ZodType>(
  help: string,
  settings: Settings,
  main: (env: z.output<Settings>) => Promise<void>,
): void {
  if (process.argv.some((arg) => arg === '--help' || arg === '-h')) {
    console.log(help);
    return;
  }
  const start = async (): Promise<void> => {
    const env = settings.safeParse(process.env);
    if (env.success) return main(env.data);
    const problems = env.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new Error(problems.join('\n'));
  };
  start().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
