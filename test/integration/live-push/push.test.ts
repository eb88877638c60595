/** Pushes with the real ffmpeg to a receiver that counts who sends, what is shown, and which time it bears. */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NonRetryableError, RetryableError, TaskAborted } from '@soda-scheduler/executor-sdk';
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { expect } from 'chai';
import { inputsPreparer } from '../../../examples/live-push/inputs.ts';
import { type PushSettings, pushHandler } from '../../../examples/live-push/push.ts';
import type { PushResult } from '../../../examples/live-push/report.ts';
import { findFfmpeg } from '../../../examples/media/binaries.ts';
import { MediaRoot } from '../../../examples/media/media-root.ts';
import type { Prober } from '../../../examples/media/probe.ts';
import { type Packet, RtmpReceiver } from '../../helpers/push/rtmp-receiver.ts';

const RATE = 10;
const FRAME_MS = 1000 / RATE;
const MAIN_SECONDS = 20;
/** How bright the inputs are. A frame of the class says its number: it is 20 and one more for each. */
const WARMUP = 180;
const FALLBACK = 235;
const FIRST_OF_MAIN = 20;
const video = { resolution: '160x120', frame_rate: RATE };

interface Happening {
  readonly name: string;
  readonly data: { readonly shows?: string };
}

describe('a live push', function () {
  let prober: Prober;
  let root: string;
  let receiver: RtmpReceiver;

  before(async function () {
    const found = await findFfmpeg(process.env).catch(() => null);
    if (found === null) return this.skip();
    prober = found;
    root = mkdtempSync(join(tmpdir(), 'soda-push-'));
    make('warmup.mp4', `color=s=160x120:r=${RATE}:d=1,geq=lum=${WARMUP}:cb=128:cr=128`, 1);
    const lum = `lum='${FIRST_OF_MAIN}+N'`;
    make(
      'main.mp4',
      `color=s=160x120:r=${RATE}:d=${MAIN_SECONDS},geq=${lum}:cb=128:cr=128`,
      MAIN_SECONDS,
    );
    ffmpeg(
      '-f',
      'lavfi',
      '-i',
      'color=white:s=160x120',
      '-frames:v',
      '1',
      join(root, 'fallback.png'),
    );
  });
  beforeEach(async () => {
    receiver = await RtmpReceiver.start();
  });
  afterEach(() => receiver.close());
  after(() => root && rmSync(root, { recursive: true }));

  function ffmpeg(...args: string[]): Buffer {
    return execFileSync(prober.ffmpeg, ['-loglevel', 'error', ...args], { maxBuffer: 1e8 });
  }

  function make(name: string, picture: string, seconds: number): void {
    const sources = ['-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', `sine=d=${seconds}`];
    ffmpeg(...sources, '-c:v', 'libx264', '-qp', '4', '-g', '20', join(root, name));
  }

  /** How bright each frame is. */
  function brightnessOf(flv: Buffer): number[] {
    const file = join(root, 'received.flv');
    writeFileSync(file, flv);
    // Not `gray`, which would stretch the range.
    const plane = ['-vf', 'extractplanes=y', '-vsync', 'passthrough', '-f', 'rawvideo', '-'];
    const gray = ffmpeg('-i', file, ...plane);
    return Array.from({ length: gray.length / (160 * 120) }, (_, frame) => {
      const picture = gray.subarray(frame * 160 * 120, (frame + 1) * 160 * 120);
      return Math.round(picture.reduce((sum, value) => sum + value, 0) / picture.length);
    });
  }

  interface PushRun {
    readonly params: object;
    readonly settings?: Partial<PushSettings>;
    readonly checkpoint?: unknown;
    readonly abort?: AbortController;
    readonly onEvent?: (
      happening: Happening,
      of: { decoder: ChildProcess; end: () => void },
    ) => void;
  }

  async function push(run: PushRun) {
    const { params, settings, checkpoint, onEvent, abort = new AbortController() } = run;
    const mediaRoot = await MediaRoot.open(root);
    const allowedHosts = new Set(['127.0.0.1']);
    const handler = pushHandler({
      ...prober,
      mediaRoot,
      probed: { inputs: [] },
      allowedHosts,
      threads: 1,
      standstillMsMax: 1e6,
      ...settings,
    });
    let decoder: ChildProcess | null = null;
    const all = { main: 'main.mp4', video, starts_at: Date.now(), ...params };
    const report = await runHandler(
      (task, context) =>
        handler(task, {
          ...context,
          spawn: (program, args = [], options = {}) => {
            const child = context.spawn(program, args, options);
            if (args.includes(`file:${join(root, 'main.mp4')}`) && args.includes('rawvideo'))
              decoder = child;
            return child;
          },
          event: (name, data = {}) => {
            context.event(name, data);
            if (decoder !== null) onEvent?.({ name, data }, { decoder, end: () => abort.abort() });
          },
        }),
      { params: all, checkpoint, signal: abort.signal },
    );
    const shown = report.events.flatMap(({ data }) => (data as { shows?: string }).shows ?? []);
    return { ...report, shown, result: report.result as PushResult | undefined };
  }

  /** Every frame bears the time of the one before and the length of a frame; sound, too, never goes back. */
  function expectWithoutGap(packets: readonly Packet[]): void {
    for (const kind of ['video', 'audio'] as const) {
      const times = packets
        .filter((packet) => packet.kind === kind)
        .map(({ timestamp }) => timestamp);
      const steps = times.slice(1).map((time, at) => time - (times[at] as number));
      expect(steps.length, kind).to.be.above(5);
      expect(Math.max(...steps), kind).to.be.at.most(FRAME_MS + 1);
      expect(Math.min(...steps), kind).to.be.above(0);
    }
  }

  it('changes from the warm-up to the class in one session, without a gap', async () => {
    const starts_at = Date.now() + 4_000;
    const url = receiver.url('planned');
    const params = { url, warmup: 'warmup.mp4', starts_at, ends_at: starts_at + 2_000 };
    const { error, result, shown, progress } = await push({ params });
    expect(error).to.equal(undefined);
    expect(shown.slice(-2)).to.deep.equal(['warmup', 'main']);
    expect(result).to.include({
      sessions: 1,
      to: `rtmp://127.0.0.1:${receiver.port}/live/…`,
    });
    expect(receiver.published).to.have.length(1);
    expectWithoutGap(receiver.packetsOf('planned'));

    const frames = brightnessOf(Buffer.concat(receiver.published[0]?.flv ?? []));
    const first = frames.lastIndexOf(frames.findLast((one) => one > WARMUP - 8) ?? 0) + 1;
    expect(frames[first - 1]).to.be.closeTo(WARMUP, 3);
    const main = frames.slice(first);
    // A machine that is busy may not keep up with the pace: then frames are left out, and never shown late.
    const dropped = result?.dropped_frames ?? 0;
    expect(main.length).to.be.within(2 * RATE - 1 - dropped, 2 * RATE + 1);
    for (const [at, brightness] of main.entries()) {
      const number = brightness - FIRST_OF_MAIN;
      expect(number, `frame ${at} of the class`).to.be.within(at - 2, at + dropped + 2);
    }
    expect(progress.at(-1)?.state).to.include({ shows: 'main', sessions: 1 });
    expect(progress.at(-1)?.percent).to.be.within(50, 100);
  });

  it('that begins late begins where the clock is, with a file beside one that is there', async () => {
    const lateMs = 4_000;
    writeFileSync(join(root, 'out.flv'), 'of an earlier attempt');
    const began = Date.now();
    const times = { starts_at: began - lateMs, ends_at: began + 6_000 };
    const params = { path: 'out.flv', warmup: 'not needed any more.mp4', ...times };
    const { error, result } = await push({ params });
    expect(error).to.equal(undefined);
    expect(readFileSync(join(root, 'out.flv'), 'utf8')).to.equal('of an earlier attempt');
    const frames = brightnessOf(readFileSync(join(root, 'out.2.flv')));
    const number = (frames.find((brightness) => brightness > FIRST_OF_MAIN) ?? 0) - FIRST_OF_MAIN;
    expect(number * FRAME_MS - lateMs, 'how late it began').to.be.within(-200, 6_000);
    expect((frames.at(-1) ?? 0) - FIRST_OF_MAIN, 'to its end').to.be.closeTo(10 * RATE - 1, 3);
    expect(result?.frames).to.be.closeTo(frames.length, 1);
  });

  it('covers an input that stalls, and goes on in the same session where the clock is', async () => {
    const seen: string[] = [];
    let shown = '';
    const { error } = await push({
      params: { url: receiver.url('stalled'), fallback: 'fallback.png' },
      onEvent: ({ name, data: { shows } }, { decoder, end }) => {
        shown = shows ?? shown;
        // From when the class is seen, which may take a while.
        if (seen.length === 0 && (receiver.published.length === 0 || shown !== 'main')) return;
        if (seen.length > 0 && name !== 'on_air') return;
        seen.push(shown);
        if (seen.length === 1) decoder.kill('SIGSTOP');
        if (shown === 'fallback') decoder.kill('SIGCONT');
        if (seen.length === 3) end();
      },
    });
    expect(error).to.be.instanceOf(TaskAborted);
    expect(seen).to.deep.equal(['main', 'fallback', 'main']);
    expect(receiver.published).to.have.length(1);
    expectWithoutGap(receiver.packetsOf('stalled'));
    const frames = brightnessOf(Buffer.concat(receiver.published[0]?.flv ?? []));
    const from = frames.findIndex((brightness) => brightness < FALLBACK - 10);
    const covered = frames.findIndex((one, at) => at > from && one > FALLBACK - 10);
    const last = frames[covered - 1] as number;
    const held = frames.slice(from, covered).filter((brightness) => brightness >= last - 1);
    expect(held.length * FRAME_MS, 'how long the last picture stood').to.be.below(1_000);
  });

  it('says what has ended an input', async () => {
    const { events } = await push({
      params: { path: 'killed.flv' },
      onEvent: ({ name, data: { shows } }, { decoder, end }) => {
        if (shows === 'main') decoder.kill('SIGKILL');
        if (name === 'source_failed') end();
      },
    });
    const failed = events.find(({ name }) => name === 'source_failed');
    expect(failed?.data).to.include({ name: 'main.mp4', why: 'ffmpeg has failed (SIGKILL)' });
  });

  it('has another session where the receiver ends one, and never two', async () => {
    const abort = new AbortController();
    receiver.onPacket = (_, from) => {
      if (from === receiver.published[1]) abort.abort();
      else if (from.packets.length === 20) receiver.cut();
    };
    const { error, events } = await push({ params: { url: receiver.url('cut') }, abort });
    expect(error).to.be.instanceOf(TaskAborted);
    const [first, second] = receiver.published;
    expect(first?.packets.at(-1)?.at).to.be.below(second?.packets[0]?.at ?? 0);
    const ended = events.find(({ name }) => name === 'session_ended');
    expect(JSON.stringify(ended?.data)).to.include('rtmp://').and.not.to.include('/live/cut');
  });

  it('ends by itself when it has stood still for as long as it may', async () => {
    const { error } = await push({
      params: { url: receiver.url('stood') },
      settings: { standstillMsMax: 3_000 },
      onEvent: ({ name }) => {
        if (name !== 'session_began') return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_300);
      },
    });
    expect((error as Error).message).to.match(/^this process stood still for \d+ s$/);
  });

  it('ends by itself after its machine was suspended', async () => {
    const { uptime } = os;
    try {
      const { error } = await push({
        params: { url: receiver.url('suspended') },
        settings: { standstillMsMax: 3_000 },
        onEvent: ({ name }) => {
          if (name === 'session_began') os.uptime = () => uptime() + 60;
        },
      });
      expect((error as Error).message).to.match(/^this process stood still for 6\d s$/);
    } finally {
      os.uptime = uptime;
    }
  });

  it('goes on where the clock of its machine is set', async () => {
    const { now } = Date;
    try {
      const { error } = await push({
        params: { path: 'set.flv', ends_at: now() + 6_000 },
        settings: { standstillMsMax: 30_000 },
        onEvent: ({ name }) => {
          if (name === 'session_began') Date.now = () => now() + 60_000;
        },
      });
      expect(error).to.equal(undefined);
      expect(Date.now).not.to.equal(now);
    } finally {
      Date.now = now;
    }
  });

  it('begins the class on its second also where the clock is set during the warm-up', async () => {
    const { now } = Date;
    try {
      const starts_at = now() + 14_000;
      const { error, result, shown } = await push({
        params: { path: 'moved.flv', warmup: 'warmup.mp4', starts_at, ends_at: starts_at + 1_000 },
        onEvent: ({ name }) => {
          if (name === 'session_began') Date.now = () => now() + 10_000;
        },
      });
      expect(error).to.equal(undefined);
      expect(shown.slice(-2)).to.deep.equal(['warmup', 'main']);
      expect(result?.seconds).to.be.below(10);
    } finally {
      Date.now = now;
    }
  });

  it('is refused before anything is sent', async () => {
    const url = receiver.url('refused');
    writeFileSync(join(root, 'text.mp4'), 'no video');
    for (const [params, says] of [
      [
        { url: 'rtmp://other.example.com/live/key' },
        'url: other.example.com is not among the hosts',
      ],
      [{ url, main: 'missing.mp4' }, 'input missing.mp4 does not exist'],
      [{ url, main: '../etc/passwd' }, 'outside the media root'],
      [{ url, main: 'text.mp4' }, 'main text.mp4: '],
      [{ url, main: 'fallback.png' }, 'main fallback.png: expected a video, not a picture'],
      [{ url, starts_at: Date.now() - 60_000 }, 'the class was over before the push could begin'],
    ] as const) {
      const { error } = await push({ params });
      expect(error, says).to.be.instanceOf(NonRetryableError);
      expect((error as Error).message).to.include(says);
    }
    expect(receiver.published).to.deep.equal([]);
    // What an earlier attempt has sent to its end is no failure.
    const endsAt = Date.now() - 60_000;
    const after = (msBefore: number) =>
      push({
        params: { url, starts_at: endsAt - 1_000 * MAIN_SECONDS, ends_at: endsAt },
        checkpoint: { version: 1, inputs: [], sent_until: endsAt - msBefore },
      });
    expect((await after(35_000)).result).to.include({ frames: 0 });
    // What it has not sent to its end is one.
    const { error } = await after(45_000);
    expect(error).to.be.instanceOf(NonRetryableError);
    const since = new Date(endsAt - 45_000).toISOString();
    expect((error as Error).message).to.equal(`off the air since ${since}`);
  });

  it('that could send nothing has failed, however near its end it began', async () => {
    const params = () => ({
      url: 'rtmp://127.0.0.1:1/live/key',
      ends_at: Date.now() + 4_000,
    });
    const { error } = await push({ params: params() });
    expect(error).to.be.instanceOf(RetryableError);
    expect((error as Error).message).to.match(/^nothing could be sent: the sender ended/);
    // Unless an attempt before it has sent all but the end.
    const checkpoint = { version: 1, inputs: [], sent_until: Date.now() - 6_000 };
    expect((await push({ params: params(), checkpoint })).result).to.include({ sessions: 0 });
  });

  it('does not look into again what it did when a booking had it, and says then what is missing', async () => {
    const probed: PushSettings['probed'] = { inputs: [] };
    const prepare = inputsPreparer({ ...prober, mediaRoot: await MediaRoot.open(root), probed });
    const params = { path: 'prepared.flv', main: 'main.mp4', starts_at: Date.now(), video };
    const { signal } = new AbortController();
    const booking = { id: 'bk-1', type: 'ffmpeg.push', fromAt: 0, toAt: 1 };
    const task = (given: object) => ({
      ...{ id: 't', type: booking.type },
      params: given,
      paramsText: '',
    });
    const tasks = [task({ ...params, main: 'none.mp4' }), task(params)];
    const wrong = await prepare({ ...booking, tasks }, signal).catch((error: Error) => error);
    expect(String(wrong)).to.match(/none\.mp4/);
    // What it ends with after its booking is over is of no use to the next one.
    const over = await prepare({ ...booking, tasks: [] }, AbortSignal.abort()).catch(String);
    expect(over).to.match(/abort/i);
    expect(probed.inputs.map(({ name }) => name)).to.deep.equal(['main.mp4']);

    const settings = { ffprobe: '/nonexistent', probed };
    const ends_at = Date.now() + 6_000;
    const { error } = await push({ params: { ...params, ends_at }, settings });
    expect(error).to.equal(undefined);
    const { error: failed } = await push({
      params: { ...params, ends_at: Date.now() + 1_000 },
      settings: { ffprobe: '/nonexistent' },
    });
    expect(String(failed)).to.match(/nonexistent/);
  });
});
