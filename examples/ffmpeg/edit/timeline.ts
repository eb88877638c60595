/**
 * A timeline with times becomes one with frames, and that becomes one filter graph. Pure.
 *
 * All is brought onto one canvas: a size, a frame rate, a sample rate, a number of channels. Frames of the canvas are
 * counted from the beginning of each input; a cut falls on the frame that is nearest to its time, and the sound is cut at
 * the sample that belongs to that frame. So picture and sound have the same length in each piece, and none can drift.
 */
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import {
  exactRate,
  type FrameRate,
  frameAt,
  rateOf,
  rateText,
  secondsOf,
} from '../../media/frame-rate.ts';
import { GUARDED_INPUT, PIXELS_MAX, SECONDS_MAX } from '../../media/input-guard.ts';
import type { Media } from '../../media/media.ts';
import { planPicture, shownSize } from '../../media/picture.ts';
import { layoutOf } from '../../media/sound.ts';
import { TELLING, threadsEach, threadsOfFilters } from '../../media/attempt/run-ffmpeg.ts';
import type { EditParams, Piece } from './params.ts';

export interface Canvas {
  /** Null: the timeline is sound alone. */
  readonly resolution: string | null;
  /** Of sound alone, its samples are the frames. */
  readonly rate: FrameRate;
  readonly sampleRate: number;
  /** 0: no sound. */
  readonly channels: number;
}

export type Cut =
  | {
      readonly kind: 'clip';
      readonly path: string;
      readonly media: Media;
      /** The first frame of it, and the first that is not in it any more. */
      readonly from: number;
      readonly to: number;
      readonly mute: boolean;
    }
  | { readonly kind: 'filler'; readonly frameCount: number };

export interface Timeline {
  readonly canvas: Canvas;
  readonly cuts: readonly Cut[];
  readonly frameCount: number;
}

export interface Input {
  readonly path: string;
  readonly media: Media;
}

/** How far before a cut decoding begins: a container may find a key frame somewhat late only. */
const SEEK_MARGIN_SECONDS = 10;
/** By so much the last frame is held where a stream ends a little before it should. */
const HOLD_SECONDS = 1;
const DECODED_PIXELS_MAX = 4 * PIXELS_MAX;

/** @throws {NonRetryableError} a piece that cannot be cut, with its field. */
export function planTimeline(
  params: Pick<EditParams, 'timeline' | 'canvas'>,
  inputs: ReadonlyMap<string, Input>,
): Timeline {
  const canvas = planCanvas(params, inputs);
  const cuts = params.timeline.map((piece, index) => {
    return planCut(piece, canvas, inputs, (field, message) => {
      const path = [`timeline.${index}`, ...(field === '' ? [] : [field])].join('.');
      return new NonRetryableError(`These parameters cannot be used: ${path}: ${message}`);
    });
  });
  assertDecodable(canvas, cuts);
  const frameCount = cuts.reduce((sum, cut) => sum + lengthOf(cut), 0);
  if (secondsOf(frameCount, canvas.rate) > SECONDS_MAX) {
    throw new NonRetryableError(`timeline: expected up to ${SECONDS_MAX} s in all`);
  }
  return { canvas, cuts, frameCount };
}

/**
 * Each clip has a decoder of its own, and they are open together: a decoder holds some twenty frames.
 * @throws {NonRetryableError} the frames of all clips have too many pixels.
 */
function assertDecodable({ resolution }: Canvas, cuts: readonly Cut[]): void {
  if (resolution === null) return;
  const pixels = cuts.reduce((sum, cut) => {
    const video = cut.kind === 'clip' ? cut.media.video : null;
    return sum + (video === null ? 0 : video.width * video.height);
  }, 0);
  if (pixels <= DECODED_PIXELS_MAX) return;
  throw new NonRetryableError(
    `timeline: the pictures of its clips have ${pixels} pixels together: up to ${DECODED_PIXELS_MAX} ` +
      '(four of 8192x4320, 64 of 1920x1080) are taken',
  );
}

function planCanvas(
  { timeline, canvas }: Pick<EditParams, 'timeline' | 'canvas'>,
  inputs: ReadonlyMap<string, Input>,
): Canvas {
  const clips = timeline.flatMap((piece) => {
    const input = piece.kind === 'clip' ? inputs.get(piece.input) : undefined;
    return input === undefined
      ? []
      : [{ ...input.media, mute: piece.kind === 'clip' && piece.mute }];
  });
  const first = clips.find(({ video }) => video !== null)?.video ?? null;
  const hasPicture = first !== null || timeline.some(({ kind }) => kind === 'black');
  const shown = first && shownSize(first);
  const even = (side: number) => Math.max(16, side - (side % 2));
  const { sample_rate: sampleRate } = canvas;
  const own = shown ? `${even(shown.width)}x${even(shown.height)}` : '1280x720';
  const picture =
    canvas.frame_rate === undefined
      ? rateOf(first ?? { frameRate: null, closestRate: null })
      : exactRate(canvas.frame_rate);
  const sounds = clips.filter(({ audio, mute }) => audio !== null && !mute);
  const channels = canvas.channels ?? (sounds.every(({ audio }) => audio?.channels === 1) ? 1 : 2);
  const hasSound = canvas.sound ?? (sounds.length > 0 || !hasPicture);
  return {
    resolution: hasPicture ? (canvas.resolution ?? own) : null,
    rate: hasPicture ? picture : { frames: sampleRate, perSeconds: 1 },
    sampleRate,
    channels: hasSound ? channels : 0,
  };
}

function planCut(
  piece: Piece,
  { resolution, rate }: Canvas,
  inputs: ReadonlyMap<string, Input>,
  refusal: (field: string, message: string) => Error,
): Cut {
  if (piece.kind !== 'clip') {
    if (piece.kind === 'silence' && resolution !== null) {
      throw refusal('silence', 'the timeline has a picture: expected black, which is silent');
    }
    const frameCount = frameAt(piece.seconds, rate);
    if (frameCount === 0) throw refusal(piece.kind, 'expected at least one frame');
    return { kind: 'filler', frameCount };
  }
  const { path, media } = inputs.get(piece.input) as Input;
  if (resolution !== null && media.video === null) {
    throw refusal('input', `${piece.input} has no picture, but others have`);
  }
  const stream = resolution === null ? media.audio : media.video;
  const length = stream?.seconds ?? media.seconds;
  if (length === null && piece.end === undefined) {
    throw refusal('end', `expected it: ${piece.input} does not say how long it is`);
  }
  // What a container says is rounded: half a frame more is no more.
  const most = length === null ? Number.POSITIVE_INFINITY : frameAt(length, rate);
  const to = piece.end === undefined ? most : frameAt(piece.end, rate);
  const from = frameAt(piece.start, rate);
  if (to > most && !media.secondsAreGuessed) {
    throw refusal('end', `${piece.input} is ${length} s long`);
  }
  if (from >= to) throw refusal('start', `expected at least one frame of ${piece.input} after it`);
  return { kind: 'clip', path, media, from, to, mute: piece.mute };
}

export function lengthOf(cut: Cut): number {
  return cut.kind === 'clip' ? cut.to - cut.from : cut.frameCount;
}

/** For a file of sound and picture that lose nothing; see `edit.ts` for why. */
export function joinArguments(
  timeline: Timeline,
  options: {
    readonly temporary: string;
    readonly fingerprint: string;
    readonly threads: number | null;
  },
): string[] {
  const { canvas, cuts } = timeline;
  const threads = threadsEach(options.threads);
  const inputs = cuts.flatMap((cut) => {
    if (cut.kind !== 'clip') return [];
    const seek = Math.floor(secondsOf(cut.from, canvas.rate)) - SEEK_MARGIN_SECONDS;
    const seekTo = seek > 0 ? ['-ss', String(seek)] : [];
    return [...threads, ...seekTo, ...GUARDED_INPUT, '-i', `file:${cut.path}`];
  });
  const video = ['-map', '[v]', '-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '0'];
  return [
    // Times stay those of the inputs, wherever decoding begins.
    ...[...TELLING, ...threadsOfFilters(options.threads), '-copyts', '-start_at_zero', ...inputs],
    ...['-filter_complex', joinGraph(timeline)],
    ...(canvas.resolution === null ? [] : video),
    ...(canvas.channels === 0 ? [] : ['-map', '[a]', '-c:a', 'pcm_s16le']),
    ...['-max_muxing_queue_size', '9999', ...threads],
    ...['-metadata', `comment=${options.fingerprint}`, '-f', 'mov', `file:${options.temporary}`],
  ];
}

/** `[0:V:0]… -> [v0]`, `[0:a:0]… -> [a0]` and so on, concatenated to `[v]` and `[a]`. */
export function joinGraph({ canvas, cuts }: Timeline): string {
  const chains: string[] = [];
  const [v, a] = [canvas.resolution === null ? 0 : 1, canvas.channels === 0 ? 0 : 1];
  let input = 0;
  let position = 0;
  for (const [index, cut] of cuts.entries()) {
    // From the whole, so that rounding cannot add up.
    const samples = sampleAt(position + lengthOf(cut), canvas) - sampleAt(position, canvas);
    position += lengthOf(cut);
    if (v) chains.push(`${videoChain(cut, canvas, input)}[v${index}]`);
    if (a) chains.push(`${audioChain(cut, canvas, input, samples)}[a${index}]`);
    if (cut.kind === 'clip') input++;
  }
  const pads = cuts.map((_, n) => `${v ? `[v${n}]` : ''}${a ? `[a${n}]` : ''}`).join('');
  return [
    ...chains,
    `${pads}concat=n=${cuts.length}:v=${v}:a=${a}${v ? '[v]' : ''}${a ? '[a]' : ''}`,
  ].join(';');
}

function videoChain(cut: Cut, { resolution, rate }: Canvas, input: number): string {
  const size = resolution ?? '';
  const fps = rateText(rate);
  if (cut.kind === 'filler') {
    return `color=c=black:s=${size}:r=${fps},trim=end_frame=${cut.frameCount},setsar=1,format=yuv420p`;
  }
  const video = cut.media.video;
  const filters = video ? planPicture(video, { codec: 'h264', resolution: size }).filters : [];
  const { from, to } = cut;
  return (
    `[${input}:V:0]fps=${fps}:start_time=${secondsOf(from, rate)},` +
    `tpad=stop_mode=clone:stop_duration=${HOLD_SECONDS},` +
    `trim=end_frame=${to - from},setpts=N/(${fps})/TB,${filters.join(',')},format=yuv420p`
  );
}

function audioChain(cut: Cut, canvas: Canvas, input: number, samples: number): string {
  const { sampleRate } = canvas;
  const layout = layoutOf(canvas.channels) ?? 'stereo';
  if (cut.kind === 'filler' || cut.mute || cut.media.audio === null) {
    return `anullsrc=r=${sampleRate}:cl=${layout},atrim=end_sample=${samples}`;
  }
  const first = sampleAt(cut.from, canvas);
  // `first_pts` counts samples of what comes in: so those of the canvas come in there. What
  // `apad` adds to no sound at all has no times until `asetpts`.
  return (
    `[${input}:a:0]aresample=${sampleRate},aresample=${sampleRate}:async=1:first_pts=${first},` +
    `aformat=sample_fmts=s16:channel_layouts=${layout},apad,` +
    `asetpts=N/SR/TB,atrim=end_sample=${samples}`
  );
}

function sampleAt(frame: number, { rate, sampleRate }: Canvas): number {
  return Math.round(secondsOf(frame, rate) * sampleRate);
}

/** What the joined file will be, as a probe would tell it. */
export function mediaOf({ canvas, frameCount }: Timeline): Media {
  const seconds = secondsOf(frameCount, canvas.rate);
  const [width = 0, height = 0] = (canvas.resolution ?? '').split('x').map(Number);
  return {
    seconds,
    secondsAreGuessed: false,
    comment: null,
    video:
      canvas.resolution === null
        ? null
        : {
            ...{ codec: 'h264', width, height, rotation: 0, pixelAspect: 1 },
            frameRate: canvas.rate.frames / canvas.rate.perSeconds,
            closestRate: null,
            ...{ pixelFormat: 'yuv420p', transfer: null, interlaced: false, seconds },
          },
    audio:
      canvas.channels === 0
        ? null
        : {
            ...{ codec: 'pcm_s16le', sampleRate: canvas.sampleRate },
            ...{ channels: canvas.channels, seconds },
          },
  };
}
