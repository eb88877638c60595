#!/usr/bin/env node
/** An executor for `ffmpeg.push` as a process: the environment in, an exit code out. */
import { createExecutor } from '@soda-scheduler/executor-sdk';
import { z } from 'zod';
import { findFfmpeg, missingProgram } from '../media/binaries.ts';
import { runChild } from '../media/child-process.ts';
import { MediaRoot } from '../media/media-root.ts';
import { COMMON_SETTINGS, executorOptions, DEFAULT_URL, runProgram } from '../media/program.ts';
import { inputsPreparer } from './inputs.ts';
import { pushHandler } from './push.ts';

const HELP = `Runs tasks of type ffmpeg.push. Settings are environment variables:

  MEDIA_ROOT           the one directory that is read, and written where a task says "path" (required)
  PUSH_HOSTS           where it may push to: host or host:port, with commas between (nowhere)
  SODA_URL             the master (${DEFAULT_URL})
  SODA_EXECUTOR_TOKEN  opens the session; or SODA_EXECUTOR_TOKEN_FILE, where it is in a file
  SODA_CA_FILE         whom to trust behind https (those that Node trusts)
  LEASE_SECONDS        without the master it ends its push after two thirds of it, and another executor begins after it (6)
  FFMPEG, FFPROBE      the programs (from PATH)
  FFMPEG_THREADS       for decoding and encoding each (ffmpeg decides)
  EXECUTOR_ID          its name, for drains and settings that last (host name and six random characters)
  EXECUTOR_LABELS      what tasks may require of it, with commas between: gpu,zone:b (none)
  DRAIN_SECONDS        how long a running push may go on after SIGTERM (10)`;

const LEASE_SECONDS = 6;
const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[1-9]\d{0,4})?$/;

const settings = z.object({
  ...COMMON_SETTINGS,
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
  LEASE_SECONDS: z.coerce.number().min(6).max(3_600).default(LEASE_SECONDS),
});

async function main(env: z.output<typeof settings>): Promise<void> {
  const programs = await findFfmpeg(process.env);
  const mediaRoot = await MediaRoot.open(env.MEDIA_ROOT);
  const leaseMs = Math.round(env.LEASE_SECONDS * 1000);
  const inputs = { ...programs, mediaRoot, probed: { inputs: [] } };
  const handler = pushHandler({
    ...inputs,
    allowedHosts: new Set(env.PUSH_HOSTS),
    threads: env.FFMPEG_THREADS ?? null,
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
  await createExecutor({
    ...executorOptions(env),
    leaseMs,
    ready: async () =>
      (await missingProgram(programs)) ??
      (await mediaRoot.problem(0)) ??
      (await missingPartOnce()) ??
      true,
  })
    .handle('ffmpeg.push', handler, { prepare: inputsPreparer(inputs) })
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

runProgram(HELP, settings, main);
