/** Edits with the real ffmpeg of this machine: cuts to the frame, and the command that users know. */
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { editHandler } from '../../../examples/ffmpeg/edit/edit.ts';
import type { FfmpegSettings, Renditions } from '../../../examples/ffmpeg/renditions.ts';
import { MediaRoot } from '../../../examples/media/media-root.ts';
import type { Prober } from '../../../examples/media/probe.ts';
import { makeNumbered, numbersIn, soundsIn } from './numbered-clips.ts';
import { mediaFolder } from '../../helpers/media/media-folder.ts';

const range = (from: number, to: number, step = 1) =>
  Array.from({ length: Math.ceil((to - from) / step) }, (_, n) => from + n * step);

describe('an edit', function () {
  let prober: Prober;
  let root: string;

  mediaFolder('edit', (found, folder) => {
    [prober, root] = [found, folder];
    const make = (name: string, clip: object) =>
      makeNumbered({
        ...{ ffmpeg: prober.ffmpeg, path: join(root, name), size: '320x180', rate: '25' },
        ...{ frameCount: 60, firstNumber: 1, sampleRate: 48_000, ...clip },
      });
    make('a.mov', {});
    make('fast.mov', { size: '640x360', rate: '50', firstNumber: 100, sampleRate: null });
    make('turned.mov', { firstNumber: 70, frameCount: 25, sampleRate: 44_100, turned: true });
    make('ntsc.mov', { rate: '30000/1001', frameCount: 61 });
  });

  async function edit(
    params: object,
    settings: Partial<FfmpegSettings> = {},
    onCheckpoint?: () => void,
  ) {
    const mediaRoot = await MediaRoot.open(root);
    const handler = editHandler({ ...prober, mediaRoot, threads: 1, ...settings });
    const report = await runHandler(
      (task, context) =>
        handler(task, {
          ...context,
          checkpoint: (state) => {
            context.checkpoint(state);
            onCheckpoint?.();
          },
        }),
      { id: 'edit-1', params },
    );
    return { ...report, error: report.error as Error | undefined };
  }

  async function made(params: object): Promise<Renditions['outputs']> {
    const { result, error } = await edit(params);
    if (result === undefined) throw error ?? new Error('neither result nor error');
    return (result as Renditions).outputs;
  }

  const numbers = (name: string) => numbersIn(prober.ffmpeg, join(root, name));
  const work = () =>
    existsSync(join(root, '.soda~work')) ? readdirSync(join(root, '.soda~work')) : [];

  it('cuts to the frame, whatever the size, rate and turn of the inputs', async () => {
    await made({
      inputs: { a: 'a.mov', fast: 'fast.mov', turned: 'turned.mov' },
      timeline: [
        { input: 'a', start: 0.4, end: 0.8 },
        { input: 'fast', start: 0.2, end: 0.6 },
        { black: 0.2 },
        { input: 'turned', start: 0.52 },
        { input: 'a', start: 2 },
      ],
      outputs: [
        { path: 'cut.mkv', audio: { sample_rate: 48_000 } },
        { path: 'small.mp4', video: { resolution: '160x90', gop: 10 } },
      ],
    });
    // 25 frames a second: frame 10 of `a` has the number 11. Of `fast` every second one is taken.
    const expected = [
      ...range(11, 21),
      ...range(110, 130, 2),
      ...range(0, 5).map(() => 0),
      ...range(83, 95),
      ...range(51, 61),
    ];
    const cut = numbers('cut.mkv');
    expect(cut).to.have.length(expected.length);
    // Of two frames for one place either may be taken.
    expect(
      cut.map((number, n) => (n >= 10 && n < 20 ? number - (number % 2) : number)),
    ).to.deep.equal(expected);
    expect(numbers('small.mp4')).to.deep.equal(cut);
    expect(work()).to.deep.equal([]);
  });

  it('cuts the sound where it cuts the picture', async () => {
    await made({
      inputs: { a: 'a.mov' },
      timeline: [
        { input: 'a', start: 0.4, end: 0.8 },
        { black: 0.2 },
        { input: 'a', end: 0.4, mute: true },
        { input: 'a', start: 2 },
      ],
      outputs: [{ path: 'sound.mkv', audio: { codec: 'opus', bitrate_kbps: 256 } }],
    });
    const sounds = soundsIn(prober.ffmpeg, join(root, 'sound.mkv'), 48_000);
    expect(sounds).to.have.length(2);
    // Opus smears by some milliseconds; a frame has 1,920 samples.
    const edges = sounds.flatMap(({ from, to }) => [from, to]);
    for (const [n, at] of [0, 19_200, 48_000, 67_200].entries()) {
      expect(edges[n]).to.be.closeTo(at, 400);
    }
  });

  it('counts frames of 30000/1001 without drifting', async () => {
    const second = 30 * (1001 / 30_000);
    await made({
      inputs: { ntsc: 'ntsc.mov' },
      timeline: [
        { input: 'ntsc', start: second },
        { input: 'ntsc', end: second },
        { input: 'ntsc', start: 0.1001, end: 0.2002 },
      ],
      outputs: [{ path: 'ntsc.mp4' }],
    });
    expect(numbers('ntsc.mp4')).to.deep.equal([...range(31, 62), ...range(1, 31), ...range(4, 7)]);
  });

  it('makes what the command makes that it stands for', async () => {
    const input = join(root, 'download.mp4');
    const sources = ['testsrc2=s=854x480:r=15:d=4', 'sine=r=48000:d=4'].flatMap((of) => [
      '-f',
      'lavfi',
      '-i',
      of,
    ]);
    const run = (args: string[]) => execFileSync(prober.ffmpeg, ['-loglevel', 'error', ...args]);
    run([
      ...sources,
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      '-pix_fmt',
      'yuv420p',
      '-c:a',
      'aac',
      input,
    ]);
    const filter = '[1:a]atrim=start=0:end=1.0[a];[0:v][0:a][2:v][a]concat=n=2:v=1:a=1[v][a]';
    const command = `-y -threads 4 -i ${input} -f lavfi -i anullsrc=r=48000:cl=mono -f lavfi -i color=black:s=854x480:r=15:d=1.0 -filter_complex ${filter} -map [v] -map [a] -max_muxing_queue_size 9999 -r 15 -ac 1 -ar 48000 -c:a aac -threads 4 -c:v libx264 -y -g 50 -profile:v baseline -s 854x480 -b:v 1000k ${join(root, 'command.mp4')}`;
    run(command.split(' '));

    await made({
      inputs: { class: 'download.mp4' },
      timeline: [{ input: 'class' }, { black: 1 }],
      threads: 4,
      outputs: [
        {
          path: 'task.mp4',
          video: {
            ...{ codec: 'h264', resolution: '854x480', frame_rate: 15, profile: 'baseline' },
            ...{ bitrate_kbps: 1000, gop: 50 },
          },
          audio: { codec: 'aac', sample_rate: 48_000, channels: 1 },
        },
      ],
    });
    const entries =
      'stream=codec_name,profile,width,height,pix_fmt,level,has_b_frames,r_frame_rate,avg_frame_rate,' +
      'sample_rate,channels,channel_layout,nb_frames:packet=flags,pts_time';
    const probe = (name: string, stream: string) => {
      const args = [
        '-v',
        'error',
        '-of',
        'json',
        '-select_streams',
        stream,
        '-show_entries',
        entries,
      ];
      return JSON.parse(
        execFileSync(prober.ffprobe as string, [...args, join(root, name)], { encoding: 'utf8' }),
      ) as {
        packets: { flags: string; pts_time: string }[];
        streams: Record<string, unknown>[];
      };
    };
    const videos = ['task.mp4', 'command.mp4'].map((name) => probe(name, 'v'));
    expect(videos[0]).to.deep.equal(videos[1]);
    expect(videos[0]?.streams[0]).to.include({ profile: 'Constrained Baseline', nb_frames: '75' });
    const keys = videos[0]?.packets.filter(({ flags }) => flags.startsWith('K'));
    expect(keys?.map(({ pts_time }) => Number(pts_time))).to.deep.equal(
      [0, 50 / 15].map((at) => Number(at.toFixed(6))),
    );
    const [own, theirs] = ['task.mp4', 'command.mp4'].map((name) => probe(name, 'a').streams[0]);
    expect({ ...own, nb_frames: 0 }).to.deep.equal({ ...theirs, nb_frames: 0 });
    expect(Number(own?.['nb_frames'])).to.be.closeTo(Number(theirs?.['nb_frames']), 2);
  });

  it('goes on with the joined file and the outputs of an attempt that failed', async () => {
    const broken = join(root, 'broken-ffmpeg');
    const script = `#!/bin/sh\ncase "$*" in *late.mp4*|*~1~*) exit 9;; esac\nexec ${prober.ffmpeg} "$@"\n`;
    writeFileSync(broken, script, { mode: 0o755 });
    const params = {
      inputs: { a: 'a.mov' },
      timeline: [{ input: 'a', start: 1 }],
      outputs: [{ path: 'early.mp4', video: { resolution: '160x90' } }, { path: 'late.mp4' }],
    };
    const failed = await edit(params, { ffmpeg: broken });
    expect(failed.error?.message).to.include('output late.mp4: ffmpeg exited with code 9');
    expect(failed.error).not.to.be.instanceOf(NonRetryableError);
    expect(failed.checkpoints).to.have.length(2);
    const joined = join(root, '.soda~work/default~edit-1/joined.mov');
    const { ino, mtimeMs } = statSync(joined);

    let again: { ino: number; mtimeMs: number } | null = null;
    const { result } = await edit(params, {}, () => {
      again ??= existsSync(joined) ? statSync(joined) : null;
    });
    expect((result as Renditions).outputs.map(({ skipped }) => skipped)).to.deep.equal([
      true,
      false,
    ]);
    expect(again).to.include({ ino, mtimeMs });
    expect(numbers('late.mp4')).to.deep.equal(range(26, 61));
    expect(work()).to.deep.equal([]);

    const third = await made(params);
    expect(third.map(({ skipped }) => skipped)).to.deep.equal([true, true]);
  });

  it('refuses what it cannot cut before anything is encoded', async () => {
    const cases: [object, string][] = [
      [{ timeline: [{ input: 'a', end: 9 }] }, 'timeline.0.end: a is 2.4 s long'],
      [{ timeline: [{ input: 'a', start: 2.4 }] }, 'timeline.0.start: expected at least one frame'],
      [
        { timeline: [{ input: 'a' }, { silence: 1 }] },
        'timeline.1.silence: the timeline has a picture',
      ],
      [
        { timeline: [{ input: 'a' }, { black: 0.001 }] },
        'timeline.1.black: expected at least one frame',
      ],
    ];
    for (const [params, message] of cases) {
      const outputs = [{ path: 'never.mp4' }];
      const { error } = await edit(
        { inputs: { a: 'a.mov' }, outputs, ...params },
        { ffmpeg: '/bin/false' },
      );
      expect(error).to.be.instanceOf(NonRetryableError);
      expect(error?.message).to.include(message);
    }
    expect(work()).to.deep.equal([]);
  });
});
