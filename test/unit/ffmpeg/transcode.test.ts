/** The pure parts of the ffmpeg executor: parameters, arguments, and what ffmpeg says. */
import { expect } from 'chai';
import { transcodeArguments } from '../../../examples/ffmpeg/command.ts';
import { parseParams } from '../../../examples/ffmpeg/params.ts';
import { assertBounded, assertTakeable, evenly } from '../../../examples/ffmpeg/transcode.ts';
import {
  type Media,
  type VideoStream,
  parseBanner,
  parseProbe,
} from '../../../examples/media/media.ts';
import { planPicture } from '../../../examples/media/picture.ts';
import { assertNotCutOff } from '../../../examples/media/input-guard.ts';
import { ProgressReader } from '../../../examples/media/progress.ts';

const video: VideoStream = {
  codec: 'h264',
  width: 1281,
  height: 720,
  frameRate: 25,
  closestRate: 25,
  rotation: 0,
  pixelAspect: 1,
  pixelFormat: 'yuv420p',
  transfer: null,
  interlaced: false,
  seconds: null,
};

const media: Media = {
  seconds: 10,
  secondsAreGuessed: false,
  comment: null,
  video,
  audio: { codec: 'aac', sampleRate: 44_100, channels: 1, seconds: null },
};

function argumentsOf(output: object, of: Media = media): string[] {
  const params = parseParams({ input: 'in.mp4', outputs: [output] });
  const wished = params.outputs[0] as (typeof params.outputs)[number];
  return transcodeArguments({
    input: '/media/in.mp4',
    media: of,
    output: wished,
    picture: of.video && wished.video && planPicture(of.video, wished.video),
    temporary: '/media/.temporary',
    fingerprint: 'soda:0',
    threads: 4,
  });
}

const valueOf = (args: string[], name: string) => args[args.indexOf(name) + 1];

describe('ffmpeg parameters', () => {
  const refused: [string, object, string][] = [
    ['an unknown option', { path: 'a.mp4', options: '-f' }, 'outputs.0: Unrecognized key'],
    ['a filter as resolution', { path: 'a.mp4', video: { resolution: '1x1,movie=x' } }, 'WIDTHx'],
    ['an odd resolution', { path: 'a.mp4', video: { resolution: '853x480' } }, 'even width'],
    ['an unknown codec', { path: 'a.mp4', video: { codec: 'copy' } }, 'outputs.0.video.codec'],
    ['a bitrate with text', { path: 'a.mp4', video: { bitrate_kbps: '1M' } }, 'bitrate_kbps'],
    ['a bitrate without bounds', { path: 'a.mp4', video: { bitrate_kbps: 1e9 } }, 'bitrate_kbps'],
    ['a codec of another container', { path: 'a.webm', video: { codec: 'h264' } }, 'takes vp9'],
    ['a profile of another codec', { path: 'a.webm', video: { profile: 'main' } }, 'no profile'],
    ['an unknown container', { path: 'a.m3u8' }, 'a name ending in .mp4'],
    ['a name without an ending', { path: 'mp4' }, 'a name ending in'],
    ['neither video nor audio', { path: 'a.mp4', video: null, audio: null }, 'video, audio'],
    ['a protocol', { path: 'pipe:1.mp4' }, 'not a URL'],
    ['no key', { path: 's3://films/' }, 'expected s3://bucket/key'],
    ['an object without a container', { path: 's3://films/a' }, 'expected a name ending in'],
    ['a URL', { path: 'http://example.org/a.mp4' }, 'not a URL'],
    ['a NUL', { path: 'a\0.mp4' }, 'control characters'],
    ['5.1 in MP3', { path: 'a.mkv', audio: { codec: 'mp3', channels: 6 } }, 'mp3 takes 1, 2'],
    ['four channels', { path: 'a.mp4', audio: { channels: 4 } }, 'expected 1, 2 or 6 (5.1)'],
    ['endless padding', { path: 'a.mp4', pad_seconds: 1e6 }, 'pad_seconds'],
  ];
  for (const [what, output, message] of refused) {
    it(`refuse ${what}`, () => {
      expect(() => parseParams({ input: 'in.mp4', outputs: [output] })).to.throw(message);
    });
  }

  it('refuse a protocol as input and an empty list', () => {
    expect(() => parseParams({ input: 'concat:a|b', outputs: [{ path: 'a.mp4' }] })).to.throw(
      'input: expected a path',
    );
    expect(() => parseParams({ input: 'in.mp4', outputs: [] })).to.throw('outputs');
    expect(() => parseParams(null)).to.throw('params: ');
  });

  it('fill in the codecs of the container', () => {
    const { outputs } = parseParams({
      input: 'a',
      outputs: [{ path: 'a.mp4' }, { path: 'B.WEBM' }],
    });
    expect(outputs.map(({ video }) => video && video.codec)).to.deep.equal(['h264', 'vp9']);
    expect(outputs.map(({ audio }) => audio && audio.codec)).to.deep.equal(['aac', 'opus']);
  });
});

describe('ffmpeg arguments', () => {
  it('guard the input and say every wish', () => {
    const args = argumentsOf({
      path: 'a.mp4',
      video: {
        resolution: '854x480',
        bitrate_kbps: 1000,
        frame_rate: 15,
        profile: 'baseline',
        gop: 50,
      },
      audio: { bitrate_kbps: 64, sample_rate: 48_000, channels: 1 },
    });
    expect(args.slice(args.indexOf('-protocol_whitelist'), args.indexOf('-i') + 2)).to.deep.equal([
      '-protocol_whitelist',
      'file',
      '-format_whitelist',
      'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,flv,avi,wav,mp3,ogg,aac,flac',
      '-max_pixels',
      '35389440',
      '-i',
      'file:/media/in.mp4',
    ]);
    expect(valueOf(args, '-filter_complex')).to.equal(
      '[0:V:0]scale=854:480,setsar=1,fps=15[v];[0:a:0]aformat=channel_layouts=mono[a]',
    );
    const wishes = { '-b:v': '1000k', '-profile:v': 'baseline', '-g': '50', '-b:a': '64k' };
    for (const [name, value] of Object.entries({ ...wishes, '-ar': '48000', '-ac': '1' })) {
      expect(valueOf(args, name), name).to.equal(value);
    }
    expect(args.at(-1)).to.equal('file:/media/.temporary');
    expect(valueOf(args, '-filter_complex_threads')).to.equal('4');
    // An input that goes on behind what it says is cut off there.
    expect(valueOf(args, '-t')).to.equal('11.020');
    const h265 = argumentsOf({ path: 'a.mp4', video: { codec: 'h265' } });
    expect(valueOf(h265, '-x265-params')).to.equal('log-level=warning:pools=4:frame-threads=4');
  });

  it('append black and silence', () => {
    expect(valueOf(argumentsOf({ path: 'a.mp4', pad_seconds: 1.5 }), '-filter_complex')).to.equal(
      '[0:V:0]scale=1280:720,setsar=1[v0];[0:a:0]aformat=channel_layouts=mono[a0];color=c=black:s=1280x720:r=25:d=1.5[v1];' +
        'anullsrc=r=44100:cl=mono,atrim=duration=1.5[a1];' +
        '[v0][a0][v1][a1]concat=n=2:v=1:a=1:unsafe=1[v][a]',
    );
  });

  it('leave out what the input has not', () => {
    const args = argumentsOf({ path: 'a.mp4', pad_seconds: 1 }, { ...media, audio: null });
    expect(valueOf(args, '-filter_complex')).to.match(
      /\[v0\]\[v1\]concat=n=2:v=1:a=0:unsafe=1\[v\]$/,
    );
    expect(args).not.to.include('-c:a');
  });
});

describe('the picture of an output', () => {
  const plan = (input: Partial<VideoStream>, wishes: object = {}) => {
    const { outputs } = parseParams({ input: 'a', outputs: [{ path: 'a.mp4', video: wishes }] });
    return planPicture({ ...video, ...input }, outputs[0]?.video ?? { codec: 'h264' });
  };
  const sizeOf = ({ width, height }: { width: number; height: number }) => `${width}x${height}`;

  it('has the shape that players show', () => {
    expect(sizeOf(plan({ width: 640, height: 360 }))).to.equal('640x360');
    expect(sizeOf(plan({ width: 640, height: 360, rotation: 90 }))).to.equal('360x640');
    expect(sizeOf(plan({ width: 640, height: 360, rotation: 270 }))).to.equal('360x640');
    expect(sizeOf(plan({ width: 640, height: 360, rotation: 180 }))).to.equal('640x360');
    expect(sizeOf(plan({ width: 720, height: 576, pixelAspect: 64 / 45 }))).to.equal('1024x576');
    expect(sizeOf(plan({ width: 720, height: 576, pixelAspect: 64 / 45, rotation: 90 }))).to.equal(
      '576x1024',
    );
  });

  it('is fitted whole into the size that is wished for', () => {
    const tall = plan({ width: 640, height: 360, rotation: 90 }, { resolution: '320x180' });
    expect(tall.filters.slice(0, 2)).to.deep.equal(['scale=100:180', 'pad=320:180:110:0']);
    const wide = plan({ width: 2400, height: 1000 }, { resolution: '1280x720' });
    expect(wide.filters.slice(0, 2)).to.deep.equal(['scale=1280:532', 'pad=1280:720:0:94']);
    const near = plan({ width: 1280, height: 720 }, { resolution: '854x480' });
    expect(near.filters).to.deep.equal(['scale=854:480', 'setsar=1']);
  });

  it('keeps depth and HDR where the codec is played with them', () => {
    const hdr = { pixelFormat: 'yuv420p10le', transfer: 'smpte2084' };
    expect(plan(hdr, { codec: 'h265' })).to.include({
      pixelFormat: 'yuv420p10le',
      transfer: 'smpte2084',
      toneMapped: false,
    });
    for (const wishes of [{}, { codec: 'h265', profile: 'main' }]) {
      const mapped = plan(hdr, wishes);
      expect(mapped).to.include({ pixelFormat: 'yuv420p', transfer: null, toneMapped: true });
      expect(mapped.filters[0]).to.include('tonemap');
    }
    expect(plan({ pixelFormat: 'yuv420p10le' })).to.include({ toneMapped: false });
    expect(plan({ pixelFormat: 'p010le' }, { codec: 'h265' }).pixelFormat).to.equal('yuv420p10le');
    expect(plan({ pixelFormat: 'yuv444p' }, { codec: 'h265' }).pixelFormat).to.equal('yuv420p');
  });

  it('is deinterlaced', () => {
    expect(plan({ interlaced: true }).filters[0]).to.include('bwdif');
  });
});

describe('ffmpeg reports', () => {
  it('are read from pieces of any size', () => {
    const text =
      'frame=10\nfps=25.0\nout_time_us=N/A\nspeed=N/A\nprogress=continue\n' +
      'frame=20\nfps=24.5\nout_time_us=800000\nspeed=1.5x\nprogress=continue\n' +
      'frame=20\nfps=24.5\nout_time_us=800000\nspeed=1.4x\nprogress=end\n';
    const reader = new ProgressReader();
    const reports = [...text].flatMap((character) => reader.read(character));
    expect(reports).to.deep.equal([
      { seconds: null, fps: 25, speed: null, moved: true },
      { seconds: 0.8, fps: 24.5, speed: 1.5, moved: true },
      { seconds: 0.8, fps: 24.5, speed: 1.4, moved: false },
    ]);
  });

  it('stay bounded without line ends', () => {
    const reader = new ProgressReader();
    for (let n = 0; n < 1000; n++) reader.read('x'.repeat(10_000));
    expect(reader.read('\nframe=1\nprogress=end\n')).to.have.length(1);
  });

  it('describe a file as ffprobe and as ffmpeg do', () => {
    const json = {
      format: { duration: '10.000', tags: { COMMENT: 'soda:1' } },
      streams: [
        {
          codec_type: 'video',
          codec_name: 'mjpeg',
          width: 9,
          height: 9,
          disposition: { attached_pic: 1 },
        },
        { codec_type: 'audio', codec_name: 'aac', sample_rate: '44100', channels: 1 },
        {
          codec_type: 'video',
          codec_name: 'h264',
          width: 1281,
          height: 720,
          avg_frame_rate: '25/1',
          r_frame_rate: '25/1',
          pix_fmt: 'yuv420p',
        },
      ],
    };
    const banner = `Input #0, mov,mp4,m4a,3gp,3g2,mj2, from 'file:in.mp4':
  Metadata:
    comment         : soda:1
  Duration: 00:00:10.00, start: 0.000000, bitrate: 1037 kb/s
  Stream #0:0: Video: mjpeg, yuvj420p(pc), 9x9, 90k tbr (attached pic)
  Stream #0:1[0x1](und): Audio: aac (LC) (mp4a / 0x6134706D), 44100 Hz, mono, fltp, 69 kb/s
  Stream #0:2[0x2](und): Video: h264 (High) (avc1 / 0x31), yuv420p(tv, bt709/bt709/smpte2084, top first), 1281x720 [SAR 1:1 DAR 4:3], 25 fps, 25 tbr
At least one output file must be specified`;
    expect(parseProbe(JSON.stringify(json))).to.deep.equal({ ...media, comment: 'soda:1' });
    expect(parseBanner(banner)).to.deep.equal({
      ...media,
      comment: 'soda:1',
      video: { ...video, transfer: 'smpte2084', interlaced: true },
    });
    const hostile = `Input #0, mov, from 'x':\n  Stream #0:0${'(a'.repeat(2000)}: Video: ${'()'.repeat(50_000)}!\n`;
    expect(parseBanner(hostile)?.video).to.include({ pixelFormat: null });
    expect(parseProbe('')).to.equal(null);
    expect(parseBanner('file:in.mp4: Invalid data found when processing input')).to.equal(null);
  });

  it('say the length of Matroska that begins late: ffmpeg wrote where it ends, others how long it is', () => {
    const lengthsOf = (media: Media | null) =>
      [media?.seconds, media?.video?.seconds, media?.audio?.seconds].map(
        (seconds) => seconds ?? null,
      );
    const said = (encoder: string, name = 'matroska,webm') => {
      const tags = { DURATION: '00:00:40.000000000' };
      const format = {
        format_name: name,
        start_time: '9.977',
        duration: '40.0',
        tags: { ENCODER: encoder },
      };
      const streams = ['video', 'audio'].map((codec_type) => ({ codec_type, tags }));
      return lengthsOf(parseProbe(JSON.stringify({ format, streams })));
    };
    const shown = (encoder: string, name = 'matroska,webm') => {
      const tags =
        '    Metadata:\n      ENCODER : Lavc59 x\n      DURATION        : 00:00:40.000000000\n';
      return lengthsOf(
        parseBanner(
          `Input #0, ${name}, from 'x':\n  Metadata:\n    ENCODER         : ${encoder}\n` +
            `  Duration: 00:00:40.00, start: 9.977000, bitrate: 1 kb/s\n` +
            `  Stream #0:0: Video: h264, yuv420p, 64x64\n${tags}  Stream #0:1: Audio: aac, 44100 Hz\n${tags}`,
        ),
      );
    };
    for (const of of [said, shown]) {
      expect(of('Lavf59.27.100')).to.deep.equal([30.023, 30.023, 30.023]);
      expect(of('libebml v1.4.2 + libmatroska v1.6.4')).to.deep.equal([40, 40, 40]);
      expect(of('Lavf59.27.100', 'mov,mp4')).to.deep.equal([40, 40, 40]);
    }
  });
});

describe('an input', () => {
  const takes = (of: Partial<VideoStream>) => () =>
    assertTakeable({ ...media, video: { ...video, ...of } }, 'in.mp4');

  it('is taken up to 8K, as its picture is stored and as it is shown', () => {
    expect(takes({ width: 8192, height: 4320 })).not.to.throw();
    expect(takes({ width: 720, height: 576, pixelAspect: 16 / 11 })).not.to.throw();
    expect(takes({ width: 0, height: 0 })).to.throw('too large, or does not say its size');
    expect(takes({ width: 2000, height: 16_000, pixelAspect: 8 })).to.throw(
      'input in.mp4: its picture is shown as 16000x16000: up to 35389440 pixels (8192x4320) are taken',
    );
    // A side of 2 becomes one that encoders take.
    expect(takes({ width: 2, height: 8_000_000 })).to.throw('is shown as 2x8000000');
  });

  it('with a picture is taken up to a day, whichever stream says it', () => {
    const sound = media.audio && { ...media.audio, seconds: 86_401 };
    const refusal = 'input in.mp4 is 86401 s long: up to 86400 are taken';
    const unknown = { ...media, seconds: null };
    expect(() => assertBounded({ ...media, seconds: 86_400 }, 'in.mp4')).not.to.throw();
    expect(() => assertBounded({ ...media, seconds: 86_401 }, 'in.mp4')).to.throw(refusal);
    expect(() => assertBounded({ ...unknown, audio: sound }, 'in.mp4')).to.throw(refusal);
    expect(() =>
      assertBounded({ ...unknown, video: { ...video, seconds: 86_401 } }, 'in.mp4'),
    ).to.throw(refusal);
    expect(() => assertBounded({ ...unknown, video: null, audio: sound }, '')).not.to.throw();
  });

  it('of a rate that nobody has gets no padding of that rate', () => {
    const rateOf = (frameRate: number, output: object) => {
      const of = { ...media, video: { ...video, frameRate, closestRate: frameRate } };
      const { outputs } = parseParams({ input: 'in.mp4', outputs: [{ path: 'a.mp4', ...output }] });
      const [wished] = outputs.map((one) => evenly(one, of));
      return wished?.video?.frame_rate;
    };
    expect(rateOf(1e6, { pad_seconds: 600 })).to.equal(240);
    expect(rateOf(480, {})).to.equal(undefined);
    expect(rateOf(25, { pad_seconds: 600 })).to.equal(undefined);
  });

  it('of unknown length is cut off after a day, and found to be too long', () => {
    const cutAt = (of: Partial<Media>) =>
      argumentsOf({ path: 'a.mp4' }, { ...media, ...of })
        .join(' ')
        .match(/ -t (\S+)/)?.[1];
    expect(cutAt({})).to.equal('11.020');
    expect(cutAt({ seconds: null })).to.equal('86400');
    expect(cutAt({ secondsAreGuessed: true })).to.equal('86400');
    expect(cutAt({ secondsAreGuessed: true, video: null })).to.equal(undefined);
    const ends = (seconds: number | null, hasPicture: boolean, made: number) => () =>
      assertNotCutOff({ seconds, hasPicture }, made, 'output a.mp4');
    expect(ends(null, true, 86_399.96)).to.throw(
      'output a.mp4: the input does not say how long it is, and has 86400 s or more',
    );
    expect(ends(null, true, 3600)).not.to.throw();
    expect(ends(86_400, true, 86_400)).not.to.throw();
    expect(ends(null, false, 100_000)).not.to.throw();
  });
});
