/**
 * What the picture of an output will be, decided from the input before anything is encoded: its
 * size, how it is fitted, its depth and colours, and the filters that bring it there. Pure.
 *
 * Players show a picture turned, stretched by its pixel aspect and mapped to their screen. An
 * output carries none of these instructions but colours: it is stored as it is to be shown.
 */
import type { VideoStream } from './media.ts';

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixelFormat: 'yuv420p' | 'yuv420p10le';
  /** Of the input, where it stays HDR. */
  readonly transfer: Hdr | null;
  /** Applied in this order to the decoded and turned frames. */
  readonly filters: readonly string[];
  /** Needs the filters `zscale` and `tonemap`, which not every ffmpeg has. */
  readonly toneMapped: boolean;
}

const hdrTransfers = ['smpte2084', 'arib-std-b67'] as const;
type Hdr = (typeof hdrTransfers)[number];

/** What is not given stays as in the input. */
export interface PictureWishes {
  readonly codec: string;
  readonly profile?: string | undefined;
  /** `WIDTHxHEIGHT`. */
  readonly resolution?: string | undefined;
  readonly frame_rate?: number | undefined;
}

/** Shapes that differ by less are taken for equal: 854x480 is not quite 16:9. */
const ASPECT_TOLERANCE = 0.01;

export function planPicture(input: VideoStream, wishes: PictureWishes): Picture {
  const shown = shownSize(input);
  const [width, height] = wishes.resolution
    ? (wishes.resolution.split('x').map(Number) as [number, number])
    : [even(shown.width), even(shown.height)];
  const deep = keepsDepth(input, wishes);
  const transfer = hdrTransfers.find((name) => name === input.transfer) ?? null;
  const toneMapped = transfer !== null && !deep;
  return {
    width,
    height,
    pixelFormat: deep ? 'yuv420p10le' : 'yuv420p',
    transfer: toneMapped ? null : transfer,
    toneMapped,
    filters: [
      ...(input.interlaced ? ['bwdif=mode=send_frame:deint=interlaced'] : []),
      ...(toneMapped ? [TONE_MAP] : []),
      ...fit(shown, { width, height }),
      'setsar=1',
      ...(wishes.frame_rate === undefined ? [] : [`fps=${wishes.frame_rate}`]),
    ],
  };
}

/** To BT.709 and 8 bits, by way of linear light. 100 nits is the peak that SDR assumes. */
const TONE_MAP =
  'zscale=t=linear:npl=100,format=gbrpf32le,zscale=p=bt709,tonemap=hable:desat=0,' +
  'zscale=t=bt709:m=bt709:r=tv,format=yuv420p';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** As players show it: with square pixels, then turned. */
export function shownSize({ width, height, pixelAspect, rotation }: VideoStream): Size {
  const wide = Math.max(2, Math.round(width * pixelAspect));
  return rotation % 180 === 90 ? { width: height, height: wide } : { width: wide, height };
}

/** The encoders take even sides only. */
function even(side: number): number {
  return Math.max(2, side - (side % 2));
}

/** The whole picture, with black beside or above it where the shapes differ. */
function fit(shown: Size, target: Size): string[] {
  const { width, height } = target;
  const shape = shown.width / shown.height / (width / height);
  if (Math.abs(shape - 1) <= ASPECT_TOLERANCE) return [`scale=${width}:${height}`];
  const inner =
    shape > 1
      ? { width, height: even(Math.round(height / shape)) }
      : { width: even(Math.round(width * shape)), height };
  const [x, y] = [(width - inner.width) / 2, (height - inner.height) / 2];
  // Chroma is stored for two pixels together, so that the corner has to be even too.
  const corner = [x, y].map((side) => side - (side % 2)).join(':');
  return [`scale=${inner.width}:${inner.height}`, `pad=${width}:${height}:${corner}`];
}

/** H.264 of 10 bits plays hardly anywhere; H.265 and VP9 of 10 bits do. */
function keepsDepth(input: VideoStream, wishes: PictureWishes): boolean {
  if (wishes.codec === 'h264' || wishes.profile === 'main') return false;
  return /p(?:9|1[0-6])(?:le|be)?$|^p01[06]/.test(input.pixelFormat ?? '');
}
