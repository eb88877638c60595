/**
 * What clients, an executor and a receiver of 2.0.0 said to their master, said again to that of today:
 * it must answer with everything that they were answered with. More is welcome, less is not.
 */
import { expect } from 'chai';
import { once } from 'node:events';
import { readFile, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import type { MasterFrame } from '@soda-scheduler/protocol';
import { loadConfig, runMaster } from '@soda-scheduler/master';
import { RawExecutor } from '../../helpers/raw-executor.ts';
import { eventually } from '../../helpers/system/wait.ts';

type Json = Readonly<Record<string, unknown>>;
interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}
interface Entry {
  readonly http?: Request;
  readonly answer?: Json;
  readonly dial?: string;
  readonly executor?: Json;
  readonly master?: MasterFrame;
  readonly callback?: string;
  readonly cut?: true;
  readonly close?: number;
  readonly by?: 'executor' | 'master';
  readonly restart?: true;
}

const fixture = new URL('../../fixtures/2.0.0/transcript.jsonl', import.meta.url);
/** A read that lacks something may be early, and is asked again for so long. */
const READ_WITHIN_MS = 5_000;

/** It forgot who had had an attempt that was given back, against its own page. */
const isMended = (recorded: unknown, at: string) => recorded === null && at === '.body.executor_id';

/** What of `recorded` is not in `found`, by path. A placeholder stands for any value of its kind. */
function missing(recorded: unknown, found: unknown, at = ''): string[] {
  if (typeof recorded === 'string' && /^<(string|number|instant)>$/.test(recorded)) {
    const isSo =
      recorded === '<instant>'
        ? typeof found === 'string' && !Number.isNaN(Date.parse(found))
        : typeof found === recorded.slice(1, -1);
    return isSo ? [] : [`${at}: ${recorded}, found ${JSON.stringify(found)}`];
  }
  if (isMended(recorded, at)) return [];
  if (typeof recorded !== 'object' || recorded === null) {
    const isSo = Object.is(recorded, found);
    return isSo ? [] : [`${at}: ${JSON.stringify(recorded)}, found ${JSON.stringify(found)}`];
  }
  if (
    typeof found !== 'object' ||
    found === null ||
    Array.isArray(found) !== Array.isArray(recorded)
  ) {
    return [`${at}: ${JSON.stringify(recorded)}, found ${JSON.stringify(found)}`];
  }
  // Lists of names may grow; those of objects are what happened, and as long as it was.
  if (Array.isArray(recorded) && recorded.every((each) => typeof each === 'string')) {
    const list = found as unknown[];
    return recorded.filter((each) => !list.includes(each)).map((each) => `${at}: ${each}`);
  }
  if (Array.isArray(recorded) && recorded.length !== (found as unknown[]).length) {
    return [`${at}: ${recorded.length} of them, found ${(found as unknown[]).length}`];
  }
  return Object.entries(recorded).flatMap(([key, value]) =>
    missing(value, (found as Json)[key], `${at}.${key}`),
  );
}

class Replay {
  readonly problems: string[] = [];
  readonly #folder: string;
  readonly #receiver: Server;
  readonly #callbacks: { path: string | undefined; headers: object; body: unknown }[] = [];
  #master: Awaited<ReturnType<typeof runMaster>> | null = null;
  #socket: RawExecutor | null = null;
  #session = '';
  #acked = 0;

  constructor(folder: string) {
    this.#folder = folder;
    this.#receiver = createServer((request, response) => void this.#receive(request, response));
  }

  async start(): Promise<void> {
    this.#receiver.listen(0, '127.0.0.1');
    await once(this.#receiver, 'listening');
    await this.#startMaster();
  }

  async stop(): Promise<void> {
    this.#socket?.socket.terminate();
    await this.#master?.stop();
    this.#receiver.closeAllConnections();
    this.#receiver.close();
  }

  /** Says what was said, or waits for what was answered. */
  async step(entry: Entry): Promise<void> {
    if (entry.http && entry.answer) return this.#exchange(entry.http, entry.answer);
    if (entry.executor) return this.#say(entry.executor);
    if (entry.master) return this.#hear(entry.master);
    if (entry.callback) return this.#calledBack(entry);
    if (entry.dial) this.#socket = await RawExecutor.dial(this.#port);
    if (entry.cut) this.#socket?.socket.terminate();
    if (entry.close && entry.by === 'executor') this.#socket?.socket.close(entry.close);
    if (entry.close && entry.by === 'master') {
      expect(await this.#socket?.closed).to.include({ code: entry.close });
    }
    if (entry.restart) {
      await this.#master?.stop();
      await this.#startMaster();
    }
  }

  get #port(): number {
    return Number(new URL(this.#master?.url ?? '').port);
  }

  get #receiverUrl(): string {
    return `http://127.0.0.1:${(this.#receiver.address() as AddressInfo).port}`;
  }

  async #startMaster(): Promise<void> {
    const env = { SODA_NOTIFY_ALLOW: '127.0.0.1', SODA_LEASE: '30' };
    const outcome = loadConfig({ env, flags: { port: '0', dataDir: this.#folder } });
    if (!('config' in outcome)) throw new Error(outcome.problems.join('; '));
    const master = await runMaster(outcome.config, { logTo: new PassThrough().resume() });
    this.#master = master;
    await eventually('it is ready', async () => (await fetch(`${master.url}/readyz`)).ok);
  }

  /** A read is asked again: what it shows may still be on its way. */
  async #exchange(request: Request, answer: Json): Promise<void> {
    let lacking = ['no answer'];
    const isWhole = async () => {
      lacking = missing(answer, await this.#ask(request));
      return lacking.length === 0;
    };
    const isRead = request.method === 'GET';
    await eventually('the answer', isWhole, isRead ? READ_WITHIN_MS : 0).catch(() => undefined);
    this.#problem(`${request.method} ${request.path}`, lacking);
  }

  async #ask({ method, path: route, headers, body }: Request): Promise<unknown> {
    const answer = await fetch(`${this.#master?.url}${route}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && {
        body: JSON.stringify(body).replaceAll('<receiver>', this.#receiverUrl),
      }),
    });
    const text = await answer.text();
    return { status: answer.status, body: this.#bodyOf(route, text) };
  }

  /** Of what is not about tasks, the names: as `record.mjs` has it. */
  #bodyOf(route: string, text: string): unknown {
    if (route === '/metrics') {
      return [...text.matchAll(/^# TYPE (scheduler_\w+)/gm)].map(([, name]) => name);
    }
    const body = JSON.parse(text.replaceAll(this.#receiverUrl, '<receiver>')) as Json;
    return route === '/openapi.json' ? Object.keys(body['paths'] as object) : body;
  }

  #say(frame: Json): void {
    const session = frame['session'] === undefined ? {} : { session: this.#session };
    this.#socket?.send({ ...frame, ...session });
  }

  async #hear(recorded: MasterFrame): Promise<void> {
    const about = `${recorded.type} from the master`;
    // Several acks may come as one, and with any other frame.
    while (recorded.type === 'ack' && this.#acked < recorded.ack) await this.#take(about);
    if (recorded.type === 'ack') return;
    for (;;) {
      const frame = await this.#take(about);
      if (frame.type === 'ack') continue;
      if (frame.type === 'heartbeat' && recorded.type !== 'heartbeat') continue;
      if (frame.type === 'welcome') {
        this.#session = frame.session;
        this.#acked = 0;
      }
      // How far it has come with what it got, is its own business; and it is looked at with each ack.
      const { ack: _, ...rest } = recorded as MasterFrame & { ack?: number };
      this.#problem(about, [
        ...missing(rest, frame),
        ...('ack' in recorded && !('ack' in frame) ? ['.ack'] : []),
      ]);
      return;
    }
  }

  async #take(about: string): Promise<MasterFrame> {
    const socket = this.#socket;
    if (socket === null) throw new Error('nobody has dialled');
    const frame = await eventually(about, () => socket.frames.shift());
    if ('ack' in frame) this.#acked = Math.max(this.#acked, frame.ack);
    return frame;
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request as AsyncIterable<Buffer>) body += chunk.toString();
    const { url, headers } = request;
    this.#callbacks.push({ path: url, headers, body: JSON.parse(body) as unknown });
    response.writeHead(204).end();
  }

  async #calledBack(entry: Entry): Promise<void> {
    const place = await eventually(`callback at ${entry.callback}`, () => {
      const found = this.#callbacks.findIndex((each) => each.path === entry.callback);
      return found >= 0 && { found };
    });
    const [callback] = this.#callbacks.splice(place.found, 1);
    const { headers, body } = entry as Entry & { headers: object; body: object };
    this.#problem(`callback ${entry.callback}`, missing({ headers, body }, callback));
  }

  #problem(about: string, lacking: readonly string[]): void {
    for (const each of lacking) this.problems.push(`${about}: ${each}`);
  }
}

describe('what was said with a master of 2.0.0', () => {
  it('is answered with all that it was answered with', async () => {
    const entries = (await readFile(fixture, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Entry);
    const folder = await mkdtemp(path.join(tmpdir(), 'soda-transcript-'));
    const replay = new Replay(folder);
    try {
      await replay.start();
      for (const [index, entry] of entries.entries()) {
        await replay.step(entry).catch((error: unknown) => {
          const before = replay.problems.join('\n');
          throw new Error(`line ${index + 1}: ${String(error)}\n${before}`, { cause: error });
        });
      }
      expect(replay.problems).to.deep.equal([]);
    } finally {
      await replay.stop();
      await rm(folder, { recursive: true });
    }
  });
});
