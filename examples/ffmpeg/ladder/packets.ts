/** The packets of a video, as ffprobe lists them: where its key frames are, and whether it is what a rung has to be. */
import { type ChildLimits } from '../../media/attempt/run-ffmpeg.ts';
import { runChild } from '../../media/child-process.ts';
import { describeFfmpegFailure } from '../../media/failures.ts';
import type { VideoStream } from '../../media/media.ts';
import { GUARDED_INPUT } from '../../media/input-guard.ts';
import { secondsOf } from '../../media/frame-rate.ts';
import type { Profile } from './profile.ts';
import type { Grid, Rung } from './plan.ts';

export interface Packet {
  readonly seconds: number;
  readonly isKey: boolean;
  readonly bytes: number;
}

/** A day of 120 frames a second, and some more. */
export const PACKETS_MAX = 11_000_000;

/** In columns, 13 bytes for each: as objects the packets of a day would not fit into the heap. */
export class Packets implements Iterable<Packet> {
  #seconds = new Float64Array(1024);
  #bytes = new Uint32Array(1024);
  #isKey = new Uint8Array(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add({ seconds, bytes, isKey }: Packet): void {
    if (this.#length === this.#seconds.length) this.#grow();
    this.#seconds[this.#length] = seconds;
    this.#bytes[this.#length] = bytes;
    this.#isKey[this.#length] = Number(isKey);
    this.#length += 1;
  }

  /** Of all, in a copy. */
  times(): Float64Array {
    return this.#seconds.slice(0, this.#length);
  }

  *[Symbol.iterator](): Generator<Packet> {
    for (let n = 0; n < this.#length; n++) {
      const [seconds = Number.NaN, bytes = 0] = [this.#seconds[n], this.#bytes[n]];
      yield { seconds, bytes, isKey: this.#isKey[n] === 1 };
    }
  }

  #grow(): void {
    const [seconds, bytes, isKey] = [this.#seconds, this.#bytes, this.#isKey];
    const room = 2 * seconds.length;
    this.#seconds = new Float64Array(room);
    this.#bytes = new Uint32Array(room);
    this.#isKey = new Uint8Array(room);
    this.#seconds.set(seconds);
    this.#bytes.set(bytes);
    this.#isKey.set(isKey);
  }
}

/** Reads the lines of ffprobe. */
export class PacketReader {
  readonly packets = new Packets();
  readonly #most: number;
  #rest = '';
  #isFull = false;

  constructor(most = PACKETS_MAX) {
    this.#most = most;
  }

  /** There were more than it takes: they are not all in `packets`. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** False once it is full. */
  read(text: string): boolean {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      this.#isFull ||= this.packets.length === this.#most;
      if (this.#isFull) return false;
      const [seconds = '', bytes = '', flags = ''] = line.split(',');
      this.packets.add({
        seconds: Number(seconds),
        bytes: Number(bytes),
        isKey: flags.startsWith('K'),
      });
    }
    return true;
  }
}

/** In the order of decoding. Null: there are more than `PACKETS_MAX`. */
export async function packetsOf(
  ffprobe: string,
  path: string,
  what: string,
  limits: ChildLimits,
): Promise<Packets | null> {
  const reader = new PacketReader();
  const entries = ['-select_streams', 'V:0', '-show_entries', 'packet=pts_time,size,flags'];
  const args = [
    '-v',
    'error',
    '-of',
    'csv=p=0',
    ...entries,
    ...GUARDED_INPUT,
    '-i',
    `file:${path}`,
  ];
  const end = await runChild(ffprobe, args, {
    ...limits,
    // More than it takes is no headway, and ends it.
    onStdout: (text) => reader.read(text),
  });
  if (end.why === 'aborted') throw limits.signal.reason;
  if (reader.isFull) return null;
  if (end.code !== 0) throw describeFfmpegFailure(what, 'could not list its packets', end.stderr);
  return reader.packets;
}

/** What keeps these packets from being a rung on the grid, as the end of a sentence; null: nothing. */
export function gridDefect(packets: Packets, grid: Grid): string | null {
  const half = secondsOf(1, grid.rate) / 2;
  const times = packets.times().sort();
  // Containers round times; a quarter of a frame is no rounding.
  const off = times.findIndex((at, n) => !(Math.abs(at - secondsOf(n, grid.rate)) < half / 2));
  if (off >= 0) return `its frame ${off} is at ${times[off]} s`;
  let [key, keyCount] = [-1, 0];
  let odd: number | null = null;
  for (const { seconds, isKey } of packets) {
    // In the order of decoding: what is shown before the key frame that it follows belongs to an open GOP.
    if (!isKey && seconds < key) return `its GOP at ${key} s is open`;
    if (!isKey) continue;
    key = seconds;
    const expected = secondsOf(keyCount++ * grid.gopFrames, grid.rate);
    if (Math.abs(seconds - expected) >= half) odd ??= seconds;
  }
  if (odd !== null) return `it has a key frame at ${odd} s`;
  const expectedCount = Math.ceil(packets.length / grid.gopFrames);
  return keyCount === expectedCount
    ? null
    : `it has ${keyCount} key frames instead of ${expectedCount}`;
}

/** Whether what the container says of a source allows its copy as this rung: then its packets are worth a look. */
export function mayBeCopied(video: VideoStream, rung: Rung, profile: Profile): boolean {
  const codec = profile.codec === 'h264' ? 'h264' : 'hevc';
  const { width, height } = rung.picture;
  return (
    profile.copy &&
    video.codec === codec &&
    video.width === width &&
    video.height === height &&
    video.rotation === 0 &&
    video.pixelAspect === 1 &&
    !video.interlaced &&
    video.pixelFormat === rung.picture.pixelFormat &&
    !rung.picture.toneMapped
  );
}

/** The most that a GOP has. A last one of less than half of it counts together with the one before. */
export function peakKbps(packets: Packets, grid: Grid): number {
  const kbpsOf = (bytes: number, frames: number) =>
    (bytes * 8) / 1000 / secondsOf(frames, grid.rate);
  let [peak, before, bytes] = [0, 0, 0];
  for (const packet of packets) {
    if (packet.isKey) {
      peak = Math.max(peak, kbpsOf(bytes, grid.gopFrames));
      [before, bytes] = [bytes, 0];
    }
    bytes += packet.bytes;
  }
  const rest = packets.length % grid.gopFrames || grid.gopFrames;
  const isShort = 2 * rest < grid.gopFrames && before > 0;
  const last = isShort ? kbpsOf(before + bytes, grid.gopFrames + rest) : kbpsOf(bytes, rest);
  return Math.max(peak, last);
}
