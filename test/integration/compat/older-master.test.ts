/** An executor of today at a master of 2.0.0: that one's frames as they were recorded, and what it takes for frames. */
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { expect } from 'chai';
import { type WebSocket, WebSocketServer } from 'ws';
import { installReleased } from '../../helpers/released.ts';
import { watchedExecutor } from '../../helpers/sdk/watched-executor.ts';

type Frame = Readonly<Record<string, unknown>> & { readonly type: string };
interface ReleasedProtocol {
  readonly helloFrame: unknown;
  readonly executorFrame: unknown;
  decodeFrame(schema: unknown, text: string): { frame: Frame } | { problem: string };
}

/** What that master said of this type, in the order of the recording. */
function recorded(type: string): Frame[] {
  const text = readFileSync(new URL('../../fixtures/2.0.0/transcript.jsonl', import.meta.url));
  return text
    .toString()
    .replaceAll('"<string>"', '"text"')
    .replaceAll('"<number>"', '10000')
    .split('\n')
    .filter((line) => line.startsWith(`{"master":`))
    .map((line) => (JSON.parse(line) as { master: Frame }).master)
    .filter((frame) => frame.type === type);
}

describe('an executor of today at a master of 2.0.0', () => {
  let folder: string;
  let protocol: ReleasedProtocol;
  let server: WebSocketServer;
  const said: Frame[] = [];
  const problems: string[] = [];
  const heard = new EventEmitter();
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  before(async () => {
    folder = await installReleased('2.0.0');
    const entry = join(folder, 'node_modules/@soda-scheduler/protocol/dist/index.js');
    protocol = (await import(pathToFileURL(entry).href)) as ReleasedProtocol;
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
  });
  after(async () => {
    for (const client of server.clients) client.terminate();
    server.close();
    await rm(folder, { recursive: true });
  });

  /** It acknowledges, and keeps what it has taken. */
  function serve(socket: WebSocket): void {
    const welcome = { ...recorded('welcome')[0], heartbeat_ms: 200, lease_ms: 30_000 };
    let acked = 0;
    socket.on('message', (data: Buffer) => {
      const text = data.toString();
      const isFirst = said.length === 0;
      const schema = isFirst ? protocol.helloFrame : protocol.executorFrame;
      const decoded = protocol.decodeFrame(schema, text);
      if ('problem' in decoded) problems.push(`${decoded.problem}: ${text}`);
      else {
        const { frame } = decoded;
        const { seq, n } = frame;
        if (isFirst) socket.send(JSON.stringify(welcome));
        else if (frame.type === 'heartbeat')
          socket.send(JSON.stringify({ type: 'heartbeat', n, ack: acked }));
        else {
          acked = Number(seq);
          socket.send(JSON.stringify({ type: 'ack', ack: acked }));
        }
        said.push(frame);
      }
      heard.emit('frame');
    });
  }
  async function next(kind: string, id: string): Promise<Frame> {
    for (;;) {
      const frame = said.find(({ type, task_id: of }) => type === kind && of === id);
      if (frame !== undefined) return frame;
      expect(problems).to.deep.equal([]);
      await once(heard, 'frame');
    }
  }

  it('says that it knows no namespaces, as an error, and tries on', async () => {
    const dialled: (string | undefined)[] = [];
    // As that master answers all paths but its own.
    const text = 'There is nothing at this path.';
    const head = [
      'HTTP/1.1 404 Not Found',
      'Connection: close',
      'Content-Type: text/plain; charset=utf-8',
      `Content-Length: ${text.length}`,
    ];
    const older = createServer().on('upgrade', ({ url }, socket) => {
      dialled.push(url);
      heard.emit('dial');
      socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
    });
    older.listen(0, '127.0.0.1');
    await once(older, 'listening');
    closing.push(async () => older.close());
    const { port } = older.address() as AddressInfo;
    const executor = watchedExecutor(`http://127.0.0.1:${port}`, { namespace: 'live' });
    executor.handle('transcode', () => null);
    closing.push(() => executor.stop());
    void executor.start();
    expect(await executor.told('unreachable')).to.deep.include({
      level: 'error',
      message:
        'the master knows no namespaces (the master answered HTTP 404 Not Found: There is nothing at this path): upgrade it, or leave out the namespace; trying on',
    });
    while (dialled.length < 3) await once(heard, 'dial');
    expect(dialled).to.include('/scheduler/v2/ns/live/executor');
    const told = executor.events.filter(({ type }) => type === 'unreachable');
    expect(told).to.have.length(1);
  });

  it('says nothing that this would not take, and ends what it is told to', async () => {
    const connected = once(server, 'connection') as Promise<[WebSocket]>;
    void connected.then(([socket]) => serve(socket));
    const { port } = server.address() as AddressInfo;
    const executor = watchedExecutor(`http://127.0.0.1:${port}`, {
      version: '1.4.2',
      leaseMs: 6_000,
      scratchDir: folder,
      ready: () => true,
      drainTimeoutMs: 0,
    });
    executor.handle<{ input: string }>(
      'transcode',
      async ({ params }, ctx) => {
        ctx.log.info('begun', { input: params.input });
        ctx.event('input_switched', { to: 'b' });
        ctx.alert('critical', 'the encoder has no licence');
        ctx.checkpoint({ frame: 90 });
        ctx.progress({ parts: [{ name: 'a', percent: 25 }], speed: 1.5, etaSeconds: 9, state: 1 });
        if (params.input === 'a.mov') throw new NonRetryableError('bad input');
        return new Promise((_, reject) => {
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error));
        });
      },
      { prepare: () => undefined },
    );
    closing.push(() => executor.stop());
    await executor.start();
    const [socket] = await connected;
    const [first, , second] = recorded('assign');
    socket.send(JSON.stringify(first));
    expect(await next('result', 'movie-1')).to.deep.include({ outcome: 'failed', attempt: 1 });
    socket.send(JSON.stringify({ ...second, seq: 2, ack: 0 }));
    await next('accept', 'movie-2');
    const [cancel] = recorded('cancel');
    socket.send(JSON.stringify({ ...cancel, seq: 3, ack: 0 }));
    expect(await next('result', 'movie-2')).to.deep.include({ outcome: 'canceled' });
    await executor.stop();

    expect(problems).to.deep.equal([]);
    const [progress] = said.filter(({ type }) => type === 'progress');
    expect(progress).to.deep.include({ task_id: 'movie-1', checkpoint: { frame: 90 } });
    const kinds = new Set(said.map(({ type }) => type));
    expect([...kinds].sort()).to.deep.equal(['accept', 'heartbeat', 'hello', 'progress', 'result']);
  });
});
