#!/usr/bin/env node
/** An executor for `ffmpeg.transcode` as a process: the environment in, an exit code out. */
import { createExecutor } from '@soda-scheduler/executor-sdk';
import { z } from 'zod';
import { findFfmpeg, missingProgram } from '../media/binaries.ts';
import { MediaRoot } from '../media/media-root.ts';
import { transcodeHandler } from './transcode.ts';

const DEFAULT_URL = 'http://127.0.0.1:18890';

const HELP = `Runs tasks of type ffmpeg.transcode. Settings are environment variables:

  MEDIA_ROOT           the one directory that is read and written (required)
  SODA_URL             the master (${DEFAULT_URL})
  SODA_EXECUTOR_TOKEN  opens the session
  FREE_MB_MIN          with less room in it, it is offered no task (200)
  FFMPEG, FFPROBE      the programs (from PATH)
  FFMPEG_THREADS       for decoding and encoding each (ffmpeg decides)
  STALL_SECONDS        an ffmpeg without headway for so long is ended (60)
  DRAIN_SECONDS        how long a running task may go on after SIGTERM (10)`;

const settings = z.object({
  MEDIA_ROOT: z.string({ error: 'name the directory of the media files' }).min(1),
  SODA_URL: z.url().default(DEFAULT_URL),
  SODA_EXECUTOR_TOKEN: z.string().optional(),
  FREE_MB_MIN: z.coerce.number().min(0).max(1e9).default(200),
  FFMPEG_THREADS: z.coerce.number().int().min(1).max(256).optional(),
  STALL_SECONDS: z.coerce.number().min(1).max(86_400).default(60),
  DRAIN_SECONDS: z.coerce.number().min(0).max(86_400).default(10),
});

async function main(): Promise<void> {
  const env = settings.safeParse(process.env);
  if (!env.success) {
    const problems = env.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new Error(problems.join('\n'));
  }
  const programs = await findFfmpeg(process.env);
  const mediaRoot = await MediaRoot.open(env.data.MEDIA_ROOT);
  const freeBytesMin = env.data.FREE_MB_MIN * 1e6;
  const handler = transcodeHandler({
    ...programs,
    mediaRoot,
    threads: env.data.FFMPEG_THREADS ?? null,
    stallMs: env.data.STALL_SECONDS * 1000,
  });
  const token = env.data.SODA_EXECUTOR_TOKEN;
  await createExecutor({
    url: env.data.SODA_URL,
    ...(token === undefined ? {} : { token }),
    ready: async () =>
      (await missingProgram(programs)) ?? (await mediaRoot.problem(freeBytesMin)) ?? true,
    drainTimeoutMs: env.data.DRAIN_SECONDS * 1000,
  })
    .handle('ffmpeg.transcode', handler)
    .start();
}

if (process.argv.some((arg) => arg === '--help' || arg === '-h')) {
  console.log(HELP);
} else {
  main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
