/** Clips for tests, made by one process: a start of ffmpeg takes longer than to make one of them. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export interface Clip {
  /** Of libavfilter: what is in it, in this order. */
  readonly of: readonly string[];
  /** How it is written. */
  readonly as?: readonly string[];
}

/** @param clips by the names of their files in the folder. */
export function makeClips(
  ffmpeg: string,
  root: string,
  clips: Readonly<Record<string, Clip>>,
): void {
  const sources = [...new Set(Object.values(clips).flatMap(({ of }) => of))];
  const outputs = Object.entries(clips).flatMap(([name, { of, as = [] }]) => [
    ...of.flatMap((source) => ['-map', String(sources.indexOf(source))]),
    ...as,
    join(root, name),
  ]);
  const inputs = sources.flatMap((source) => ['-f', 'lavfi', '-i', source]);
  execFileSync(ffmpeg, ['-nostdin', '-loglevel', 'error', '-y', ...inputs, ...outputs]);
}

/** More files with the streams of one, as they are. @param files by their names: how each is written. */
export function copyClip(
  ffmpeg: string,
  root: string,
  from: string,
  files: Readonly<Record<string, readonly string[]>>,
): void {
  const outputs = Object.entries(files).flatMap(([name, as]) => [
    ...['-c', 'copy', ...as],
    join(root, name),
  ]);
  const input = ['-nostdin', '-loglevel', 'error', '-y', '-i', join(root, from)];
  execFileSync(ffmpeg, [...input, ...outputs]);
}
