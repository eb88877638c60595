/**
 * Inputs that try to make ffmpeg read other files or call a server. Each names a canary clip and
 * a canary server; the clip must not end up in an output, and the server must not be called.
 */
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFfmpeg } from '../../../examples/media/binaries.ts';
import { runChild } from '../../../examples/media/child-process.ts';
import { MediaRoot } from '../../../examples/media/media-root.ts';
import { parseBanner } from '../../../examples/media/media.ts';
import { type Prober, probe } from '../../../examples/media/probe.ts';
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { transcodeHandler } from '../../../examples/ffmpeg/transcode.ts';
import { runHandler } from '@soda-scheduler/executor-sdk/testing';

const HARMLESS_SUBTITLE = '1\n00:00:00,000 --> 00:00:01,000\nharmless\n';

describe('a transcode of a hostile file', function () {
  let prober: Prober;
  let root: string;
  let outside: string;
  let server: Server;
  let hits: string[];
  let url: string;
  let playlist: string;

  before(async function () {
    const found = await findFfmpeg(process.env).catch(() => null);
    if (found === null) return this.skip();
    prober = found;
    root = mkdtempSync(join(tmpdir(), 'soda-canary-root-'));
    outside = mkdtempSync(join(tmpdir(), 'soda-canary-'));
    const canary = ['-f', 'lavfi', '-i', 'testsrc2=d=2', '-f', 'lavfi', '-i', 'sine=d=2'];
    execFileSync(prober.ffmpeg, ['-loglevel', 'error', ...canary, join(outside, 'canary.ts')]);
    server = createServer((request, response) => {
      hits.push(request.url ?? '');
      response.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    playlist =
      '#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:2.0,\n' +
      `${url}/segment.ts\n#EXTINF:2.0,\nfile://${outside}/canary.ts\n#EXT-X-ENDLIST\n`;
  });
  beforeEach(() => {
    hits = [];
  });
  after(() => {
    for (const directory of [root, outside]) if (directory) rmSync(directory, { recursive: true });
    server?.close();
    server?.closeAllConnections();
  });

  async function transcode(input: string): Promise<unknown> {
    const handler = transcodeHandler({
      ...prober,
      mediaRoot: await MediaRoot.open(root),
      threads: 1,
    });
    const params = { input, outputs: [{ path: 'made/out.mp4' }] };
    return (await runHandler(handler, { params })).error;
  }

  it('is preceded by proof that the bait works without guards', async () => {
    writeFileSync(join(root, 'bait.m3u8'), playlist);
    const banner = await bannerOf('bait.m3u8', ['-protocol_whitelist', 'file,http,tcp,crypto']);
    expect(parseBanner(banner)?.video?.codec).to.equal('mpeg2video');
    expect(hits).to.include('/segment.ts');
  });

  const hostile: [string, () => string | Buffer][] = [
    ['list.m3u8', () => playlist],
    ['list.mp4', () => playlist],
    [
      'list-with-a-remote-key.ts',
      () => playlist.replace('#EXTINF', `#EXT-X-KEY:METHOD=AES-128,URI="${url}/key"\n#EXTINF`),
    ],
    [
      'list.ffconcat',
      () => `ffconcat version 1.0\nfile '${outside}/canary.ts'\nfile '${url}/a.ts'\n`,
    ],
    ['concat.mp4', () => `ffconcat version 1.0\nfile '${outside}/canary.ts'\n`],
    ['dash.mpd', () => dashOf(url)],
    ['dash.mp4', () => dashOf(url)],
    ['picture%03d.png', () => 'not a picture'],
    ['-i', () => playlist],
    [
      'drawing.svg',
      () => `<svg xmlns="http://www.w3.org/2000/svg"><image href="${url}/a.png"/></svg>`,
    ],
    ['empty.mp4', () => ''],
  ];
  for (const [name, content] of hostile) {
    it(`refuses ${name}`, async () => {
      writeFileSync(join(root, name), content());
      expect(await transcode(name)).to.be.instanceOf(NonRetryableError);
      expect(hits).to.deep.equal([]);
      // Not even its folder is made for what is refused.
      expect(existsSync(join(root, 'made'))).to.equal(false);
    });
  }

  it('reads an AVI without the playlist that it embeds', async () => {
    // The same file with a subtitle in that place shows that ffmpeg does look inside.
    writeFileSync(join(root, 'control.avi'), aviWithEmbedded('sub.srt', HARMLESS_SUBTITLE));
    expect(await bannerOf('control.avi')).to.match(/Subtitle: subrip/);

    writeFileSync(join(root, 'bait.avi'), aviWithEmbedded('sub.m3u8', playlist));
    const outcome = await transcode('bait.avi');
    expect(hits).to.deep.equal([]);
    if (outcome instanceof Error) return;
    const signal = new AbortController().signal;
    const limits = { signal, stallMs: 10_000, killGraceMs: 1_000 };
    const made = await probe(prober, join(root, 'made/out.mp4'), 'output', limits);
    expect(made.video).to.equal(null);
    expect(made.seconds).to.be.lessThan(1.5);
  });

  async function bannerOf(name: string, options: string[] = []): Promise<string> {
    const args = ['-nostdin', '-hide_banner', ...options, '-i', join(root, name)];
    const signal = new AbortController().signal;
    const limits = { signal, stallMs: 10_000, killGraceMs: 1_000 };
    return (await runChild(prober.ffmpeg, args, limits)).stderr;
  }
});

function dashOf(url: string): string {
  return `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"
    mediaPresentationDuration="PT2S"><Period><AdaptationSet mimeType="video/mp4">
    <Representation id="1" bandwidth="1"><BaseURL>${url}/a.mp4</BaseURL></Representation>
    </AdaptationSet></Period></MPD>`;
}

/** An AVI with a second of silence and a text stream whose only packet carries a whole file. */
function aviWithEmbedded(name: string, file: string): Buffer {
  const u32 = (...values: number[]) => {
    const bytes = Buffer.alloc(4 * values.length);
    values.forEach((value, index) => bytes.writeUInt32LE(value, 4 * index));
    return bytes;
  };
  const u16 = (...values: number[]) =>
    Buffer.concat(values.map((value) => u32(value).subarray(0, 2)));
  const chunk = (id: string, ...parts: Buffer[]): Buffer => {
    const body = Buffer.concat(parts);
    return Buffer.concat([Buffer.from(id), u32(body.length), body, Buffer.alloc(body.length % 2)]);
  };
  const list = (id: string, ...parts: Buffer[]) => chunk('LIST', Buffer.from(id), ...parts);
  const stream = (kind: string, rate: number, length: number) =>
    chunk('strh', Buffer.from(`${kind}\0\0\0\0`), u32(0, 0, 0, 1, rate, 0, length, 0, 0, 1, 0, 0));
  const title = Buffer.from(`${name}\0`, 'utf16le');
  const packet = Buffer.concat([
    ...[Buffer.from('GAB2\0'), u16(2), u32(title.length), title],
    ...[u16(4), u32(Buffer.byteLength(file)), Buffer.from(file)],
  ]);
  const header = list(
    'hdrl',
    chunk('avih', u32(1_000_000, 8000, 0, 0x10, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0)),
    list('strl', stream('auds', 8000, 8000), chunk('strf', u16(1, 1), u32(8000, 8000), u16(1, 8))),
    list('strl', stream('txts', 1, 1), chunk('strf', u32(0))),
  );
  const movie = list('movi', chunk('01tx', packet), chunk('00wb', Buffer.alloc(8000, 0x80)));
  return chunk('RIFF', Buffer.from('AVI '), header, movie);
}
