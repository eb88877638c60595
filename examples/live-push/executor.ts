#!/usr/bin/env node
/** An executor for `ffmpeg.push` as a process: the environment in, an exit code out. */
import { createExecutor } from '@soda-scheduler/executor-sdk';
import { z } from 'zod';
import { findFfmpeg, missingProgram } from '../media/binaries.ts';
import { runChild } from '../media/child-process.ts';
import { MediaRoot } from '../media/media-root.ts';
import { pushHandler } from './push.ts';

const DEFAULT_URL = 'http://127.0.0.1:18890';

const HELP = `Runs tasks of type ffmpeg.push. Settings are environment variables:

  MEDIA_ROOT           the one directory that is read, and written where a task says "path" (required)
  PUSH_HOSTS           where it may push to: host or host:port, with commas between (nowhere)
  SODA_URL             the master (${DEFAULT_URL})
  SODA_EXECUTOR_TOKEN  opens the session
  LEASE_SECONDS        without the master it ends its push after two thirds of it, and another executor begins after it (6)
  FFMPEG, FFPROBE      the programs (from PATH)
  FFMPEG_THREADS       for decoding and encoding each (ffmpeg decides)
  DRAIN_SECONDS        how long a running push may go on after SIGTERM (10)`;

const LEASE_SECONDS = 6;
const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[1-9]\d{0,4})?$/;

const settings = z.object({
  MEDIA_ROOT: z.string({ error: 'name the directory of the media files' }).min(1),
  PUSH_HOSTS: z
    .string()
    .default('')
    .transform((text) =>
      text
        .toLowerCase()
        .split(',')
        .map((host) => host.trim())
        .filter(Boolean),
    )
    .refine((hosts) => hosts.every((host) => HOST.test(host)), {
      error: 'expected host or host:port, with commas between',
    }),
  SODA_URL: z.url().default(DEFAULT_URL),
  SODA_EXECUTOR_TOKEN: z.string().optional(),
  LEASE_SECONDS: z.coerce.number().min(6).max(3_600).default(LEASE_SECONDS),
  FFMPEG_THREADS: z.coerce.number().int().min(1).max(256).optional(),
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
  const leaseMs = Math.round(env.data.LEASE_SECONDS * 1000);
  const handler = pushHandler({
    ...programs,
    mediaRoot,
    allowedHosts: new Set(env.data.PUSH_HOSTS),
    threads: env.data.FFMPEG_THREADS ?? null,
    // The rest of the lease is for ending in; see the SDK.
    standstillMsMax: leaseMs - Math.max(leaseMs / 10, 2_000),
  });
  // It does not change while this process runs.
  let isWhole = false;
  const missingPartOnce = async (): Promise<string | null> => {
    const missing = isWhole ? null : await missingPart(programs.ffmpeg);
    isWhole = missing === null;
    return missing;
  };
  const token = env.data.SODA_EXECUTOR_TOKEN;
  await createExecutor({
    url: env.data.SODA_URL,
    ...(token === undefined ? {} : { token }),
    leaseMs,
    ready: async () =>
      (await missingProgram(programs)) ??
      (await mediaRoot.problem(0)) ??
      (await missingPartOnce()) ??
      true,
    drainTimeoutMs: env.data.DRAIN_SECONDS * 1000,
  })
    .handle('ffmpeg.push', handler)
    .start();
}

/** What this ffmpeg was built without, of what every push needs; null: nothing. */
async function missingPart(ffmpeg: string): Promise<string | null> {
  const list = async (what: string): Promise<string> => {
    let text = '';
    await runChild(ffmpeg, ['-hide_banner', `-${what}`], {
      signal: AbortSignal.timeout(5_000),
      stallMs: 5_000,
      killGraceMs: 500,
      onStdout: (part) => {
        text += part;
        return true;
      },
    });
    return text;
  };
  const [encoders, protocols] = await Promise.all([list('encoders'), list('protocols')]);
  const missing = [
    ...['libx264', 'aac'].filter((name) => !new RegExp(` ${name} `).test(encoders)),
    ...['rtmp', 'file'].filter((name) => !new RegExp(`^ *${name}$`, 'm').test(protocols)),
  ];
  return missing.length === 0 ? null : `this ffmpeg was built without ${missing.join(', ')}`;
}

if (process.argv.some((arg) => arg === '--help' || arg === '-h')) {
  console.log(HELP);
} else {
  main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
