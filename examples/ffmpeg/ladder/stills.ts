/** A poster, and small pictures for the bar of a player: sheets of them, and a WebVTT file that says what is where. Pure. */
import { GUARDED_INPUT } from '../../media/input-guard.ts';
import type { VideoStream } from '../../media/media.ts';
import { planPicture } from '../../media/picture.ts';
import { TELLING } from '../../media/attempt/run-ffmpeg.ts';
import type { Profile } from './profile.ts';

type Sprites = NonNullable<Profile['sprites']>;

const QUALITY = ['-q:v', '4'];
const READING = [...TELLING, '-threads', '1', ...GUARDED_INPUT];

/** Of a rung, so that it is upright and of the size that is shown. */
export function posterArguments(
  rung: string,
  video: VideoStream,
  at: number,
  target: string,
): string[] {
  const { filters } = planPicture(video, { codec: 'h264' });
  const one = ['-map', '0:V:0', '-vf', filters.join(','), '-frames:v', '1', '-update', '1'];
  return [...READING, '-ss', at.toFixed(3), '-i', `file:${rung}`, ...one, ...still(target)];
}

export interface SpriteSheets {
  readonly width: number;
  readonly height: number;
  readonly count: number;
  readonly sheetCount: number;
}

export function planSprites(sprites: Sprites, video: VideoStream, seconds: number): SpriteSheets {
  const { width, every_seconds: every, columns, rows } = sprites;
  const height = Math.max(2, 2 * Math.round((width * video.height) / video.width / 2));
  const count = Math.max(1, Math.ceil(seconds / every - 1e-6));
  return { width, height, count, sheetCount: Math.ceil(count / (columns * rows)) };
}

/** One picture for each stretch, from its beginning. `folder` gets `sprites-1.jpg` and so on. */
export function spriteArguments(
  rung: string,
  video: VideoStream,
  sprites: Sprites,
  sheets: SpriteSheets,
  folder: string,
): string[] {
  const { filters } = planPicture(video, { codec: 'h264' });
  const { every_seconds: every, columns, rows } = sprites;
  const chain = [
    `fps=1/${every}:start_time=0:round=up`,
    ...filters,
    `scale=${sheets.width}:${sheets.height}`,
    `tile=${columns}x${rows}`,
  ];
  const some = ['-map', '0:V:0', '-vf', chain.join(','), '-frames:v', String(sheets.sheetCount)];
  // A `%` of the folder would be read as a number's place.
  const target = `${folder.replaceAll('%', '%%')}/sprites-%d.jpg`;
  return [...READING, '-i', `file:${rung}`, ...some, ...still(target)];
}

export function spriteTrack(sprites: Sprites, sheets: SpriteSheets, seconds: number): string {
  const { every_seconds: every, columns, rows } = sprites;
  const { width, height } = sheets;
  const cues = Array.from({ length: sheets.count }, (_, n) => {
    const place = n % (columns * rows);
    const sheet = Math.floor(n / (columns * rows)) + 1;
    const [x, y] = [(place % columns) * width, Math.floor(place / columns) * height];
    const until = Math.min(seconds, (n + 1) * every);
    return `${clock(n * every)} --> ${clock(until)}\nsprites-${sheet}.jpg#xywh=${x},${y},${width},${height}\n`;
  });
  return `WEBVTT\n\n${cues.join('\n')}`;
}

function still(target: string): string[] {
  return [...QUALITY, '-f', 'image2', '-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p', `file:${target}`];
}

function clock(seconds: number): string {
  return new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23);
}
