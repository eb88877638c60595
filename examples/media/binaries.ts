/** Finds the ffmpeg and ffprobe of this machine. It never installs or downloads anything. */
import { access, constants } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import type { Prober } from './probe.ts';

/**
 * ffmpeg from `FFMPEG`, else from `PATH`; ffprobe from `FFPROBE`, else beside that ffmpeg, else
 * from `PATH`, else none: then ffmpeg describes files as well.
 * @throws where there is no ffmpeg.
 */
export async function findFfmpeg(env: NodeJS.ProcessEnv): Promise<Prober> {
  const path = (env['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '');
  const ffmpeg = env['FFMPEG'] ?? (await firstExecutable(path, 'ffmpeg'));
  if (ffmpeg === null) {
    throw new Error('There is no ffmpeg on PATH. Install it, or name it with FFMPEG=/path/to/it.');
  }
  if (!(await isExecutable(ffmpeg))) throw new Error(`FFMPEG=${ffmpeg} is no program.`);
  const ffprobe = env['FFPROBE'] ?? (await firstExecutable([dirname(ffmpeg), ...path], 'ffprobe'));
  return { ffmpeg, ffprobe };
}

/** Which of the programs is no more where it was found; null: none. */
export async function missingProgram({ ffmpeg, ffprobe }: Prober): Promise<string | null> {
  for (const program of [ffmpeg, ffprobe]) {
    if (program !== null && !(await isExecutable(program))) return `${program} is not there`;
  }
  return null;
}

async function firstExecutable(directories: string[], name: string): Promise<string | null> {
  for (const directory of directories) {
    const candidate = join(directory, name);
    if (await isExecutable(candidate)) return candidate;
  }
  return null;
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
