/**
 * The playlists of a package. ffmpeg cuts the segments and writes DASH; what it writes for HLS is read here, checked, and
 * written anew: with the peaks of the rungs, with captions, and with keys. Pure.
 */
import type { Caption } from './captions.ts';

export interface Segment {
  readonly file: string;
  readonly seconds: number;
  /** Null: it is not encrypted. */
  readonly iv: string | null;
}

export interface MediaPlaylist {
  readonly init: string;
  readonly segments: readonly Segment[];
}

/** What `EXT-X-TARGETDURATION` says. */
export function targetSeconds(segments: readonly Pick<Segment, 'seconds'>[]): number {
  const longest = segments.reduce((most, { seconds }) => Math.max(most, seconds), 0);
  return Math.max(1, Math.round(longest));
}

/**
 * The most that players need, as RFC 8216 (4.3.4.2) has it: of all runs of segments that are half to one and a half times as
 * long as the target. A last one of two frames is none by itself, however many bytes its key frame has.
 */
export function peakKbpsOf(
  segments: readonly { readonly bytes: number; readonly seconds: number }[],
): number {
  const target = targetSeconds(segments);
  let [peak, all] = [0, { bytes: 0, seconds: 0 }];
  for (const [first, one] of segments.entries()) {
    all = { bytes: all.bytes + one.bytes, seconds: all.seconds + one.seconds };
    let [bytes, seconds] = [0, 0];
    for (let n = first; n < segments.length; n++) {
      bytes += segments[n]?.bytes ?? 0;
      seconds += segments[n]?.seconds ?? 0;
      if (seconds > 1.5 * target) break;
      if (seconds >= target / 2) peak = Math.max(peak, (bytes * 8) / 1000 / seconds);
    }
  }
  // Too short for any run.
  return peak || (all.bytes * 8) / 1000 / all.seconds;
}

/** One that ffmpeg has written. */
export function parseMediaPlaylist(text: string): MediaPlaylist {
  const init = /^#EXT-X-MAP:URI="([^"/]+)"$/m.exec(text)?.[1] ?? '';
  const segments: Segment[] = [];
  let seconds = 0;
  for (const line of text.split('\n')) {
    const length = /^#EXTINF:([\d.]+)/.exec(line)?.[1];
    if (length !== undefined) seconds = Number(length);
    else if (line !== '' && !line.startsWith('#')) segments.push({ file: line, seconds, iv: null });
  }
  return { init, segments };
}

/** `keyUri` where the segments are encrypted: not the beginning of the file, which comes before the key. */
export function mediaPlaylist({ init, segments }: MediaPlaylist, keyUri: string | null): string {
  return [
    ...['#EXTM3U', '#EXT-X-VERSION:7', `#EXT-X-TARGETDURATION:${targetSeconds(segments)}`],
    ...['#EXT-X-MEDIA-SEQUENCE:0', '#EXT-X-PLAYLIST-TYPE:VOD', '#EXT-X-INDEPENDENT-SEGMENTS'],
    `#EXT-X-MAP:URI="${init}"`,
    ...segments.flatMap(({ file, seconds, iv }) => [
      ...(iv === null ? [] : [`#EXT-X-KEY:METHOD=AES-128,URI="${keyUri}",IV=0x${iv}`]),
      `#EXTINF:${seconds.toFixed(6)},`,
      file,
    ]),
    '#EXT-X-ENDLIST\n',
  ].join('\n');
}

export interface Variant {
  readonly playlist: string;
  readonly width: number;
  readonly height: number;
  readonly frameRate: number;
  /** Of a segment, with its sound. */
  readonly peakKbps: number;
  readonly averageKbps: number;
  readonly codecs: string;
  /** Of a picture that stays HDR. */
  readonly videoRange: 'PQ' | 'HLG' | null;
}

/** The codecs of each rung in the order of its playlists, from the master playlist of ffmpeg. */
export function codecsIn(master: string): string[] {
  return [...master.matchAll(/^#EXT-X-STREAM-INF:.*CODECS="([^"]+)"/gm)].map(([, one = '']) => one);
}

export function masterPlaylist(
  variants: readonly Variant[],
  audio: { readonly playlist: string; readonly channels: number } | null,
  captions: readonly Caption[],
): string {
  const sound =
    'TYPE=AUDIO,GROUP-ID="audio",NAME="audio",DEFAULT=YES,AUTOSELECT=YES,' +
    `CHANNELS="${audio?.channels}"`;
  const groups = [
    ...(audio === null ? [] : ['AUDIO="audio"']),
    ...(captions.length === 0 ? [] : ['SUBTITLES="captions"']),
  ].map((group) => `,${group}`);
  return [
    ...['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-INDEPENDENT-SEGMENTS'],
    ...(audio === null ? [] : [`#EXT-X-MEDIA:${sound},URI="${audio.playlist}"`]),
    ...captions.map(
      ({ language }, n) =>
        `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="captions",NAME="${language} ${n + 1}",` +
        `LANGUAGE="${language}",DEFAULT=NO,AUTOSELECT=YES,URI="captions-${n}.m3u8"`,
    ),
    ...variants.flatMap((one) => [
      `#EXT-X-STREAM-INF:BANDWIDTH=${Math.ceil(one.peakKbps * 1000)},` +
        `AVERAGE-BANDWIDTH=${Math.ceil(one.averageKbps * 1000)},` +
        `RESOLUTION=${one.width}x${one.height},FRAME-RATE=${one.frameRate.toFixed(3)},` +
        `CODECS="${one.codecs}"${rangeOf(one)}${groups.join('')}`,
      one.playlist,
    ]),
    '',
  ].join('\n');
}

function rangeOf({ videoRange }: Variant): string {
  return videoRange === null ? '' : `,VIDEO-RANGE=${videoRange}`;
}

/** One file of WebVTT is one segment. */
export function captionPlaylist(n: number, seconds: number): string {
  return [
    ...['#EXTM3U', '#EXT-X-VERSION:7', `#EXT-X-TARGETDURATION:${Math.ceil(seconds)}`],
    ...['#EXT-X-MEDIA-SEQUENCE:0', '#EXT-X-PLAYLIST-TYPE:VOD'],
    ...[`#EXTINF:${seconds.toFixed(6)},`, `captions-${n}.vtt`, '#EXT-X-ENDLIST', ''],
  ].join('\n');
}

/** The DASH manifest of ffmpeg with the captions in it. */
export function withCaptions(manifest: string, captions: readonly Caption[]): string {
  const sets = captions.map(
    ({ language }, n) =>
      `<AdaptationSet contentType="text" mimeType="text/vtt" lang="${language}">` +
      '<Role schemeIdUri="urn:mpeg:dash:role:2011" value="subtitle"/>' +
      `<Representation id="captions-${n}" bandwidth="1000"><BaseURL>captions-${n}.vtt</BaseURL></Representation>` +
      '</AdaptationSet>\n',
  );
  return manifest.replace('</Period>', `${sets.join('')}</Period>`);
}
