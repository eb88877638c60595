/** The pure parts of a ladder: its rungs, its grid, what may be copied, and its playlists. */
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { expect } from 'chai';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parseLoudness, loudnessFilter } from '../../../examples/ffmpeg/ladder/loudness.ts';
import { alignmentDefect } from '../../../examples/ffmpeg/ladder/package.ts';
import { cueOf, parseCaptions, withoutAss } from '../../../examples/ffmpeg/ladder/captions.ts';
import {
  gridDefect,
  mayBeCopied,
  type Packet,
  PacketReader,
  Packets,
  peakKbps,
} from '../../../examples/ffmpeg/ladder/packets.ts';
import { parseParams } from '../../../examples/ffmpeg/ladder/params.ts';
import { planGrid, planRungs, rungArguments } from '../../../examples/ffmpeg/ladder/plan.ts';
import {
  masterPlaylist,
  mediaPlaylist,
  parseMediaPlaylist,
  peakKbpsOf,
} from '../../../examples/ffmpeg/ladder/playlists.ts';
import { type Profile, profile, readProfiles } from '../../../examples/ffmpeg/ladder/profile.ts';
import { planSprites, spriteTrack } from '../../../examples/ffmpeg/ladder/stills.ts';
import type { VideoStream } from '../../../examples/media/media.ts';

const video: VideoStream = {
  ...{
    codec: 'h264',
    width: 1920,
    height: 1080,
    frameRate: 25,
    closestRate: 25,
    rotation: 0,
    pixelAspect: 1,
  },
  ...{ pixelFormat: 'yuv420p', transfer: null, interlaced: false, seconds: 20 },
};

const profileOf = (change: object = {}): Profile =>
  profile.parse({
    rungs: [240, 1080, 720, 480].map((height) => ({ height, crf: 23, max_kbps: height * 3 })),
    ...change,
  });

const sizes = (of: Partial<VideoStream>) =>
  planRungs({ ...video, ...of }, profileOf()).map(
    ({ picture }) => `${picture.width}x${picture.height}`,
  );

describe('the rungs of a ladder', () => {
  it('are none above the source, by its shorter side', () => {
    expect(sizes({})).to.deep.equal(['1920x1080', '1280x720', '854x480', '426x240']);
    expect(sizes({ width: 1280, height: 720 })).to.deep.equal(['1280x720', '854x480', '426x240']);
    expect(sizes({ width: 1278, height: 718 })).to.deep.equal(['854x480', '428x240']);
    expect(sizes({ rotation: 90 })).to.deep.equal(['1080x1920', '720x1280', '480x854', '240x426']);
    expect(sizes({ width: 1281, height: 720 })[0]).to.equal('1280x720');
    expect(sizes({ width: 160, height: 91 })).to.deep.equal(['158x90']);
  });

  it('lose no frame of a source that varies in rate', () => {
    const rate = (frameRate: number, closestRate: number) =>
      planGrid({ ...video, frameRate, closestRate }, profileOf()).rate;
    expect(rate(13.16, 25)).to.deep.equal({ frames: 25, perSeconds: 1 });
    expect(rate(29.6, 30)).to.deep.equal({ frames: 30, perSeconds: 1 });
    // Fields, and the clock of a browser that records.
    expect(rate(25, 50)).to.deep.equal({ frames: 25, perSeconds: 1 });
    expect(rate(8, 1000)).to.deep.equal({ frames: 30, perSeconds: 1 });
    expect(rate(60, 90_000)).to.deep.equal({ frames: 60, perSeconds: 1 });
  });

  it('share a grid of whole frames', () => {
    const gridOf = (frameRate: number, change: object = {}) =>
      planGrid({ ...video, frameRate, closestRate: frameRate }, profileOf(change));
    expect(gridOf(25)).to.deep.equal({
      ...{ rate: { frames: 25, perSeconds: 1 }, gopFrames: 50, segmentFrames: 100 },
    });
    expect(gridOf(29.97)).to.include({ gopFrames: 60, segmentFrames: 120 });
    expect(gridOf(59.94, { frame_rate_max: 30 }).rate).to.deep.equal({
      ...{ frames: 60_000, perSeconds: 2002 },
    });
  });

  it('are capped by quality and have closed GOPs', () => {
    const chosen = profileOf();
    const [rung] = planRungs(video, chosen);
    if (rung === undefined) throw new Error('there is no rung');
    const making = { input: '/m/-in.mp4', temporary: '/m/t', fingerprint: 'soda:0' };
    const bounds = { threads: 2, source: { seconds: 10, hasPicture: true } };
    const args = rungArguments(rung, planGrid(video, chosen), chosen, {
      ...making,
      ...bounds,
    }).join(' ');
    expect(args).to.include(
      '-crf 23 -maxrate 3240k -bufsize 6480k -profile:v high -g 50 -keyint_min 50 -sc_threshold 0',
    );
    expect(args).to.include('-i file:/m/-in.mp4').and.to.include('-protocol_whitelist file');
    const h265 = profileOf({ codec: 'h265' });
    const deep = rungArguments(rung, planGrid(video, h265), h265, { ...making, ...bounds });
    expect(deep.join(' ')).to.include(
      'keyint=50:min-keyint=50:scenecut=0:open-gop=0:log-level=warning:pools=2:frame-threads=2',
    );
    for (const bound of ['-filter_complex_threads 2', '-threads 2 -t 11.020']) {
      expect(deep.join(' ')).to.include(bound);
    }
  });

  it('map HDR or keep it, by choice', () => {
    const hdr = { ...video, transfer: 'smpte2084', pixelFormat: 'yuv420p10le' };
    const [mapped] = planRungs(hdr, profileOf({ codec: 'h265' }));
    expect(mapped?.picture).to.include({ toneMapped: true, pixelFormat: 'yuv420p' });
    const [kept] = planRungs(hdr, profileOf({ codec: 'h265', hdr: 'keep' }));
    expect(kept?.picture).to.include({ toneMapped: false, pixelFormat: 'yuv420p10le' });
  });
});

describe('captions', () => {
  it('show what is said as it is, and nothing as a cue or a tag that is none', () => {
    const said = [
      ...['A --> B & C &amp; D', '', '00:03.000 --> 00:04.000', ' \t'],
      '1 < 2 <i>it</i> <b\0\u0085\r\rR&D --\x07>\n',
    ];
    expect(cueOf(1, 2.0004, said.join('\n'))).to.equal(
      [
        ...['', '00:00:01.000 --> 00:00:02.000', 'A --&gt; B &amp; C &amp; D'],
        ...['00:03.000 --&gt; 00:04.000', '1 &lt; 2 <i>it</i> &lt;b', 'R&amp;D --&gt;', ''],
      ].join('\n'),
    );
  });

  it('of ASS have no escapes and no drawings', () => {
    const said = [
      String.raw`a\hb \{x\} {y C:\new`,
      'm 0 0 l 100 0 100.5 -100 b 1 2 3',
      'm 1 2',
      'me',
    ];
    expect(withoutAss(said.join('\n'))).to.equal('a\u00a0b {x} {y C:\\new\n\nm 1 2\nme');
    const long = `m 0 0${' l 1 1'.repeat(100_000)}`;
    expect(withoutAss(long)).to.equal('');
    expect(withoutAss(`${long}!`)).to.have.length(long.length + 1);
  });

  it('have their times, unless nobody could see them', () => {
    expect(cueOf(3_661.0015, 360_000.001, 'a')).to.match(/^\n01:01:01.002 --> 100:00:00.001\na\n$/);
    expect(cueOf(-1, 1, 'a')).to.match(/^\n00:00:00.000 --> 00:00:01.000\n/);
    for (const [start, end, text] of [
      ...[[1, 1, 'a'] as const, [2, 1, 'a'] as const, [-2, -1, 'a'] as const],
      ...[[1, 2, ''] as const, [1, 2, '\n\0\n'] as const],
    ]) {
      expect(cueOf(start, end, text)).to.equal('');
    }
  });
});

describe('what ffprobe says', () => {
  it('of captions is refused where it has no end, and else bounded', () => {
    const stream = { index: 3, codec_name: 'subrip', tags: { language: 'deu' } };
    const text = JSON.stringify({ streams: Array.from({ length: 40 }, () => stream) });
    expect(parseCaptions(text)).to.have.length(32);
    expect(parseCaptions(text)[0]).to.deep.equal({
      ...{ index: 3, language: 'deu', isAss: false },
    });
    for (const cut of [text.slice(0, -1), '', '[]']) {
      expect(() => parseCaptions(cut)).to.throw(NonRetryableError, 'captions: what the input says');
    }
  });

  it('of packets is read up to a bound', () => {
    const reader = new PacketReader(3);
    expect(reader.read('0.00,10,K__\n0.04,')).to.equal(true);
    expect(reader.read('11,___\n0.08,12,___\n0.12,1')).to.equal(true);
    expect(reader.isFull).to.equal(false);
    expect([...reader.packets]).to.deep.equal([
      { seconds: 0, bytes: 10, isKey: true },
      { seconds: 0.04, bytes: 11, isKey: false },
      { seconds: 0.08, bytes: 12, isKey: false },
    ]);
    expect(reader.read('3,___\n')).to.equal(false);
    expect(reader.read('0.16,14,___\n')).to.equal(false);
    expect(reader.isFull).to.equal(true);
    expect(reader.packets).to.have.length(3);
  });

  it('of packets takes little memory, whatever the source', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const usedMb = () => {
      collect();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return (heapUsed + arrayBuffers) / 1e6;
    };
    const lines = Array.from({ length: 1_000 }, (_, n) => `${n / 25},1000,___\n`).join('');
    const before = usedMb();
    const reader = new PacketReader();
    for (let times = 0; times < 500; times++) reader.read(lines);
    expect(usedMb() - before, 'MB of half a million').to.be.below(20);
    expect(reader.packets).to.have.length(500_000);
  });
});

describe('packets', () => {
  const grid = planGrid(video, profileOf({ gop_seconds: 0.5 }));
  const packets = Array.from({ length: 26 }, (_, n) => ({
    seconds: n / 25,
    isKey: n % 13 === 0,
    bytes: 100,
  }));

  const listed = (some: readonly Packet[]) => {
    const all = new Packets();
    for (const packet of some) all.add(packet);
    return all;
  };

  it('on the grid are a rung', () => {
    expect(gridDefect(listed(packets), grid)).to.equal(null);
    expect(peakKbps(listed(packets), grid)).to.be.closeTo(20, 0.001);
    // Two hours of a camera that makes key frames alone.
    const keys = new Packets();
    for (let n = 0; n < 200_000; n++) keys.add({ seconds: n, isKey: true, bytes: 1 });
    expect(peakKbps(keys, grid)).to.be.above(0);
    // The key frame of a last GOP of two frames is no peak by itself.
    const short = packets.slice(0, 15).map((one) => ({ ...one, bytes: one.isKey ? 1_300 : 0 }));
    expect(peakKbps(listed(short), grid)).to.be.closeTo(34.667, 0.001);
    const alone = listed(short.slice(0, 2));
    expect(peakKbps(alone, grid)).to.be.closeTo(130, 0.001);
  });

  it('off the grid are none', () => {
    const change = (n: number, to: object) =>
      listed(packets.with(n, { ...packets[n], ...to } as never));
    expect(gridDefect(change(13, { isKey: false }), grid)).to.equal(
      'it has 1 key frames instead of 2',
    );
    expect(gridDefect(change(7, { isKey: true }), grid)).to.equal('it has a key frame at 0.28 s');
    expect(gridDefect(change(5, { seconds: 0.23 }), grid)).to.match(/^its frame \d+ is at/);
    const unknown = { seconds: Number.NaN };
    expect(gridDefect(change(5, unknown), grid)).to.equal('its frame 5 is at 0.24 s');
    expect(gridDefect(change(25, unknown), grid)).to.equal('its frame 25 is at NaN s');
    const open = [
      ...packets.slice(0, 12),
      ...[packets[13], packets[12]],
      ...packets.slice(14),
    ] as typeof packets;
    expect(gridDefect(listed(open), grid)).to.equal('its GOP at 0.52 s is open');
  });

  it('are looked at only where the source is of the kind', () => {
    const chosen = profileOf();
    const [rung] = planRungs(video, chosen);
    if (rung === undefined) throw new Error('there is no rung');
    expect(mayBeCopied(video, rung, chosen)).to.equal(true);
    for (const change of [
      { codec: 'hevc' },
      { height: 1088 },
      { rotation: 180 },
      { interlaced: true },
      { pixelAspect: 2 },
      { pixelFormat: 'yuv422p' },
    ]) {
      expect(mayBeCopied({ ...video, ...change }, rung, chosen), Object.keys(change)[0]).to.equal(
        false,
      );
    }
    expect(mayBeCopied(video, rung, profileOf({ copy: false }))).to.equal(false);
  });
});

describe('playlists', () => {
  const written =
    '#EXTM3U\n#EXT-X-MAP:URI="init-0.m4s"\n#EXTINF:2.000000,\n#EXT-X-PROGRAM-DATE-TIME:x\nsegment-0-00001.m4s\n#EXTINF:1.5,\nsegment-0-00002.m4s\n#EXT-X-ENDLIST\n';

  it('are read and written anew', () => {
    const read = parseMediaPlaylist(written);
    expect(read).to.deep.equal({
      init: 'init-0.m4s',
      segments: [
        { file: 'segment-0-00001.m4s', seconds: 2, iv: null },
        { file: 'segment-0-00002.m4s', seconds: 1.5, iv: null },
      ],
    });
    expect(parseMediaPlaylist(mediaPlaylist(read, null))).to.deep.equal(read);
    const locked = { ...read, segments: read.segments.map((one) => ({ ...one, iv: 'ab' })) };
    const lines = mediaPlaylist(locked, 'https://k/1').split('\n');
    // The beginning of the file is not encrypted.
    expect(lines.findIndex((line) => line.startsWith('#EXT-X-MAP'))).to.be.below(
      lines.indexOf('#EXT-X-KEY:METHOD=AES-128,URI="https://k/1",IV=0xab'),
    );
  });

  it('that do not cut at the same times are no ladder', () => {
    const one = parseMediaPlaylist(written);
    const other = {
      ...one,
      segments: one.segments.map((s, n) => ({ ...s, seconds: n === 0 ? 1.9 : 1.6 })),
    };
    expect(alignmentDefect([one, one], 3.5, 0.04)).to.equal(null);
    expect(alignmentDefect([one, other], 3.5, 0.04)).to.equal(
      'the segments of rung 1 are not those of the first',
    );
    expect(alignmentDefect([one], 9, 0.04)).to.equal('its segments are 3.5 s long instead of 9 s');
    expect(alignmentDefect([], 9, 0.04)).to.equal('it has no segments');
  });

  it('name the peak of runs of segments that are about as long as the target', () => {
    const of = (...segments: [number, number][]) =>
      peakKbpsOf(segments.map(([bytes, seconds]) => ({ bytes, seconds })));
    expect(of([1_000, 4], [2_000, 4], [500, 2])).to.equal(4);
    // Less than half of it is taken together with the one before.
    expect(of([1_000, 4], [2_000, 4], [500, 0.08])).to.be.closeTo(20 / 4.08, 1e-9);
    expect(of([1_000, 4], [500, 2.5])).to.equal(2);
    expect(of([500, 0.08])).to.equal(50);
  });

  it('name peaks, sound and captions', () => {
    const variant = {
      playlist: 'media_0.m3u8',
      width: 640,
      height: 360,
      frameRate: 25,
      peakKbps: 900.2,
      averageKbps: 500,
      codecs: 'avc1.64001e,mp4a.40.2',
      videoRange: null,
    };
    const text = masterPlaylist([variant], { playlist: 'media_1.m3u8', channels: 2 }, [
      { index: 2, language: 'eng', isAss: false },
    ]);
    expect(text).to.include(
      '#EXT-X-STREAM-INF:BANDWIDTH=900200,AVERAGE-BANDWIDTH=500000,RESOLUTION=640x360,FRAME-RATE=25.000,CODECS="avc1.64001e,mp4a.40.2",AUDIO="audio",SUBTITLES="captions"\nmedia_0.m3u8',
    );
  });
});

describe('what goes with a ladder', () => {
  it('has sprites in several sheets', () => {
    const sprites = { every_seconds: 10, width: 160, columns: 2, rows: 1 };
    const sheets = planSprites(sprites, video, 25);
    expect(sheets).to.deep.equal({ width: 160, height: 90, count: 3, sheetCount: 2 });
    expect(spriteTrack(sprites, sheets, 25)).to.equal(
      'WEBVTT\n\n00:00:00.000 --> 00:00:10.000\nsprites-1.jpg#xywh=0,0,160,90\n\n' +
        '00:00:10.000 --> 00:00:20.000\nsprites-1.jpg#xywh=160,0,160,90\n\n' +
        '00:00:20.000 --> 00:00:25.000\nsprites-2.jpg#xywh=0,0,160,90\n',
    );
  });

  it('reads what loudnorm says, also of silence', () => {
    const said = (i: string, tp: string) =>
      `x\n{\n"input_i" : "${i}",\n"input_tp" : "${tp}",\n"input_lra" : "0.10",\n"input_thresh" : "-31.80",\n"output_i" : "-16.1",\n"target_offset" : "0.05"\n}\n`;
    const loud = parseLoudness(said('-21.80', '-18.06'));
    expect(loud).to.deep.equal({
      integrated: -21.8,
      peak: -18.06,
      range: 0.1,
      threshold: -31.8,
      offset: 0.05,
    });
    const target = { integrated: -16, range: 11, peak: -1 };
    expect(loud && loudnessFilter(target, loud)).to.equal(
      'loudnorm=I=-16:LRA=11:TP=-1:measured_I=-21.8:measured_TP=-18.06:measured_LRA=0.1:measured_thresh=-31.8:offset=0.05:linear=true',
    );
    const silent = parseLoudness(said('-inf', '-inf'));
    expect(silent?.integrated).to.equal(null);
    expect(silent && loudnessFilter(target, silent)).to.equal(null);
    expect(parseLoudness('nothing')).to.equal(null);
  });

  it('has a profile without a file, and names what is wrong in one', async () => {
    expect([...(await readProfiles(undefined)).keys()]).to.deep.equal(['default']);
    expect(() =>
      parseParams({
        input: 'a',
        output: 'b',
        profile: { rungs: [{ height: 1, crf: 1, max_kbps: 1 }] },
      }),
    ).to.throw(/profile\.rungs\.0\.height/);
    expect(() =>
      profileOf({ rungs: [0, 1].map(() => ({ height: 90, crf: 30, max_kbps: 99 })) }),
    ).to.throw(/another rung of 90/);
  });
});
