/** Tasks whose inputs are fetched and whose outputs are published, with the real ffmpeg of this machine. */
import {
  InputUnavailableError,
  NonRetryableError,
  type Progress,
  RetryableError,
  TaskAborted,
} from '@soda-scheduler/executor-sdk';
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { GuardedRequests } from '@soda-scheduler/executors';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { editHandler } from '../../../examples/ffmpeg/edit/edit.ts';
import { ladderHandler, type LadderSettings } from '../../../examples/ffmpeg/ladder/ladder.ts';
import type { FfmpegSettings, Renditions } from '../../../examples/ffmpeg/renditions.ts';
import { transcodeHandler } from '../../../examples/ffmpeg/transcode.ts';
import { findFfmpeg } from '../../../examples/media/binaries.ts';
import { MediaRoot } from '../../../examples/media/media-root.ts';
import { type Prober, probe } from '../../../examples/media/probe.ts';
import { ObjectStore } from '../../../examples/storage/object-store.ts';
import { KEYS, REGION, StrictObjectStorage } from '../../helpers/storage/strict-object-storage.ts';

const VIDEO = { resolution: '96x54', gop: 10 };
const TARGET = 's3://films/out/a.mp4';

describe('inputs and outputs elsewhere', function () {
  this.timeout(60_000);
  let prober: Prober;
  let root: string;
  let clip: Buffer;
  let server: Server;
  let base: string;
  let storage: StrictObjectStorage;
  let settings: FfmpegSettings & { readonly storage: object };
  let asked: IncomingMessage[];
  let reply: (response: ServerResponse, request: IncomingMessage) => void;
  let onFetching: () => void;
  let close: () => Promise<unknown>;

  before(async function () {
    const found = await findFfmpeg(process.env).catch(() => null);
    if (found === null) return this.skip();
    prober = found;
    const folder = mkdtempSync(join(tmpdir(), 'soda-clip-'));
    const sources = ['-f', 'lavfi', '-i', 'testsrc2=s=160x90:r=25:d=2', '-f', 'lavfi', '-i'];
    execFileSync(prober.ffmpeg, [
      ...['-loglevel', 'error', ...sources, 'sine=d=2', '-pix_fmt', 'yuv420p', '-c:v', 'libx264'],
      ...['-preset', 'ultrafast', join(folder, 'clip.mp4')],
    ]);
    clip = readFileSync(join(folder, 'clip.mp4'));
    rmSync(folder, { recursive: true });
  });

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'soda-elsewhere-'));
    asked = [];
    onFetching = () => {};
    reply = (response) => response.end(clip);
    server = createServer((request, response) => {
      asked.push(request);
      reply(response, request);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    base = `http://${host}`;
    storage = await StrictObjectStorage.start();
    const store = new ObjectStore({
      ...{ ...KEYS, endpoint: storage.url, region: REGION, buckets: ['films'] },
    });
    const names = { hosts: 'INPUT_HOSTS', addresses: 'INPUT_ADDRESSES' };
    const requests = new GuardedRequests({ hosts: [host], addresses: ['127.0.0.1'], names });
    close = () => Promise.all([store.close(), requests.close()]);
    const mediaRoot = await MediaRoot.open(root);
    const places = { requests, store, bytesMax: 1e8, freeBytesMin: 0 };
    settings = { ...prober, mediaRoot, threads: 1, storage: places };
  });

  afterEach(async () => {
    await close();
    server.close();
    server.closeAllConnections();
    storage.stop();
    rmSync(root, { recursive: true });
    expect(storage.violations).to.deep.equal([]);
  });

  interface Run {
    readonly id?: string;
    readonly checkpoint?: unknown;
    readonly settings?: Partial<FfmpegSettings>;
    readonly signal?: AbortSignal;
  }

  async function transcode(params: object, run: Run = {}) {
    const { settings: others, id = 'task-1', ...rest } = run;
    const handler = transcodeHandler({ ...settings, ...others });
    const report = await runHandler(
      (task, context) =>
        handler(task, {
          ...context,
          progress: (given: number | Progress) => {
            if (typeof given === 'number') throw new Error('it says no more than a number');
            context.progress(given);
            if ('fetching' in (given.state as object)) onFetching();
          },
        }),
      { id, params, ...rest },
    );
    const error = report.error as Error | undefined;
    return { ...report, outputs: (report.result as Renditions | undefined)?.outputs, error };
  }

  const toStorage = (input: unknown) => ({ input, outputs: [{ path: TARGET, video: VIDEO }] });
  const stored = (key = 'films/out/a.mp4') => storage.objects.get(key)?.content;
  /** What the task has left in the media root. */
  const left = () => {
    const work = join(root, '.soda~work');
    return existsSync(work) ? readdirSync(work) : [];
  };

  it('are fetched by http and published to a storage, and leave nothing behind', async () => {
    const { outputs, error, progress, checkpoints } = await transcode(toStorage(`${base}/a.mp4`));
    expect(error).to.equal(undefined);
    expect(outputs).to.have.length(1);
    expect(outputs?.[0]).to.include({
      ...{ path: TARGET, bytes: stored()?.length, width: 96, height: 54 },
      ...{ skipped: false, replaced: false, modified_ms: null },
    });
    writeFileSync(join(root, 'back.mp4'), stored() ?? '');
    const options = { signal: new AbortController().signal, stallMs: 10_000, killGraceMs: 1_000 };
    const back = await probe(prober, join(root, 'back.mp4'), 'back', options);
    expect([back.video?.width, back.audio?.codec]).to.deep.equal([96, 'aac']);
    expect(progress[0]?.state).to.deep.include({ fetching: `${base}/a.mp4`, of: clip.length });
    const { bytes } = (progress[0]?.state ?? {}) as { bytes: number };
    expect(progress[0]?.parts).to.deep.equal([
      { name: 'fetch', percent: (100 * bytes) / clip.length },
    ]);
    expect(checkpoints).to.have.length(1);
    expect(left()).to.deep.equal([]);
  });

  it('are made once: whoever asks finds the object, by whatever URL the input came', async () => {
    const first = await transcode(toStorage(`${base}/a.mp4?signature=1`));
    const [content, puts] = [stored(), () => storage.asked.filter((one) => one.startsWith('PUT'))];
    const checkpoint = first.checkpoints.at(-1);
    for (const run of [{ id: 'task-2' }, { checkpoint }]) {
      const { outputs } = await transcode(toStorage(`${base}/other?signature=2`), run);
      expect(outputs).to.deep.equal([{ ...first.outputs?.[0], skipped: true }]);
    }
    expect(puts()).to.have.length(1);
    expect([...storage.objects.keys()]).to.deep.equal(['films/out/a.mp4']);
    expect(stored()).to.equal(content);
    // Other wishes make another file: that of the first is not its own.
    const other = { ...toStorage(`${base}/a.mp4`), outputs: [{ path: TARGET, video: null }] };
    const { error } = await transcode(other);
    expect(error).to.be.instanceOf(NonRetryableError);
    expect(error?.message).to.include('it is not overwritten');
    expect(stored()).to.equal(content);
  });

  it('that are of somebody else are left alone, before anything is encoded', async () => {
    storage.put('films/out/b.mp4', 'theirs');
    const outputs = [{ path: TARGET, video: VIDEO }, { path: 's3://films/out/b.mp4' }];
    const { error } = await transcode({ input: `${base}/a.mp4`, outputs });
    expect(error).to.be.instanceOf(NonRetryableError);
    expect(error?.message).to.include('output s3://films/out/b.mp4 is there already');
    expect([...storage.objects.keys()]).to.deep.equal(['films/out/b.mp4']);
    expect(stored('films/out/b.mp4')?.toString()).to.equal('theirs');
    expect(left()).to.deep.equal([]);
  });

  it('that are not there end the task at once, as unavailable', async () => {
    for (const status of [403, 404, 410]) {
      asked = [];
      reply = (response) => response.writeHead(status).end();
      const { error } = await transcode(toStorage(`${base}/a.mp4?signature=secret`));
      expect(error).to.be.instanceOf(InputUnavailableError);
      expect(error?.message).to.equal(`input ${base}/a.mp4?…: answered ${status}`);
      expect(asked).to.have.length(1);
    }
    const { error } = await transcode(toStorage('s3://films/gone.mp4'));
    expect(error).to.be.instanceOf(InputUnavailableError);
    expect(left()).to.deep.equal([]);
  });

  it('go on where a connection was cut', async () => {
    const cutAt = Math.floor(clip.length / 2);
    reply = (response, { headers }) => {
      if (headers.range === undefined) {
        response.writeHead(200, { etag: '"a"', 'content-length': clip.length });
        response.write(clip.subarray(0, cutAt));
        onFetching = () => response.destroy();
        return;
      }
      const start = Number(/^bytes=(\d+)-$/.exec(headers.range)?.[1]);
      const range = `bytes ${start}-${clip.length - 1}/${clip.length}`;
      response.writeHead(206, { etag: '"a"', 'content-range': range }).end(clip.subarray(start));
    };
    const { outputs } = await transcode(toStorage(`${base}/a.mp4`));
    expect(outputs?.[0]).to.include({ skipped: false });
    expect(asked.map(({ headers }) => headers['if-range'])).to.deep.equal([undefined, '"a"']);
  });

  it('are neither fetched nor encoded again by the attempt after one that could not publish', async () => {
    storage.meddle = ({ method }, response) => {
      if (method !== 'PUT') return false;
      response.writeHead(503).end();
      return true;
    };
    reply = (response, { url }) =>
      url === '/r' ? response.end(`{"url":"${base}/signed"}`) : response.end(clip);
    const first = await transcode(toStorage({ resolve: `${base}/r` }));
    expect(first.error).to.be.instanceOf(RetryableError);
    expect(first.error?.message).to.include(`output ${TARGET}: answered 503`);
    expect(left()).to.deep.equal(['default~task-1']);
    storage.meddle = () => false;
    asked = [];
    const broken = join(root, 'no-ffmpeg');
    writeFileSync(broken, '#!/bin/sh\nexit 9\n', { mode: 0o755 });
    const ffmpeg = prober.ffprobe === null ? {} : { ffmpeg: broken };
    const second = await transcode(toStorage({ resolve: `${base}/r` }), { settings: ffmpeg });
    expect(second.error).to.equal(undefined);
    expect(second.outputs?.[0]).to.include({ skipped: false, bytes: stored()?.length });
    expect(asked).to.deep.equal([]);
    expect(left()).to.deep.equal([]);
  });

  it('are removed when the task is canceled while it fetches', async () => {
    const abort = new AbortController();
    reply = (response) => void response.write(clip.subarray(0, 1_000));
    onFetching = () => abort.abort();
    const { error } = await transcode(toStorage(`${base}/a.mp4`), { signal: abort.signal });
    expect(error).to.be.instanceOf(TaskAborted);
    expect(left()).to.deep.equal([]);
  });

  it('are refused by the setting that would allow them', async () => {
    const refused: [unknown, string, Partial<FfmpegSettings>, string][] = [
      [`${base}/a`, 'a.mp4', { storage: undefined }, 'INPUT_HOSTS of this executor is not set'],
      [{ resolve: base }, 'a.mp4', { storage: undefined }, 'INPUT_HOSTS of this executor'],
      ['s3://films/a', 'a.mp4', { storage: undefined }, 'S3_ENDPOINT of this executor is not set'],
      ['none.mp4', TARGET, { storage: undefined }, 'S3_ENDPOINT of this executor is not set'],
      ['http://h.example/a', 'a.mp4', {}, 'not among INPUT_HOSTS'],
      ['s3://others/a', 'a.mp4', {}, 'not among S3_BUCKETS'],
      ['none.mp4', 's3://others/a.mp4', {}, 'not among S3_BUCKETS'],
    ] as never;
    for (const [input, path, others, message] of refused) {
      const { error } = await transcode({ input, outputs: [{ path }] }, { settings: others });
      expect(error, message).to.be.instanceOf(NonRetryableError);
      expect(error?.message).to.include(message);
    }
    expect(asked).to.deep.equal([]);
    expect(storage.asked).to.deep.equal([]);
  });

  it('are cut and joined', async () => {
    storage.put('films/in.mp4', clip);
    const params = {
      inputs: { a: 's3://films/in.mp4', b: `${base}/b` },
      timeline: [
        { input: 'a', end: 0.4 },
        { input: 'b', start: 1, end: 1.4 },
      ],
      outputs: [{ path: TARGET, video: VIDEO }],
    };
    const edit = () => runHandler(editHandler(settings), { id: 'task-1', params });
    const { result, error } = await edit();
    expect(error).to.equal(undefined);
    const [made] = (result as Renditions).outputs;
    expect(made).to.include({ skipped: false, bytes: stored()?.length });
    expect(made?.seconds).to.be.closeTo(0.8, 0.1);
    const again = (await edit()).result as Renditions;
    expect(again.outputs).to.deep.equal([{ ...made, skipped: true }]);
    expect(left()).to.deep.equal([]);
  });

  it('become a ladder', async function () {
    const { ffprobe } = prober;
    if (ffprobe === null) return this.skip();
    const given: LadderSettings = { ...settings, ffprobe, profiles: new Map(), keys: null };
    const rung = { height: 90, crf: 30, max_kbps: 100 };
    const profile = { rungs: [rung] };
    const params = { input: `${base}/a.mp4`, output: 'ladder', profile };
    const { result, error } = await runHandler(ladderHandler(given), { id: 'task-1', params });
    expect(error).to.equal(undefined);
    expect(result).to.deep.include({ skipped: false, hls: 'ladder/master.m3u8' });
    expect(left()).to.deep.equal([]);
  });

  it('are a ladder in a storage, whose playlists come last, and which is sent on after a failure', async function () {
    const { ffprobe } = prober;
    if (ffprobe === null) return this.skip();
    writeFileSync(join(root, 'key'), Buffer.alloc(16, 7));
    const given = { ...settings, ffprobe, profiles: new Map(), keys: root };
    const rungs = [{ height: 90, crf: 30, max_kbps: 100 }];
    const profile = { rungs, sprites: null, gop_seconds: 0.5, gops_per_segment: 1 };
    const encrypt = { key: 'key', uri: 'https://keys.example/1' };
    const params = { input: `${base}/a.mp4`, output: 's3://films/vod/a/', profile, encrypt };
    const ladder = (ffmpeg = prober.ffmpeg, more: object = {}) =>
      runHandler(ladderHandler({ ...given, ffmpeg }), {
        ...{ id: 'task-1', params: { ...params, ...more } },
      });
    // It fails for good in the middle, as a storage whose right was taken away.
    storage.meddle = (request, response) => {
      if (request.method !== 'PUT' || storage.objects.size < 4) return false;
      response.writeHead(507).end();
      return true;
    };
    const failed = await ladder();
    expect(failed.error).to.be.instanceOf(RetryableError);
    const sent = [...storage.objects].map(([name, { etag }]) => [name, etag] as const);
    expect(sent.length).to.be.at.least(4);
    expect(sent.filter(([name]) => /master|ladder\.json/.test(name))).to.deep.equal([]);
    storage.meddle = () => false;
    storage.asked.length = 0;
    // Nothing is encoded or encrypted again: this one could not.
    const { result, error, progress } = await ladder('/bin/false');
    expect(error).to.equal(undefined);
    expect(result).to.deep.include({ skipped: false, hls: 's3://films/vod/a/master.m3u8' });
    expect(progress.at(-1)?.percent).to.equal(100);
    for (const [name, etag] of sent) expect(storage.objects.get(name)?.etag, name).to.equal(etag);
    const order = storage.asked.filter((one) => one.startsWith('PUT'));
    expect(order.slice(-2)).to.deep.equal([
      ...['PUT /films/vod/a/master.m3u8', 'PUT /films/vod/a/ladder.json'],
    ]);
    expect(order.findIndex((one) => one.endsWith('.m3u8'))).to.be.above(
      order.findLastIndex((one) => one.endsWith('.m4s')),
    );
    const { content } = storage.objects.get('films/vod/a/ladder.json') ?? {};
    expect(JSON.parse(String(content))).to.deep.include({ hls: 's3://films/vod/a/master.m3u8' });
    expect(left()).to.deep.equal([]);

    expect((await ladder('/bin/false')).result).to.deep.include({ skipped: true });
    const other = await ladder('/bin/false', { encrypt: { ...encrypt, uri: 'https://k.example' } });
    expect((other.error as Error).message).to.include('has a ladder already');
    expect(other.error).to.be.instanceOf(NonRetryableError);
    const foreign = await ladder('/bin/false', { output: 's3://others/a' });
    expect((foreign.error as Error).message).to.include('not among S3_BUCKETS');
  });
});
