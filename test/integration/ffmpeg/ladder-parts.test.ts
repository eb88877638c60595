/** Parts of a ladder that are not what they have to be, though ffmpeg says that it went well; and HDR that is kept. */
import { NonRetryableError, RetryableError } from '@soda-scheduler/executor-sdk';
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ladderHandler } from '../../../examples/ffmpeg/ladder/ladder.ts';
import type { LadderResult } from '../../../examples/ffmpeg/ladder/result.ts';
import { findFfmpeg } from '../../../examples/media/binaries.ts';
import { MediaRoot } from '../../../examples/media/media-root.ts';

const PROFILE = {
  ...{ preset: 'ultrafast', gop_seconds: 0.5, rungs: [{ height: 90, crf: 35, max_kbps: 500 }] },
  ...{ poster: null, sprites: null, captions: false },
};

/** Ten bits, and as a rung has to be but for the name that the codec has in it. */
const HDR = [
  ...['-pix_fmt', 'yuv420p10le', '-color_primaries', 'bt2020', '-color_trc', 'smpte2084'],
  ...['-colorspace', 'bt2020nc', '-c:v', 'libx265', '-preset', 'ultrafast', '-tag:v', 'hev1'],
  ...['-x265-params', 'keyint=13:min-keyint=13:scenecut=0:open-gop=0:log-level=error'],
];

describe('a part of a ladder', function () {
  let ffmpeg: string;
  let ffprobe: string;
  let root: string;

  before(async function () {
    const found = await findFfmpeg(process.env).catch(() => null);
    if (found === null || found.ffprobe === null) return this.skip();
    [ffmpeg, ffprobe] = [found.ffmpeg, found.ffprobe];
    root = mkdtempSync(join(tmpdir(), 'soda-parts-'));
    run([
      ...['-f', 'lavfi', '-i', 'testsrc2=s=160x90:r=25:d=2', '-f', 'lavfi', '-i', 'sine=d=2'],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', join(root, 'in.mp4')],
    ]);
  });
  after(() => root && rmSync(root, { recursive: true }));

  function run(args: string[]): void {
    execFileSync(ffmpeg, ['-nostdin', '-loglevel', 'error', '-y', ...args]);
  }

  /** An ffmpeg that does `script` where its arguments have `name` in them, and else what it is told. */
  function failing(name: string, script: string): string {
    const path = join(root, 'failing-ffmpeg');
    const text = `#!/bin/sh\nfor last; do :; done; file=\${last#file:}\ncase "$last" in *${name}*) ${script};; esac\nexec ${ffmpeg} "$@"\n`;
    writeFileSync(path, text, { mode: 0o755 });
    return path;
  }

  async function ladder(params: object, program = ffmpeg, id = 'parts', isFull = false) {
    const mediaRoot = await MediaRoot.open(root);
    if (isFull) mediaRoot.isFull = () => Promise.resolve(true);
    const settings = { ffmpeg: program, ffprobe, mediaRoot, threads: 1, profiles: new Map() };
    const of = { input: 'in.mp4', output: 'vod', profile: PROFILE, ...params };
    const handler = ladderHandler({ ...settings, keys: null });
    const { result, error } = await runHandler(handler, { id, params: of });
    return { result: result as LadderResult | undefined, error: error as Error | undefined };
  }

  it('is tried again where it is missing, empty, cut off or no file', async () => {
    const pictures = { ...PROFILE, poster: {}, sprites: {} };
    const cases: [string, string, object, RegExp][] = [
      ['audio.mp4', `exec ${ffmpeg} -t 1 "$@"`, {}, /^audio: it is 1(\.\d+)? s long instead of 2/],
      ['audio.mp4', 'echo x > "$file"; exit 0', {}, /^audio: .* left no readable file$/],
      ['90p.mp4', 'echo x > "$file"; exit 0', {}, /^rung 90p: .* left no readable file$/],
      ['sprites-', 'exit 0', { profile: pictures }, /^pictures: sprites-1.jpg is missing or empty/],
      ['poster.jpg', ': > "$file"; exit 0', { profile: pictures }, /^pictures: poster.jpg is mi/],
    ];
    for (const [name, script, params, message] of cases) {
      const { error } = await ladder(params, failing(name, script));
      expect(error?.message).to.match(message);
      expect(error, name).to.be.instanceOf(RetryableError);
      expect(readdirSync(root)).not.to.include('vod');
    }
  });

  it('waits for room where a full disk has left no file, though ffmpeg says that it is well', async () => {
    const program = failing('90p.mp4', 'echo x > "$file"; exit 0');
    const { error } = await ladder({}, program, 'full', true);
    expect(error?.message).to.equal(
      'rung 90p: there is no space left on the disk of the media root',
    );
    expect(error).to.be.instanceOf(RetryableError).with.property('retryAfterMs', 60_000);
  });

  it('stays HDR where that is wished for, and says so, also where it is copied', async () => {
    run(['-f', 'lavfi', '-i', 'testsrc2=s=160x90:r=25:d=1', ...HDR, join(root, 'hdr.mp4')]);
    const rungs = [90, 64].map((height) => ({ height, crf: 35, max_kbps: 5_000 }));
    const profile = { ...PROFILE, rungs, codec: 'h265', hdr: 'keep' };
    const { result, error } = await ladder({ input: 'hdr.mp4', output: 'hdr', profile }, ffmpeg);
    expect(error).to.equal(undefined);
    expect(result?.rungs.map(({ copied }) => copied)).to.deep.equal([true, false]);
    const master = readFileSync(join(root, 'hdr/master.m3u8'), 'utf8');
    const variants = master.split('\n').filter((line) => line.startsWith('#EXT-X-STREAM-INF'));
    expect(variants).to.have.length(2);
    for (const variant of variants) {
      expect(variant)
        .to.match(/CODECS="hvc1[^"]*"/)
        .and.to.include(',VIDEO-RANGE=PQ');
    }
    const entries = ['-show_entries', 'stream=codec_tag_string,pix_fmt,color_transfer'];
    for (const n of [0, 1]) {
      const playlist = join(root, `hdr/media_${n}.m3u8`);
      const args = ['-v', 'error', '-of', 'csv=p=0', ...entries, playlist];
      const [stream] = execFileSync(ffprobe, args, { encoding: 'utf8' }).split('\n');
      expect(stream).to.equal('hvc1,yuv420p10le,smpte2084');
      run(['-xerror', '-i', playlist, '-f', 'null', '-']);
    }
  });

  it('is not tried again where ffmpeg complained of the input', async () => {
    const script = `echo 'Error while decoding stream #0:1' >&2; exec ${ffmpeg} -t 1 "$@"`;
    const { error } = await ladder({}, failing('audio.mp4', script), 'damaged');
    expect(error?.message).to.match(/^audio: it is .* The input is damaged\.$/);
    expect(error).to.be.instanceOf(NonRetryableError);
  });
});
