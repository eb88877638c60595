/**
 * Takes the pictures that the documentation shows of the console: a real master, real executors, and the tasks of a
 * newsroom that is made up. Run by `npm run screenshots`, after a change of how the console looks.
 */
import { mkdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { createExecutor, NonRetryableError, RetryableError } from '@soda-scheduler/executor-sdk';
import { BROWSER, RealBrowser } from '../test/helpers/system/browser.ts';
import { System } from '../test/helpers/system/system.ts';

const FOLDER = 'docs/images';
const BYTES_MAX = 120 * 1024;
/** How long the newsroom works before it is looked at: charts need some of it. */
const WORK_MS = 80_000;
/** Until all that a page asks for is there. */
const SETTLE_MS = 2_500;
const VIEWPORT = { width: 1040, height: 640 };

const SHOWS = ['evening-news', 'cup-final', 'harbour', 'weather', 'morning', 'tour-stage-7'];
const GROUPS = ['news', 'sport', 'drama'];
/** The film that is looked at alone. */
const FILM = 'cup-final-2160p';

const types = {
  transcode: { description: 'Renditions of a clip for the web', owner: 'video' },
  subtitle: { description: 'Speech to WebVTT', owner: 'access', limits: { max_running: 1 } },
  thumbnail: { description: 'Poster and preview sprites', owner: 'web' },
  loudness: { description: 'EBU R128, in two passes', owner: 'sound' },
  package: { description: 'CMAF for HLS and DASH', owner: 'video' },
};

const fleet = [
  ...[1, 2, 3, 4].map((n) => ({
    id: `enc-${n}`,
    version: n < 4 ? '3.2.0' : '3.3.0',
    types: ['transcode', 'loudness'],
  })),
  { id: 'speech-1', version: '1.9.4', types: ['subtitle'] },
  { id: 'web-1', version: '5.0.1', types: ['thumbnail'] },
];

/** Some seconds of work, of which now and then some goes wrong. */
async function brief(task, ctx) {
  const n = Number(/\d+$/.exec(task.id)?.[0] ?? 0);
  const steps = 4 + (n % 5);
  for (let step = 1; step <= steps; step++) {
    await delay(350, undefined, { signal: ctx.signal });
    ctx.progress({ percent: (100 * step) / steps, speed: 1.6 + (n % 4) / 3 });
  }
  if (n % 23 === 7)
    throw new NonRetryableError('the input has no moov atom: it was not written to its end');
  if (n % 31 === 11) throw new NonRetryableError('audio stream 1 has no samples');
  return { seconds: 40 + n, frames: (40 + n) * 25 };
}

/** The one that is looked at: it lost its first attempt, and goes on from its checkpoint. */
async function film(task, ctx) {
  ctx.log.info('ffmpeg 7.1, 8 threads', { input: 'cup-final.mxf', duration: 5412.4 });
  if (ctx.attempt === 1) {
    ctx.checkpoint({ segment: 31 });
    await delay(3_000, undefined, { signal: ctx.signal });
    ctx.log.error('av_interleaved_write_frame(): No space left on device');
    throw new RetryableError('ffmpeg ended with 228: No space left on device', {
      retryAfterMs: 2_000,
    });
  }
  ctx.log.info('goes on from its checkpoint', { segment: 31 });
  const parts = [
    { name: '2160p.mp4', percent: 22 },
    { name: '1080p.mp4', percent: 38 },
    { name: '720p.mp4', percent: 71 },
    { name: '360p.mp4', percent: 96 },
  ];
  for (let second = 0; ; second++) {
    for (const part of parts) part.percent = Math.min(100, part.percent + 0.18);
    const percent = parts.reduce((sum, part) => sum + part.percent, 0) / parts.length;
    ctx.progress({ percent, parts, speed: 2.35, etaSeconds: 1_480 - second });
    if (second % 6 === 0) {
      ctx.log.info(`frame=${48_210 + second * 59} fps=58 bitrate=15822kbits/s speed=2.35x`);
    }
    if (second === 9) ctx.log.warn('1 frame duplicated at 00:33:21.04');
    await delay(1_000, undefined, { signal: ctx.signal });
  }
}

/** Whoever is told of alerts: takes all of them. */
function deskOf() {
  const desk = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  });
  return new Promise((resolve) => desk.listen(0, '127.0.0.1', () => resolve(desk)));
}

async function newsroom(system, desk) {
  const call = async (method, path, body) => {
    const headers = { 'content-type': 'application/json' };
    const url = `${system.url}/scheduler/v2${path}`;
    const answer = await fetch(url, { method, headers, body: JSON.stringify(body ?? {}) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
  };
  for (const [type, definition] of Object.entries(types)) {
    await call('PUT', `/type/${type}`, definition);
  }
  const url = `http://127.0.0.1:${desk.address().port}/`;
  await call('PUT', '/alert-receiver/desk', { channel: 'webhook', url });
  const submit = (tasks) => call('POST', '/task/submit-batch', { tasks });
  const task = (type, n, more = {}) => ({
    task: { id: `${SHOWS[n % SHOWS.length]}-${type}-${1000 + n}`, type, ...more },
    user: { group: GROUPS[n % GROUPS.length], user: 'newsroom' },
  });
  const params = {
    input: 'ingest/cup-final.mxf',
    asset: 90_071_992,
    outputs: ['2160p.mp4', '1080p.mp4', '720p.mp4', '360p.mp4'],
  };
  await call('POST', '/type/loudness/pause', {
    reason: 'new meter, until the desk has checked it',
  });
  await submit([
    {
      task: { id: FILM, type: 'transcode', priority: 'urgent', params },
      user: { group: 'sport', user: 'newsroom' },
    },
  ]);
  await delay(500);
  await submit(Array.from({ length: 90 }, (_, n) => task('transcode', n)));
  await submit(Array.from({ length: 60 }, (_, n) => task('subtitle', n)));
  await submit(Array.from({ length: 60 }, (_, n) => task('thumbnail', n)));
  await submit(Array.from({ length: 7 }, (_, n) => task('loudness', n)));
  await submit(Array.from({ length: 3 }, (_, n) => task('package', n)));
  const alert = (severity, message) => call('POST', '/alert', { severity, message });
  await alert('critical', 'The origin in Hamburg takes no segments: 503 since 21:04');
  await alert('warning', 'Scratch of enc-4 is 92 % full');
  await alert('info', 'Licences of the speech model: 4 of 5 in use');
}

async function takePictures(system) {
  const browser = await RealBrowser.start(BROWSER);
  const { page } = browser;
  try {
    await page.setViewportSize(VIEWPORT);
    const picture = async (name, hash, theme) => {
      await page.goto(`${system.url}/#/${hash}`);
      await page.getByLabel('Colours').selectOption(theme);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      await delay(SETTLE_MS);
      const path = join(FOLDER, `${name}.png`);
      await page.screenshot({ path });
      const { size } = statSync(path);
      console.log(`${path} ${Math.round(size / 1024)} KiB`);
      if (size > BYTES_MAX) throw new Error(`${path} is larger than ${BYTES_MAX} bytes`);
    };
    page.setDefaultTimeout(10_000);
    await picture('console-overview', 'overview', 'light');
    await picture('console-task', `task/${FILM}`, 'dark');
    await picture('console-alerts', 'alerts', 'dark');
  } finally {
    await browser.close();
  }
}

process.chdir(new URL('..', import.meta.url).pathname);
if (BROWSER === undefined) throw new Error('There is no Chromium here.');
mkdirSync(FOLDER, { recursive: true });
const system = await System.start({ databaseUrl: '' });
const desk = await deskOf();
/** What fails here is meant to. */
const onEvent = () => undefined;
const executors = fleet.map(({ types: served, ...options }) => {
  const executor = createExecutor({ url: system.url, handleSignals: false, onEvent, ...options });
  for (const type of served) {
    executor.handle(type, (task, ctx) => (task.id === FILM ? film : brief)(task, ctx));
  }
  return executor;
});
try {
  await Promise.all(executors.map((executor) => executor.start()));
  await newsroom(system, desk);
  await delay(WORK_MS);
  await takePictures(system);
} finally {
  await Promise.all(executors.map((executor) => executor.stop()));
  await system.stop();
  desk.close();
}
