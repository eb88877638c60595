#!/usr/bin/env node
/** An executor for `ffmpeg.transcode`, `ffmpeg.edit` and `ffmpeg.ladder` as a process: the environment in, an exit code out. */
import { realpath } from 'node:fs/promises';
import { createExecutor } from '@soda-scheduler/executor-sdk';
import { z } from 'zod';
import { findFfmpeg, missingProgram } from '../media/binaries.ts';
import { MediaRoot } from '../media/media-root.ts';
import { COMMON_SETTINGS, executorOptions, DEFAULT_URL, runProgram } from '../media/program.ts';
import { STORAGE_HELP, STORAGE_SETTINGS, storageOf } from '../storage/settings.ts';
import { editHandler } from './edit/edit.ts';
import { ladderHandler } from './ladder/ladder.ts';
import { readProfiles } from './ladder/profile.ts';
import type { FfmpegSettings } from './renditions.ts';
import { transcodeHandler } from './transcode.ts';

const HELP = `Runs tasks of the types ffmpeg.transcode, ffmpeg.edit and, where there is an ffprobe, ffmpeg.ladder. Settings are environment variables:

  MEDIA_ROOT           the one directory that is read and written (required)
  SODA_URL             the master (${DEFAULT_URL})
  SODA_EXECUTOR_TOKEN  opens the session; or SODA_EXECUTOR_TOKEN_FILE, where it is in a file
  SODA_CA_FILE         whom to trust behind https (those that Node trusts)
  FREE_MB_MIN          with less room in it, it is offered no task (200)
  FFMPEG, FFPROBE      the programs (from PATH)
  FFMPEG_THREADS       for decoding and encoding each (ffmpeg decides)
  PROFILES             a file of YAML or JSON with profiles of ffmpeg.ladder (one named default)
  KEYS                 the folder with keys for AES-128, outside of MEDIA_ROOT (nothing is encrypted)
  STALL_SECONDS        an ffmpeg without headway for so long is ended (60)
  DRAIN_SECONDS        how long a running task may go on after SIGTERM (10)

Inputs and outputs elsewhere, each off until it is set:

${STORAGE_HELP}`;

const settings = z.object({
  ...COMMON_SETTINGS,
  ...STORAGE_SETTINGS,
  FREE_MB_MIN: z.coerce.number().min(0).max(1e9).default(200),
  PROFILES: z.string().min(1).optional(),
  KEYS: z.string().min(1).optional(),
  STALL_SECONDS: z.coerce.number().min(1).max(86_400).default(60),
});

async function main(env: z.output<typeof settings>): Promise<void> {
  const programs = await findFfmpeg(process.env);
  const mediaRoot = await MediaRoot.open(env.MEDIA_ROOT);
  const freeBytesMin = env.FREE_MB_MIN * 1e6;
  const ffmpegSettings: FfmpegSettings = {
    ...programs,
    mediaRoot,
    storage: storageOf(env),
    threads: env.FFMPEG_THREADS ?? null,
    stallMs: env.STALL_SECONDS * 1000,
  };
  const profiles = await readProfiles(env.PROFILES);
  const keys = env.KEYS === undefined ? null : await realpath(env.KEYS);
  if (keys !== null && mediaRoot.holds(keys)) {
    throw new Error(`KEYS ${env.KEYS} is inside MEDIA_ROOT, where tasks could read it`);
  }
  const executor = createExecutor({
    ...executorOptions(env),
    scratchDir: env.MEDIA_ROOT,
    ready: async () =>
      (await missingProgram(programs)) ?? (await mediaRoot.problem(freeBytesMin)) ?? true,
  })
    .handle('ffmpeg.transcode', transcodeHandler(ffmpegSettings))
    .handle('ffmpeg.edit', editHandler(ffmpegSettings));
  const { ffprobe } = programs;
  if (ffprobe !== null) {
    executor.handle('ffmpeg.ladder', ladderHandler({ ...ffmpegSettings, ffprobe, profiles, keys }));
  }
  await executor.start();
}

runProgram(HELP, settings, main);
