/** The transcode handler with the real ffmpeg of this machine, and with some that misbehave. */
import { NonRetryableError, RetryableError, TaskAborted } from '@soda-scheduler/executor-sdk';
import type { Progress } from '@soda-scheduler/executor-sdk';
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import {
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MediaRoot } from '../../../examples/media/media-root.ts';
import { type Prober, probe } from '../../../examples/media/probe.ts';
import type {
  FfmpegSettings,
  RenditionProgress,
  Renditions,
} from '../../../examples/ffmpeg/renditions.ts';
import { transcodeHandler } from '../../../examples/ffmpeg/transcode.ts';
import { mediaFolder } from '../../helpers/media/media-folder.ts';

const CLIP_SECONDS = 2;
const SMALL = { resolution: '64x48', gop: 10 };

interface Run {
  readonly params: unknown;
  readonly checkpoint?: unknown;
  readonly settings?: Partial<FfmpegSettings>;
  readonly onProgress?: (state: RenditionProgress, abort: AbortController) => void;
}

describe('a media root', () => {
  let root: string;
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'soda-media-'));
  });

  it('says that there is too little room, or no directory', async () => {
    const mediaRoot = await MediaRoot.open(root);
    expect(await mediaRoot.problem(1)).to.equal(null);
    expect(await mediaRoot.problem(1e18)).to.match(
      /^MEDIA_ROOT has \d+ MB left, and needs 1000000000000$/,
    );
    rmSync(root, { recursive: true });
    expect(await mediaRoot.problem(1)).to.equal('MEDIA_ROOT cannot be written: ENOENT');
  });
});

describe('a transcode', function () {
  let prober: Prober;
  let root: string;

  mediaFolder('transcode', (found, folder) => {
    [prober, root] = [found, folder];
    makeClip('clip.mp4', CLIP_SECONDS);
  });

  function makeClip(name: string, seconds: number): void {
    const sources = ['-f', 'lavfi', '-i', `testsrc2=s=321x240:r=25:d=${seconds}`];
    sources.push('-f', 'lavfi', '-i', `sine=d=${seconds}`, '-pix_fmt', 'yuv444p');
    sources.push('-c:v', 'libx264', '-preset', 'ultrafast');
    execFileSync(prober.ffmpeg, ['-loglevel', 'error', ...sources, '-y', join(root, name)]);
  }

  async function transcode({ params, checkpoint, settings, onProgress }: Run) {
    const abort = new AbortController();
    const mediaRoot = await MediaRoot.open(root);
    const handler = transcodeHandler({ ...prober, mediaRoot, threads: 1, ...settings });
    const report = await runHandler(
      (task, context) => {
        const progress = (given: number | Progress) => {
          if (typeof given === 'number') throw new Error('it says no more than a number');
          context.progress(given);
          onProgress?.(given.state as RenditionProgress, abort);
        };
        return handler(task, { ...context, progress });
      },
      { id: 'task-1', params, checkpoint, signal: abort.signal },
    );
    const result = report.result as Renditions | undefined;
    return { ...report, result, error: report.error as Error | undefined };
  }

  async function outputsOf(run: Run): Promise<Renditions['outputs']> {
    const { result, error } = await transcode(run);
    if (result === undefined) throw error ?? new Error('neither result nor error');
    return result.outputs;
  }

  const probeFile = (name: string, with_: Prober = prober) =>
    probe(with_, join(root, name), name, {
      signal: new AbortController().signal,
      stallMs: 10_000,
      killGraceMs: 1_000,
    });
  const temporaryFiles = () => readdirSync(root).filter((name) => /^\.soda(?!~work$)/.test(name));

  /** A program that does `script` in place of ffmpeg; it has the arguments in `args`. */
  function fake(name: string, script: string): string {
    const path = join(root, name);
    const prelude = `#!${process.execPath}\nconst args = process.argv.slice(2);\n`;
    writeFileSync(path, `${prelude}const fs = require('node:fs');\n${script}`, { mode: 0o755 });
    return path;
  }

  it('makes what was asked for', async () => {
    const video = { resolution: '160x120', frame_rate: 15, profile: 'baseline', bitrate_kbps: 200 };
    const audio = { sample_rate: 48_000, channels: 1, bitrate_kbps: 64 };
    const params = {
      input: 'clip.mp4',
      outputs: [
        { path: 'made/one.mp4', video: { ...video, gop: 50 }, audio, pad_seconds: 1 },
        { path: join(root, 'made/-two.mkv'), video: null, audio: { codec: 'mp3' } },
        { path: 'made/three 100%d.webm', video: SMALL, audio: null },
      ],
    };
    const { progress, checkpoints, result } = await transcode({ params });
    expect(result?.outputs.map(({ skipped }) => skipped)).to.deep.equal([false, false, false]);

    const one = await probeFile('made/one.mp4');
    expect(one.video).to.include({ codec: 'h264', width: 160, height: 120, frameRate: 15 });
    expect(one.audio).to.include({ codec: 'aac', sampleRate: 48_000, channels: 1 });
    expect(one.seconds).to.be.closeTo(CLIP_SECONDS + 1, 0.2);
    const two = await probeFile('made/-two.mkv');
    expect([two.video, two.audio?.codec]).to.deep.equal([null, 'mp3']);
    const three = await probeFile('made/three 100%d.webm');
    expect([three.video?.codec, three.audio]).to.deep.equal(['vp9', null]);

    const percents = progress.map(({ percent }) => percent);
    expect(percents).to.deep.equal([...percents].sort((a, b) => a - b));
    expect(percents.at(-1)).to.equal(100);
    expect(progress.at(0)?.state).to.include({ output: 1, of: 3, path: 'made/one.mp4' });
    expect(progress.at(-1)?.state).to.include({ output: 3, of: 3 });
    expect(checkpoints).to.have.length(3);
    expect(temporaryFiles()).to.deep.equal([]);
  });

  it('describes a file without ffprobe as with it', async () => {
    makeClip('clip.mkv', CLIP_SECONDS);
    const [withProbe, without] = await Promise.all([
      probeFile('clip.mkv'),
      probeFile('clip.mkv', { ...prober, ffprobe: null }),
    ]);
    // The banner rounds to hundredths.
    expect(without.seconds).to.be.closeTo(withProbe.seconds ?? 0, 0.01);
    expect({ ...without, seconds: withProbe.seconds }).to.deep.equal(withProbe);
  });

  it('makes an output once, whoever asks, until the input changes', async () => {
    const params = { input: 'clip.mp4', outputs: [{ path: 'once.mp4', video: SMALL }] };
    const { result } = await transcode({ params });
    expect(result?.outputs[0]).to.include({ skipped: false, replaced: false, decode_errors: 0 });
    // Whoever finds a file does not know what its maker saw of the input.
    const found = { ...result?.outputs[0], skipped: true, decode_errors: null };
    expect(await outputsOf({ params })).to.deep.equal([found]);

    const other = { ...params, outputs: [{ path: 'once.mp4', video: { ...SMALL, gop: 11 } }] };
    const changed = (await outputsOf({ params: other }))[0];
    expect(changed).to.include({ skipped: false, replaced: true });
    const again = (await outputsOf({ params: other }))[0];
    expect(again).to.include({ skipped: true, replaced: false });
    utimesSync(join(root, 'clip.mp4'), new Date(), new Date());
    expect((await outputsOf({ params: other }))[0]).to.include({ skipped: false });
  });

  it('goes on behind the outputs that an earlier attempt finished', async () => {
    const outputs = ['first.ts', 'second.ts'].map((path) => ({ path, video: SMALL }));
    const params = { input: 'clip.mp4', outputs };
    writeFileSync(join(root, '.soda~default~task-1~1~0123'), 'left by an attempt that was killed');
    writeFileSync(join(root, '.soda~default~task-10~1~0123'), 'of another task');
    writeFileSync(join(root, '.soda~live~task-1~1~0123'), 'of another namespace');
    const first = await transcode({
      params,
      onProgress: ({ output }, abort) => output === 2 && abort.abort(),
    });
    expect(first.error).to.be.instanceOf(TaskAborted);
    expect(first.progress.at(-1)?.parts?.map(({ name }) => name)).to.deep.equal([
      'first.ts',
      'second.ts',
    ]);
    expect(first.progress.at(-1)?.parts?.[0]?.percent, 'of what is done').to.equal(100);
    expect(temporaryFiles()).to.have.members([
      '.soda~default~task-10~1~0123',
      '.soda~live~task-1~1~0123',
    ]);
    for (const name of temporaryFiles()) rmSync(join(root, name));

    const checkpoint = first.checkpoints.at(-1);
    const second = await outputsOf({ params, checkpoint });
    expect(second.map(({ skipped }) => skipped)).to.deep.equal([true, false]);

    writeFileSync(join(root, 'first.ts'), 'replaced by somebody');
    const third = await transcode({ params, checkpoint });
    expect(third.result?.outputs[0]).to.include({ skipped: false, replaced: true });
    // A later attempt finds it done, and still says so.
    const fourth = await outputsOf({ params, checkpoint: third.checkpoints.at(-1) });
    expect(fourth[0]).to.include({ skipped: true, replaced: true });

    // What was made of an input that is another one by now is made anew.
    utimesSync(join(root, 'clip.mp4'), 1, 1);
    const fifth = await outputsOf({ params, checkpoint: third.checkpoints.at(-1) });
    expect(fifth.map(({ skipped }) => skipped)).to.deep.equal([false, false]);
  });

  it('ends ffmpeg when it is told to', async () => {
    makeClip('long.mp4', 20);
    const { error } = await transcode({
      params: { input: 'long.mp4', outputs: [{ path: 'canceled.mp4' }] },
      onProgress: (_, abort) => abort.abort(),
    });
    expect(error).to.be.instanceOf(TaskAborted);
    expect(readdirSync(root)).not.to.include('canceled.mp4');
    expect(temporaryFiles()).to.deep.equal([]);
  });

  const misbehaved: [string, string, RegExp][] = [
    ['exits with success and no file', '', /reported success, but left no readable file/],
    [
      'exits with success and rubbish',
      `fs.writeFileSync(args.at(-1).slice(5), 'x')`,
      /no readable/,
    ],
    [
      'exits with success and half of the file',
      `require('node:child_process').execFileSync('ffmpeg', ['-loglevel', 'error', '-t', '0.5', ` +
        `...args.slice(args.indexOf('-i'))])`,
      /but its video is 0\.\d+ s long instead of 2 s/,
    ],
    [
      'fills the disk',
      `process.stderr.write('av_interleaved_write_frame(): No space left on device'); process.exitCode = 1`,
      /no space left on the disk/,
    ],
    [
      'fills the disk and does not mind',
      `process.stderr.write('No space left on device')`,
      /no space left on the disk/,
    ],
    ['fails', `console.error('reason'); process.exitCode = 9`, /exited with code 9\nreason$/],
    ['crashes', `process.kill(process.pid, 'SIGSEGV')`, /was ended by SIGSEGV/],
    [
      'hangs',
      `setInterval(() => console.log('frame=1\\nprogress=continue'), 20)`,
      /no progress for/,
    ],
  ];
  for (const [what, script, message] of misbehaved) {
    it(`is tried again when ffmpeg ${what}`, async () => {
      const ffmpeg = fake('fake-ffmpeg', script);
      const { error } = await transcode({
        params: { input: 'clip.mp4', outputs: [{ path: 'broken.mp4', video: SMALL }] },
        settings: { ffmpeg, stallMs: what === 'hangs' ? 6_000 : 60_000 },
      });
      expect(error).to.be.instanceOf(RetryableError);
      expect(error?.message)
        .to.match(/^output broken\.mp4/)
        .and.match(message);
      expect(readdirSync(root)).not.to.include('broken.mp4');
      expect(temporaryFiles()).to.deep.equal([]);
    });
  }

  it('creates a directory for many outputs at once', async () => {
    const mediaRoot = await MediaRoot.open(root);
    const paths = Array.from({ length: 50 }, (_, n) => `new/deeper/${n}.mp4`);
    const targets = await Promise.all(paths.map((path) => mediaRoot.output(path)));
    expect(targets).to.deep.equal(paths.map((path) => join(root, path)));
  });

  it('says which media root it cannot have', async () => {
    const missing = join(root, 'no-such-folder');
    for (const [path, problem] of [
      [missing, 'does not exist: make it, or name another directory'],
      [join(root, 'clip.mp4'), 'is not a directory'],
    ] as const) {
      const error = await MediaRoot.open(path).catch((reason: unknown) => reason);
      expect((error as Error).message).to.equal(`MEDIA_ROOT ${path} ${problem}`);
    }
  });

  it('stays inside the media root', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'soda-outside-'));
    try {
      writeFileSync(join(outside, 'secret.mp4'), '');
      symlinkSync(outside, join(root, 'way-out'));
      symlinkSync(join(outside, 'new'), join(root, 'dangling'));
      const refused: [string, string, RegExp][] = [
        ['../secret.mp4', 'a.mp4', /outside the media root/],
        ['/etc/passwd', 'a.mp4', /outside the media root/],
        ['way-out/secret.mp4', 'a.mp4', /outside the media root/],
        ['nothing.mp4', 'a.mp4', /input nothing.mp4 does not exist/],
        ['made', 'a.mp4', /not a regular file/],
        ['clip.mp4', '../a.mp4', /outside the media root/],
        ['clip.mp4', 'way-out/a.mp4', /outside the media root/],
        ['clip.mp4', 'way-out/deep/er/a.mp4', /outside the media root/],
        ['clip.mp4', 'dangling/a.mp4', /leads nowhere/],
        ['clip.mp4', '.soda~task-1~a.mp4', /are temporary files/],
        ['clip.mp4', 'clip.mp4/a.mp4', /not a usable path/],
        ['clip.mp4', 'clip.mp4', /must be different files/],
      ];
      for (const [input, path, message] of refused) {
        const { error } = await transcode({ params: { input, outputs: [{ path }] } });
        expect(error, `${input} -> ${path}`).to.be.instanceOf(NonRetryableError);
        expect(error?.message).to.match(message);
      }
      expect(readdirSync(outside)).to.deep.equal(['secret.mp4']);
      expect(statSync(join(outside, 'secret.mp4')).size).to.equal(0);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });
});
