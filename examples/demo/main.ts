/**
 * The demo behind `npm start`: a master on the embedded store, an ffmpeg executor, a clip, its
 * transcode through the HTTP API, and the callback. It stays up until it is told to stop, then
 * stops the executor first and the master last. What was submitted is kept for the next start.
 */
import { EventEmitter, once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type CallbackBody, type TaskView, createClient } from '@soda-scheduler/client';
import { type Receiver, receiveCallbacks } from '../callback-receiver/receiver.ts';
import type { RenditionProgress, Renditions } from '../ffmpeg/renditions.ts';
import { DemoProcess } from './processes.ts';
import { bold, complain, dim, done, megabytes, progressLine, say, shown } from './screen.ts';
import { type FoundFfmpeg, provideClip, provideFfmpeg } from './video.ts';

const CLIP = 'demo.mp4';
const RESOLUTIONS = ['854x480', '640x360'];
const USER = { group: 'demo' };
const START_TIMEOUT_MS = 60_000;
/** For the executor, which may have an ffmpeg to end, then for the master: below 10 s in all. */
const STOP_GRACE_MS = { executor: 6_000, master: 3_500 };
const COUNT_MAX = 1000;
const DEFAULT_PORT = 18890;
const PARENT_CHECK_MS = 500;

const distFile = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

class Demo {
  readonly #signal: AbortSignal;
  // An empty variable says nothing, here as for the master.
  readonly #port = Number(process.env['SODA_PORT'] || DEFAULT_PORT);
  readonly #url = `http://127.0.0.1:${this.#port}`;
  readonly #dataDir = resolve(process.env['SODA_DATA_DIR'] || 'data');
  readonly #mediaRoot = join(this.#dataDir, 'media');
  readonly #client = createClient({ url: this.#url });
  /** In the order in which they are stopped. */
  readonly #processes: DemoProcess[] = [];
  readonly #callbacks = new EventEmitter();
  /** Of other tasks: they wait while there is a progress line to disturb. */
  readonly #untold: CallbackBody[] = [];
  #isUp = false;
  #receiver: Receiver | null = null;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Runs until it is told to stop. @throws what went wrong, for a person to read. */
  async run(): Promise<void> {
    say();
    say(bold('Soda Scheduler'));
    say();
    await mkdir(this.#mediaRoot, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
      const { code = error.message } = error;
      throw new Error(
        `The data directory ${shown(this.#dataDir)} cannot be written to (${code}). Choose another:\n` +
          'SODA_DATA_DIR=data-2 npm start',
        { cause: error },
      );
    });
    const ffmpeg = await this.#findFfmpeg();
    await this.#startMaster();
    await this.#startReceiver();
    await this.#startExecutor(ffmpeg);
    const clip = await provideClip(ffmpeg, join(this.#mediaRoot, CLIP), this.#signal);
    done('clip', this.#shown(CLIP), `1280x720, 20 s, ${megabytes(clip.bytes)}`);
    await this.#transcode();
    for (const body of this.#untold.splice(0)) tellCallback(body);
    this.#invite();
    this.#isUp = true;
    await this.#unlessEnded(once(this.#signal, 'abort'));
  }

  /** The executor first, so that the master can take back what it was doing. */
  async stop(): Promise<void> {
    for (const process of this.#processes) await process.stop();
    this.#receiver?.close();
  }

  async #findFfmpeg(): Promise<FoundFfmpeg> {
    const onInstall = () =>
      say(dim('There is no ffmpeg here: installing one from npm (25 MB) ...'));
    const ffmpeg = await provideFfmpeg(this.#dataDir, onInstall, this.#signal);
    done('ffmpeg', ffmpeg.version, ffmpeg.ffmpeg);
    return ffmpeg;
  }

  async #startMaster(): Promise<void> {
    await assertPortIsFree(this.#port);
    const logFile = join(this.#dataDir, 'master.log');
    const master = new DemoProcess({
      name: 'master',
      args: [distFile('demo/master.js')],
      env: {
        SODA_PORT: String(this.#port),
        SODA_DATA_DIR: this.#dataDir,
        SODA_NOTIFY_ALLOW: '127.0.0.1',
      },
      logFile,
      stopGraceMs: STOP_GRACE_MS.master,
    });
    this.#processes.push(master);
    await this.#until('The master is not ready', async () => {
      const response = await fetch(`${this.#url}/readyz`, { signal: this.#signal });
      return response.ok;
    });
    const { count, open } = await this.#tasksFromBefore();
    const number = count === COUNT_MAX ? `at least ${count}` : String(count);
    const found = count === 0 ? '' : `${number} ${count === 1 ? 'task' : 'tasks'} from before, `;
    done('master', this.#url, `${found}log: ${shown(logFile)}`);
    if (open === 0) return;
    const left = open === 1 ? 'One of them has' : `${open} of them have`;
    say(dim(`${left} not ended: that is gone on with first.`));
  }

  async #tasksFromBefore(): Promise<{ readonly count: number; readonly open: number }> {
    let [count, open] = [0, 0];
    for await (const task of this.#client.list({ limit: 200 }, { signal: this.#signal })) {
      count += 1;
      if (task.finished_at === null) open += 1;
      if (count === COUNT_MAX) break;
    }
    return { count, open };
  }

  async #startExecutor({ ffmpeg, ffprobe }: FoundFfmpeg): Promise<void> {
    const logFile = join(this.#dataDir, 'executor.log');
    const executor = new DemoProcess({
      name: 'executor',
      args: [distFile('ffmpeg/executor.js')],
      env: {
        SODA_URL: this.#url,
        MEDIA_ROOT: this.#mediaRoot,
        FFMPEG: ffmpeg,
        ...(ffprobe === null ? {} : { FFPROBE: ffprobe }),
        DRAIN_SECONDS: '1',
      },
      logFile,
      stopGraceMs: STOP_GRACE_MS.executor,
    });
    this.#processes.unshift(executor);
    await this.#until('The executor is not connected', async () => {
      const executors = await this.#client.executors({ signal: this.#signal });
      return executors.some(({ pid, connected }) => connected && pid === executor.pid);
    });
    done('executor', 'ffmpeg.transcode', `log: ${shown(logFile)}`);
  }

  /** At the port of the last start, if it can be had: tasks from then are called back there. */
  async #startReceiver(): Promise<void> {
    const secret = (await readFile(join(this.#dataDir, 'notify-secret'), 'utf8')).trim();
    const onCallback = (body: CallbackBody) => {
      if (this.#callbacks.emit(body.task_id, body)) return;
      if (this.#isUp) tellCallback(body);
      else this.#untold.push(body);
    };
    const receiveAt = (port: number) => receiveCallbacks({ port, secrets: [secret], onCallback });
    this.#receiver = await receiveAt(this.#port + 1).catch(() => receiveAt(0));
  }

  async #transcode(): Promise<void> {
    const id = `demo-${new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14)}`;
    const outputs = RESOLUTIONS.map((resolution) => ({
      path: `${id}/${resolution}.mp4`,
      video: { resolution, bitrate_kbps: 1000 },
    }));
    const calledBack = once(this.#callbacks, id, { signal: this.#signal });
    calledBack.catch(() => {});
    const submittedAt = Date.now();
    const params = { input: CLIP, outputs };
    const task = { id, type: 'ffmpeg.transcode', params, notify_url: this.#receiver?.url };
    await this.#client.submit(task, USER, { signal: this.#signal });
    say();
    say(`Task ${bold(id)}: ${CLIP} to ${RESOLUTIONS.join(' and ')}`);
    say();

    const ended = await this.#follow(id);
    const took = ((Date.now() - submittedAt) / 1000).toFixed(1);
    if (ended.state !== 'succeeded') {
      throw new Error(`Task ${id} ${ended.state}: ${ended.error?.message ?? 'no reason given'}`);
    }
    const [callback] = (await this.#unlessEnded(calledBack)) as [CallbackBody];
    done('task', `succeeded in ${took} s`);
    done('callback', 'received, signature verified', `code ${callback.code}`);
    for (const output of (callback.result as Renditions).outputs) {
      const what = `${output.width}x${output.height}, ${output.seconds?.toFixed(1)} s`;
      done('output', this.#shown(output.path), `${what}, ${megabytes(output.bytes)}`);
    }
  }

  async #follow(taskId: string): Promise<TaskView> {
    const line = progressLine();
    try {
      return await this.#unlessEnded(
        this.#client.wait(taskId, {
          signal: this.#signal,
          onProgress: ({ state, progress }) => {
            const now = progress?.state as Partial<RenditionProgress> | undefined;
            const making = now?.path === undefined ? state : `output ${now.output} of ${now.of}`;
            const speed = now?.speed ? `, ${now.speed.toFixed(1)}x` : '';
            line.show(progress?.percent ?? 0, `${making}${speed}`);
          },
        }),
      );
    } finally {
      line.end();
    }
  }

  #invite(): void {
    const outputs = [{ path: 'mine/320x180.mp4', video: { resolution: '320x180' } }];
    const params = { input: CLIP, outputs };
    const task = { type: 'ffmpeg.transcode', params, notify_url: this.#receiver?.url };
    say();
    say('Submit another:');
    say();
    process.stdout.write(
      `curl -s ${this.#url}/scheduler/v2/task/submit -H 'content-type: application/json' \\\n` +
        `  -d '${JSON.stringify({ task, user: USER })}'\n`,
    );
    say();
    say(`See what became of it, in a browser at ${bold(`${this.#url}/`)} or here:`);
    say();
    const at = this.#port === DEFAULT_PORT ? '' : `SODA_URL=${this.#url} `;
    process.stdout.write(`${at}npx soda task list\n${at}npx soda task watch <id>\n`);
    say();
    say(`How it works: ${bold(`${this.#url}/docs`)}`);
    say(dim('Ctrl-C stops all of it. Tasks and files are kept.'));
    say();
  }

  /** @throws as soon as one of the processes has ended by itself. */
  #unlessEnded<T>(promise: Promise<T>): Promise<T> {
    const ended = this.#processes.map((process) => process.ended.then(() => promise));
    return Promise.race([promise, ...ended]);
  }

  async #until(problem: string, check: () => Promise<boolean>): Promise<void> {
    const deadlineAt = Date.now() + START_TIMEOUT_MS;
    while (!(await this.#unlessEnded(check().catch(() => false)))) {
      this.#signal.throwIfAborted();
      if (Date.now() > deadlineAt)
        throw new Error(`${problem} after ${START_TIMEOUT_MS / 1000} s.`);
      await this.#unlessEnded(delay(50, undefined, { signal: this.#signal }));
    }
  }

  #shown(mediaPath: string): string {
    return shown(join(this.#mediaRoot, mediaPath));
  }
}

function tellCallback({ task_id, state }: CallbackBody): void {
  done('callback', `${task_id} ${state}`);
}

async function assertPortIsFree(port: number): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Error(
      `Port ${port} is in use, perhaps by another npm start. Stop that, or choose another port:\n` +
        'SODA_PORT=18900 SODA_DATA_DIR=data-2 npm start',
      { cause: error },
    );
  }
  server.close();
  await once(server, 'close');
}

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => stopping.abort());
}
if (process.env['npm_lifecycle_event'] === 'start') {
  // npm passes SIGTERM to the shell in between, which ends without passing it on.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && stopping.abort(), PARENT_CHECK_MS).unref();
}
const demo = new Demo(stopping.signal);
try {
  await demo.run();
} catch (error) {
  // What fails because it was told to stop is no failure.
  if (!stopping.signal.aborted) {
    complain(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
if (process.exitCode === undefined) say('Stopping ...');
stopping.abort();
await demo.stop();
