/** The ffmpeg of the demo, installed into the data folder if this machine has none, and a clip. */
import { spawn } from 'node:child_process';
import { chmod, mkdir, rename, stat } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { findFfmpeg } from '../media/binaries.ts';
import { describeExit, runChild } from '../media/child-process.ts';
import type { Prober } from '../media/probe.ts';

// Built in 2018: good enough for a clip of our own, not for files of strangers.
const FFMPEG_PACKAGE = '@ffmpeg-installer/ffmpeg@1.1.0';

export interface FoundFfmpeg extends Prober {
  readonly version: string;
}

export async function provideFfmpeg(
  dataDir: string,
  onInstall: () => void,
  signal: AbortSignal,
): Promise<FoundFfmpeg> {
  const installed = installedIn(dataDir);
  const found =
    (await findFfmpeg(process.env).catch((error: unknown) => {
      if (process.env['FFMPEG'] !== undefined) throw error;
      return null;
    })) ?? (await findFfmpeg({ FFMPEG: installed }).catch(() => null));
  if (found !== null) return describe(found, signal);
  onInstall();
  await install(join(dataDir, 'ffmpeg'), signal);
  // The package would do this in an install script, which npm may have been told not to run.
  await chmod(installed, 0o755);
  return describe(await findFfmpeg({ FFMPEG: installed }), signal);
}

function installedIn(dataDir: string): string {
  const name = platform() === 'win32' ? 'ffmpeg.exe' : 'ffmpeg';
  const packageName = `${platform()}-${arch()}`;
  return join(dataDir, 'ffmpeg/node_modules/@ffmpeg-installer', packageName, name);
}

async function install(folder: string, signal: AbortSignal): Promise<void> {
  await mkdir(folder, { recursive: true });
  const args = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
  const npm = spawn('npm', [...args, '--loglevel=error', FFMPEG_PACKAGE], {
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  let problem = '';
  npm.stderr.setEncoding('utf8').on('data', (text: string) => {
    problem = (problem + text).slice(-2000);
  });
  const code = await new Promise((resolve) => {
    npm.once('error', () => resolve(null));
    npm.once('close', resolve);
  });
  signal.throwIfAborted();
  if (code === 0) return;
  const advice = 'There is no ffmpeg here, and it could not be installed from npm. Install it, or';
  throw new Error(`${advice}\nname it with FFMPEG=/path/to/ffmpeg.\n\n${problem.trim()}`);
}

async function describe(found: Prober, signal: AbortSignal): Promise<FoundFfmpeg> {
  let text = '';
  await runFfmpeg(found, ['-version'], signal, (more) => {
    text += more;
  });
  return { ...found, version: /version (N-\d+|[\d.]+)/.exec(text)?.[1] ?? 'unknown' };
}

/** 20 s of test picture and tone, from ffmpeg's own sources. Made once. */
export async function provideClip(
  ffmpeg: Prober,
  path: string,
  signal: AbortSignal,
): Promise<{ bytes: number }> {
  const existing = await stat(path).catch(() => null);
  if (existing !== null) return { bytes: existing.size };
  const sources = ['testsrc2=size=1280x720:rate=30:duration=20', 'sine=frequency=440:duration=20'];
  const draft = `${path}.draft`;
  await runFfmpeg(
    ffmpeg,
    [
      ...['-nostdin', '-loglevel', 'error', '-y'],
      ...sources.flatMap((source) => ['-f', 'lavfi', '-i', source]),
      ...['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p', '-c:a', 'aac'],
      ...['-f', 'mp4', draft],
    ],
    signal,
  );
  await rename(draft, path);
  return { bytes: (await stat(path)).size };
}

async function runFfmpeg(
  { ffmpeg }: Prober,
  args: string[],
  signal: AbortSignal,
  onText: (text: string) => void = () => {},
): Promise<void> {
  const end = await runChild(ffmpeg, args, {
    ...{ signal, stallMs: 120_000, killGraceMs: 1_000 },
    onStdout: (text) => {
      onText(text);
      return true;
    },
  });
  signal.throwIfAborted();
  if (end.code !== 0) throw new Error(`${ffmpeg} ${describeExit(end)}\n${end.stderr.trim()}`);
}
