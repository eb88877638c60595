/** The pure parts of an edit: what is refused, and the graph of a timeline. */
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { expect } from 'chai';
import { parseParams } from '../../../examples/ffmpeg/edit/params.ts';
import {
  type Input,
  joinArguments,
  joinGraph,
  lengthOf,
  mediaOf,
  planTimeline,
} from '../../../examples/ffmpeg/edit/timeline.ts';
import {
  exactRate,
  frameAt,
  rateText,
  secondsOf,
  steadyRate,
} from '../../../examples/media/frame-rate.ts';
import type { Media } from '../../../examples/media/media.ts';

const media: Media = {
  seconds: 20,
  secondsAreGuessed: false,
  comment: null,
  video: {
    ...{
      codec: 'h264',
      width: 1280,
      height: 720,
      frameRate: 25,
      closestRate: 25,
      rotation: 0,
      pixelAspect: 1,
    },
    ...{ pixelFormat: 'yuv420p', transfer: null, interlaced: false, seconds: 20 },
  },
  audio: { codec: 'aac', sampleRate: 44_100, channels: 1, seconds: 20 },
};

const inputs: ReadonlyMap<string, Input> = new Map([
  ['a', { path: '/media/a.mp4', media }],
  ['silent', { path: '/media/-s.mp4', media: { ...media, audio: null } }],
  ['sound', { path: '/media/sound.wav', media: { ...media, video: null } }],
]);

const paths = { a: 'a.mp4', silent: '-s.mp4', sound: 'sound.wav' };

function planOf(timeline: { readonly input?: string }[], canvas: object = {}) {
  const used = timeline.flatMap(({ input }) => (input === undefined ? [] : [input]));
  const named = Object.entries(paths).filter(([name]) => used.includes(name));
  const all = { inputs: Object.fromEntries(named), timeline, canvas, outputs: [{ path: 'o.mp4' }] };
  return planTimeline(parseParams(all), inputs);
}

describe('edit parameters', () => {
  const clip = { input: 'a' };
  const refused: [string, object, string][] = [
    ['no timeline', { timeline: [] }, 'timeline: '],
    ['too many pieces', { timeline: Array.from({ length: 65 }, () => clip) }, 'timeline: '],
    [
      'too many inputs',
      { inputs: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`i${n}`, 'x'])) },
      'inputs: expected 1 to 32',
    ],
    ['an input by another protocol', { inputs: { a: 'rtmp://h/x' } }, 'inputs.a: expected a path'],
    ['a URL that is none', { inputs: { a: 'http://' } }, 'inputs.a: expected a URL of http'],
    ['an object that climbs', { inputs: { a: 's3://b/../x' } }, 'inputs.a: expected s3://'],
    ['an input that is a number', { inputs: { a: 1 } }, 'inputs.a: expected a path, http(s)://…'],
    ['what resolves to nothing', { inputs: { a: { resolve: 'x' } } }, 'inputs.a'],
    ['a name with a filter', { inputs: { 'a];movie=x[': 'x' } }, 'inputs.a];movie=x['],
    [
      'a name that is not there',
      { timeline: [clip, { input: 'b' }] },
      'timeline.1.input: there is no input b',
    ],
    [
      'a name that objects have',
      { timeline: [clip, { input: 'constructor' }] },
      'timeline.1.input: there is no',
    ],
    [
      'an input that is not used',
      { inputs: { a: 'a', b: 'b' } },
      'inputs.b: the timeline does not use it',
    ],
    ['a time with text', { timeline: [{ input: 'a', start: '1;movie=x' }] }, 'timeline.0.start'],
    ['an endless time', { timeline: [{ input: 'a', end: 1e300 }] }, 'timeline.0.end'],
    [
      'an end before the start',
      { timeline: [{ input: 'a', start: 2, end: 2 }] },
      'timeline.0.end: expected it to be after',
    ],
    [
      'two things in a piece',
      { timeline: [{ input: 'a', black: 1 }] },
      'timeline.0: expected one of',
    ],
    [
      'times of black',
      { timeline: [clip, { black: 1, start: 0 }] },
      'timeline.1.start: expected only',
    ],
    ['endless black', { timeline: [clip, { black: 1e6 }] }, 'timeline.1.black'],
    ['a huge canvas', { canvas: { resolution: '9998x9998' } }, 'canvas.resolution: expected up to'],
    [
      'a huge output',
      { outputs: [{ path: 'a.mp4', video: { resolution: '9998x9998' } }] },
      'outputs.0.video.resolution',
    ],
    [
      'an input of an output',
      { outputs: [{ path: 'a.mp4', input: 'b.mp4' }] },
      'outputs.0.input: an output of an edit',
    ],
    ['too many threads', { threads: 1000 }, 'threads'],
    ['an option', { args: ['-f', 'x'] }, 'params: Unrecognized key'],
  ];
  for (const [what, change, message] of refused) {
    it(`refuse ${what}, with the field`, () => {
      const params = {
        inputs: { a: 'a' },
        timeline: [clip],
        outputs: [{ path: 'o.mp4' }],
        ...change,
      };
      expect(() => parseParams(params))
        .to.throw(NonRetryableError)
        .with.property('message')
        .that.includes(message);
    });
  }
});

describe('a timeline', () => {
  it('opens no more decoders than four of 8K', () => {
    const clipsOf = (count: number, width: number, height: number, canvas: object = {}) => {
      const video = media.video && { ...media.video, width, height };
      const large = new Map([['a', { path: '/media/a.mp4', media: { ...media, video } }]]);
      const timeline = Array.from({ length: count }, () => ({ input: 'a' }));
      const given = { inputs: { a: 'a.mp4' }, timeline, canvas, outputs: [{ path: 'o.mp4' }] };
      return () => planTimeline(parseParams(given), large);
    };
    expect(clipsOf(64, 1920, 1080)).not.to.throw();
    expect(clipsOf(4, 8192, 4320)).not.to.throw();
    // Each clip counts as it is stored, however small the canvas is.
    expect(clipsOf(5, 8192, 4320, { resolution: '640x360' })).to.throw(
      NonRetryableError,
      'timeline: the pictures of its clips have 176947200 pixels together: up to 141557760 ' +
        '(four of 8192x4320, 64 of 1920x1080) are taken',
    );
  });

  it('becomes one graph, with picture and sound cut at the same frames', () => {
    const plan = planOf(
      [
        { input: 'a', start: 1, end: 3 } as object,
        { black: 0.5 } as object,
        { input: 'silent', start: 15.04 } as object,
      ],
      { resolution: '640x360', sample_rate: 48_000 },
    );
    expect(plan.frameCount).to.equal(50 + 13 + 124);
    expect(joinGraph(plan).split(';')).to.deep.equal([
      '[0:V:0]fps=25:start_time=1,tpad=stop_mode=clone:stop_duration=1,trim=end_frame=50,setpts=N/(25)/TB,scale=640:360,setsar=1,format=yuv420p[v0]',
      '[0:a:0]aresample=48000,aresample=48000:async=1:first_pts=48000,aformat=sample_fmts=s16:channel_layouts=mono,apad,asetpts=N/SR/TB,atrim=end_sample=96000[a0]',
      'color=c=black:s=640x360:r=25,trim=end_frame=13,setsar=1,format=yuv420p[v1]',
      'anullsrc=r=48000:cl=mono,atrim=end_sample=24960[a1]',
      '[1:V:0]fps=25:start_time=15.04,tpad=stop_mode=clone:stop_duration=1,trim=end_frame=124,setpts=N/(25)/TB,scale=640:360,setsar=1,format=yuv420p[v2]',
      'anullsrc=r=48000:cl=mono,atrim=end_sample=238080[a2]',
      '[v0][a0][v1][a1][v2][a2]concat=n=3:v=1:a=1[v][a]',
    ]);
  });

  it('is read from a little before each cut, by guarded inputs', () => {
    const plan = planOf([
      { input: 'a', end: 1 } as object,
      { input: 'silent', start: 15 } as object,
    ]);
    const args = joinArguments(plan, { temporary: '/m/t', fingerprint: 'soda:0', threads: 2 });
    const seeks = args.flatMap((arg, n) =>
      arg === '-ss' ? [args[n + 1], args.indexOf('-i', n) - n] : [],
    );
    expect(seeks).to.deep.equal(['5', 8]);
    expect(args.filter((arg) => arg.includes('/media/'))).to.deep.equal([
      'file:/media/a.mp4',
      'file:/media/-s.mp4',
    ]);
    expect(args.filter((arg) => arg === '-protocol_whitelist')).to.have.length(2);
    expect(args.filter((arg) => arg === '-threads')).to.have.length(3);
  });

  it('may be sound alone, cut to the sample', () => {
    const plan = planOf([
      { input: 'sound', start: 0.5, end: 1 } as object,
      { silence: 0.25 } as object,
    ]);
    expect(plan.canvas).to.include({ resolution: null, channels: 1 });
    expect(plan.cuts.map(lengthOf)).to.deep.equal([24_000, 12_000]);
    expect(joinGraph(plan)).to.match(/concat=n=2:v=0:a=1\[a\]$/);
    expect(mediaOf(plan)).to.include({ seconds: 0.75, video: null });
  });

  it('has a silent track where it is asked for, and none where nothing sounds', () => {
    expect(planOf([{ input: 'silent' }]).canvas.channels).to.equal(0);
    expect(planOf([{ input: 'silent' }], { sound: true, channels: 2 }).canvas.channels).to.equal(2);
    expect(planOf([{ input: 'a', mute: true } as object]).canvas.channels).to.equal(0);
    expect(planOf([{ input: 'a' }], { sound: false }).canvas.channels).to.equal(0);
  });

  it('never drifts: the samples of all pieces are those of the whole', () => {
    const third = 1001 / 30_000;
    const pieces = Array.from({ length: 20 }, () => ({ input: 'a', end: 7 * third }));
    const plan = planOf(pieces, { frame_rate: 29.97, sample_rate: 44_100 });
    const samples = [...joinGraph(plan).matchAll(/end_sample=(\d+)/g)].map(([, count]) =>
      Number(count),
    );
    const whole = secondsOf(plan.frameCount, plan.canvas.rate) * 44_100;
    expect(samples.reduce((a, b) => a + b)).to.equal(Math.round(whole));
  });
});

describe('a frame rate', () => {
  it('is the one that is meant', () => {
    expect([25, 23.976, 29.97, 59.94, 12.5].map((rate) => rateText(exactRate(rate)))).to.deep.equal(
      ['25', '24000/1001', '30000/1001', '60000/1001', '12500/1000'],
    );
  });

  it('of a source that missed frames is the usual one', () => {
    expect([29.87, 24.98, 14.9, 7.2].map((rate) => rateText(steadyRate(rate)))).to.deep.equal([
      '30000/1001',
      '25',
      '15',
      '7',
    ]);
  });

  it('of a source is 1 to 240, whatever it says', () => {
    const rates = [1e-6, 0.4, 144, 240.4, 1000, 1e6].map((rate) => rateText(steadyRate(rate)));
    expect(rates).to.deep.equal(['1', '1', '144', '240', '240', '240']);
  });

  it('counts frames exactly', () => {
    const rate = exactRate(29.97);
    for (const frame of [0, 1, 29, 1000, 2_589_408]) {
      expect(frameAt(secondsOf(frame, rate), rate)).to.equal(frame);
      expect(frameAt(Number(secondsOf(frame, rate).toFixed(3)), rate)).to.equal(frame);
    }
  });

  it('takes the later of two frames that are equally near', () => {
    const rate = exactRate(25);
    const between = [0.02, 0.14, 1.1, 3.3, 4.1, 8.2, 16.42, 86_399.98];
    for (const seconds of between) {
      const doubled = Math.round(seconds * 50);
      expect(frameAt(seconds, rate), String(seconds)).to.equal(Math.ceil(doubled / 2));
    }
    expect([4.099_999, 4.100_001].map((seconds) => frameAt(seconds, rate))).to.deep.equal([
      102, 103,
    ]);
  });
});
