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
import { sweep } from './sweep.ts';
import { transcodeHandler } from './transcode.ts';

const HELP = `Runs tasks of the types ffmpeg.transcode, ffmpeg.edit and, where there is an ffprobe, ffmpeg.ladder. Settings are environment variables:

  MEDIA_ROOT           the one directory that is read and written (required)
  SODA_URL             the master (${DEFAULT_URL})
  SODA_EXECUTOR_TOKEN  opens the session; or SODA_EXECUTOR_TOKEN_FILE, where it is in a file
  SODA_CA_FILE         whom to trust behind https (those that Node trusts)
  FREE_MB_MIN          with less room in it, it is offered no task, and fetches no input any further (200)
  FFMPEG, FFPROBE      the programs (from PATH)
  FFMPEG_THREADS       for decoding, filters and encoding each (ffmpeg decides)
  PROFILES             a file of YAML or JSON with profiles of ffmpeg.ladder (one named default)
  KEYS                 the folder with keys for AES-128, outside of MEDIA_ROOT (nothing is encrypted)
  WORK_HOURS           what a task that never runs again has left is removed after so long (168);
                       after an hour where there is less room than FREE_MB_MIN
  STALL_SECONDS        an ffmpeg without headway for so long is ended (60)
  EXECUTOR_ID          its name, for drains and settings that last (host name and six random characters)
  EXECUTOR_LABELS      what tasks may require of it, with commas between: gpu,zone:b (none)
  DRAIN_SECONDS        how long a running task may go on after SIGTERM (10)

Inputs and outputs elsewhere, each off until it is set:

${STORAGE_HELP}`;

const settings = z.object({
  ...COMMON_SETTINGS,
  ...STORAGE_SETTINGS,
  PROFILES: z.string().min(1).optional(),
  KEYS: z.string().min(1).optional(),
  WORK_HOURS: z.coerce.number().min(1).max(1e6).default(168),
  STALL_SECONDS: z.coerce.number().min(1).max(86_400).default(60),
});

const SWEEP_EVERY_MS = 3_600_000;
/** Where there is too little room, what a task has left goes after so long: one that runs says so every ten minutes. */
const UNUSED_MS_IF_FULL = 3_600_000;

function complain(error: unknown): void {
  console.error(`MEDIA_ROOT cannot be swept of all: ${(error as Error).message}`);
}

async function main(env: z.output<typeof settings>): Promise<void> {
  const programs = await findFfmpeg(process.env);
  const mediaRoot = await MediaRoot.open(env.MEDIA_ROOT);
  const storage = storageOf(env);
  const ffmpegSettings: FfmpegSettings = {
    ...programs,
    mediaRoot,
    storage,
    threads: env.FFMPEG_THREADS ?? null,
    stallMs: env.STALL_SECONDS * 1000,
  };
  const profiles = await readProfiles(env.PROFILES);
  const keys = env.KEYS === undefined ? null : await realpath(env.KEYS);
  if (keys !== null && mediaRoot.holds(keys)) {
    throw new Error(`KEYS ${env.KEYS} is inside MEDIA_ROOT, where tasks could read it`);
  }
  const { freeBytesMin } = storage;
  const clean = async () => {
    const isFull = await mediaRoot.isFull(freeBytesMin);
    const unusedMs = isFull ? UNUSED_MS_IF_FULL : env.WORK_HOURS * 3_600_000;
    const removed = await sweep(mediaRoot, unusedMs, complain);
    if (removed.length > 0) {
      console.log(`removed what is left of tasks that do not run again: ${removed.join(', ')}`);
    }
  };
  let wasFull = false;
  const problemOf = async () => {
    const isFull = await mediaRoot.isFull(freeBytesMin);
    // The first time it may be helped at once, then by the hour. It takes longer than an answer may.
    if (isFull && !wasFull) void clean();
    wasFull = isFull;
    return mediaRoot.problem(freeBytesMin);
  };
  const executor = createExecutor({
    ...executorOptions(env),
    scratchDir: env.MEDIA_ROOT,
    ready: async () => (await missingProgram(programs)) ?? (await problemOf()) ?? true,
  })
    .handle('ffmpeg.transcode', transcodeHandler(ffmpegSettings))
    .handle('ffmpeg.edit', editHandler(ffmpegSettings));
  const { ffprobe } = programs;
  if (ffprobe !== null) {
    executor.handle('ffmpeg.ladder', ladderHandler({ ...ffmpegSettings, ffprobe, profiles, keys }));
  }
  setInterval(() => void clean(), SWEEP_EVERY_MS).unref();
  // Beside attempts, too: this one may have a week of many tasks to remove.
  void clean();
  await executor.start();
}

runProgram(HELP, settings, main);
