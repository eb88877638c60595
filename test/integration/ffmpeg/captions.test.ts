/** Subtitles of the kinds that sources have, as a ladder has them. */
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
  ...{ preset: 'ultrafast', rungs: [{ height: 64, crf: 35, max_kbps: 100 }] },
  ...{ audio: null, poster: null, sprites: null },
};

/** A dialogue for each: begin, end, text. */
const assOf = (...events: readonly (readonly [string, string, string])[]) =>
  [
    ...['[Script Info]', 'ScriptType: v4.00+', '', '[V4+ Styles]'],
    ...['Format: Name, Fontname, Fontsize', 'Style: Default,Arial,16', '', '[Events]'],
    'Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text',
    ...events.map(([start, end, text]) => `Dialogue: 0,${start},${end},Default,,0,0,0,,${text}`),
    '',
  ].join('\n');

describe('captions of a ladder', function () {
  let ffmpeg: string;
  let ffprobe: string;
  let root: string;

  before(async function () {
    const found = await findFfmpeg(process.env).catch(() => null);
    if (found === null || found.ffprobe === null) return this.skip();
    [ffmpeg, ffprobe] = [found.ffmpeg, found.ffprobe];
    root = mkdtempSync(join(tmpdir(), 'soda-captions-'));
  });
  after(() => root && rmSync(root, { recursive: true }));

  /**
   * What the ladder of a video with these tracks of subtitles has of each: by the name of a file and its text, as the
   * packets in it or in another codec. All in one video, for a ladder is nine processes.
   */
  async function captionsFrom(
    input: string,
    ...tracks: readonly { name: string; text: string; codec?: string }[]
  ): Promise<string[]> {
    for (const { name, text } of tracks) writeFileSync(join(root, name), text);
    execFileSync(ffmpeg, [
      ...['-nostdin', '-loglevel', 'error', '-y', '-f', 'lavfi', '-i', 'testsrc2=s=64x64:r=5:d=6'],
      ...tracks.flatMap(({ name }) => ['-i', join(root, name)]),
      ...[0, ...tracks.map((_, n) => n + 1)].flatMap((n) => ['-map', `${n}`]),
      ...tracks.flatMap(({ codec = 'copy' }, n) => [`-c:s:${n}`, codec]),
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'],
      ...['-max_interleave_delta', '0', join(root, input)],
    ]);
    const mediaRoot = await MediaRoot.open(root);
    const settings = { ffmpeg, ffprobe, mediaRoot, threads: 1, profiles: new Map(), keys: null };
    const output = `of-${input}`;
    const params = { input, output, profile: PROFILE };
    const { error } = await runHandler(ladderHandler(settings), { id: input, params });
    expect(error).to.equal(undefined);
    const captions = readdirSync(join(root, output)).filter((file) => file.startsWith('captions'));
    const texts = tracks.map((_, n) => `captions-${n}.vtt`);
    expect(captions).to.have.members([...tracks.map((_, n) => `captions-${n}.m3u8`), ...texts]);
    return texts.map((name) => readFileSync(join(root, output, name), 'utf8'));
  }

  const cues = (...of: readonly (readonly string[])[]) =>
    `WEBVTT\n${of.map((lines) => `\n${lines.join('\n')}\n`).join('')}`;

  it('keep an empty line within a text from being the end of its cue', async () => {
    const said = String.raw`one\N\N00:00:03.000 --> 00:00:04.000\Ntwo {\i1}it{\i0}\N\N\N& <v>`;
    const cue = ['one', '00:00:03.000 --&gt; 00:00:04.000', 'two <i>it</i>', '&amp; &lt;v>'];
    const ass = assOf(['0:00:01.00', '0:00:02.50', said]);
    const expected = cues(['00:00:01.000 --> 00:00:02.500', ...cue]);
    const asIn = (codec: string) => ({ name: 'a.ass', text: ass, codec });
    expect(await captionsFrom('a.mp4', asIn('mov_text'))).to.deep.equal([expected]);
    expect(await captionsFrom('a.mkv', asIn('copy'), asIn('webvtt'), asIn('subrip'))).to.deep.equal(
      [
        expected,
        // Of such a source ffmpeg reads tags, and loses the end of an arrow with them.
        expected.replace('--&gt; 00:00:04', '-- 00:00:04').replace('&lt;v>', ''),
        // There it ends a text for ffmpeg.
        cues(['00:00:01.000 --> 00:00:02.500', 'one']),
      ],
    );
  });

  const TIMES = ['00:00:01.000 --> 00:00:02.000', '00:00:03.000 --> 00:00:04.000'] as const;
  const EXACT = [
    ...['1', '00:00:01,001 --> 00:00:04,003', 'first', 'line', ''],
    ...['2', '00:00:01,001 --> 00:00:02,005', 'at once', ''],
    ...['3', '01:02:03,456 --> 01:02:04,567', 'late', ''],
  ].join('\n');
  /** What each of the next tests looks at, by the kinds of sources; for all of them one video is made. */
  const TEXTS = {
    'exact.srt': EXACT,
    'exact.vtt': `WEBVTT\n\n${EXACT.replaceAll(/(\d),(\d)/g, '$1.$2')}`,
    'nothing.ass': assOf(
      ['0:00:01.00', '0:00:02.00', String.raw`{\an8}\N`],
      ['0:00:02.00', '0:00:03.00', 'said'],
    ),
    'drawn.ass': assOf(
      ['0:00:01.00', '0:00:02.00', String.raw`a\hb`],
      ['0:00:02.00', '0:00:03.00', String.raw`{\an7\p1}m 0 0 l 100 0 100 100{\p0}`],
      ['0:00:03.00', '0:00:04.00', String.raw`{\p1}m 0 0 l 9 9{\p0}\Nsaid`],
    ),
    'braces.vtt': `WEBVTT\n\n${TIMES[0]}\na&nbsp;b {x}\n\n${TIMES[1]}\n{y\n`,
    'braces.srt': `1\n${TIMES[0].replaceAll('.', ',')}\nC:\\home {x}\n`,
  };
  let captions: Promise<string[]> | null = null;
  async function captionOf(name: keyof typeof TEXTS): Promise<string | undefined> {
    const tracks = Object.entries(TEXTS).map(([of, text]) => ({ name: of, text }));
    captions ??= captionsFrom('texts.mkv', ...tracks);
    return (await captions)[Object.keys(TEXTS).indexOf(name)];
  }

  it('keep times as they are: to the millisecond, at once, behind an hour', async () => {
    const expected = cues(
      ['00:00:01.001 --> 00:00:04.003', 'first', 'line'],
      ['00:00:01.001 --> 00:00:02.005', 'at once'],
      ['01:02:03.456 --> 01:02:04.567', 'late'],
    );
    expect(await captionOf('exact.srt')).to.equal(expected);
    expect(await captionOf('exact.vtt')).to.equal(expected);
  });

  it('are none where nothing is said', async () => {
    const expected = cues(['00:00:02.000 --> 00:00:03.000', 'said']);
    expect(await captionOf('nothing.ass')).to.equal(expected);
  });

  it('have the spaces and braces that are meant, and no drawings', async () => {
    expect(await captionOf('drawn.ass')).to.equal(cues([TIMES[0], 'a\u00a0b'], [TIMES[1], 'said']));
    expect(await captionOf('braces.vtt')).to.equal(
      cues([TIMES[0], 'a\u00a0b {x}'], [TIMES[1], '{y']),
    );
    expect(await captionOf('braces.srt')).to.equal(cues([TIMES[0], 'C:\\home {x}']));
  });

  it('are only those in which anything is said', async () => {
    const silent = assOf(['0:00:01.00', '0:00:02.00', String.raw`{\p1}m 0 0 l 9 9{\p0}`]);
    writeFileSync(join(root, 'silent.ass'), silent);
    writeFileSync(join(root, 'said.ass'), assOf(['0:00:01.00', '0:00:02.00', 'said']));
    for (const [input, tracks, count] of [
      ['one.mkv', ['silent', 'said', 'silent'], 1],
      ['none.mkv', ['silent'], 0],
    ] as const) {
      execFileSync(ffmpeg, [
        ...['-nostdin', '-loglevel', 'error', '-f', 'lavfi', '-i', 'testsrc2=s=64x64:r=5:d=6'],
        ...tracks.flatMap((name) => ['-i', join(root, `${name}.ass`)]),
        ...[...tracks.keys(), tracks.length].flatMap((n) => ['-map', String(n)]),
        ...['-c:v', 'libx264', '-pix_fmt', 'yuv420p', join(root, input)],
      ]);
      const mediaRoot = await MediaRoot.open(root);
      const settings = { ffmpeg, ffprobe, mediaRoot, threads: 1, profiles: new Map(), keys: null };
      const params = { input, output: `of-${input}`, profile: PROFILE };
      const { result, error } = await runHandler(ladderHandler(settings), { id: input, params });
      expect(error).to.equal(undefined);
      const text = (name: string) => readFileSync(join(root, `of-${input}`, name), 'utf8');
      const files = readdirSync(join(root, `of-${input}`));
      expect(files.filter((name) => name.endsWith('.vtt'))).to.have.length(count);
      expect((result as LadderResult).captions).to.have.length(count);
      expect(text('master.m3u8').match(/TYPE=SUBTITLES/g) ?? []).to.have.length(count);
      expect(text('manifest.mpd').match(/captions-\d\.vtt/g) ?? []).to.have.length(count);
      if (count > 0) expect(text('captions-0.vtt')).to.match(/said/);
    }
  });
});
