/** Servers that are slow without being silent, asked for inputs and given outputs; and inputs that a disk has no room for. */
import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  InputUnavailableError,
  RetryableError,
  type Task,
  type TaskContext,
} from '@soda-scheduler/executor-sdk';
import { connectionProblem, GuardedRequests } from '@soda-scheduler/executors';
import { placeFor } from '../../../examples/ffmpeg/ladder/place.ts';
import { fetchInput } from '../../../examples/storage/fetch.ts';
import type { InputLocation } from '../../../examples/storage/locations.ts';
import { ObjectStore } from '../../../examples/storage/object-store.ts';
import { publishObject } from '../../../examples/storage/publish.ts';

const { signal } = new AbortController();
const store = null;

describe('what is remote', function () {
  this.timeout(60_000);
  let folder: string;
  let server: Server;
  let base: string;
  let seen: IncomingMessage[];
  let reply: (response: ServerResponse, request: IncomingMessage, n: number) => void;
  let requests: GuardedRequests;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'soda-inputs-'));
    seen = [];
    server = createServer((request, response) => {
      seen.push(request);
      reply(response, request, seen.length);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    base = `http://${host}`;
    requests = new GuardedRequests({
      hosts: [host],
      addresses: ['127.0.0.1'],
      names: { hosts: 'INPUT_HOSTS', addresses: 'INPUT_ADDRESSES' },
    });
  });
  afterEach(async () => {
    await requests.close();
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  async function errorOf(work: Promise<unknown>): Promise<Error> {
    return work.then(
      () => expect.fail('nothing was thrown'),
      (error: Error) => error,
    );
  }
  const fetched = (location: InputLocation) => {
    const storage = { requests, store, bytesMax: 1e6, freeBytesMin: 0 };
    const options = { signal, shortAnswerMsMax: 100 };
    return fetchInput(location, join(folder, 'in'), storage, options);
  };

  it('leaves the disk the room that it is to keep, and comes once there is more', async () => {
    const path = join(folder, 'in');
    const kept = 1e15;
    reply = (response) => response.end(Buffer.alloc(70 * 1024 * 1024));
    // Full from the beginning; and when so much has come.
    for (const looksBefore of [0, 1]) {
      seen = [];
      let looks = 0;
      const storageNow = {
        ...{ requests, store, bytesMax: 1e9 },
        get freeBytesMin() {
          return looks++ < looksBefore ? 0 : kept;
        },
      };
      const error = await errorOf(fetchInput(`${base}/a`, path, storageNow, { signal }));
      expect(error).to.be.instanceOf(RetryableError).with.property('retryAfterMs', 60_000);
      expect(error.message).to.match(/^input .*\/a: the disk has \d+ MB left, and is to keep/);
      expect(seen).to.have.length(1);
      const { size } = statSync(path);
      expect(size).to.be.within(looksBefore * 64 * 2 ** 20, looksBefore * 66 * 2 ** 20);
    }
  });

  const storeOf = () =>
    new ObjectStore({
      ...{ endpoint: base, region: 'r', accessKeyId: 'k', secretAccessKey: 's' },
      ...{ buckets: ['films'], shortAnswerMsMax: 100 },
    });

  it('is asked nothing where the attempt has to end while a large file is read', async () => {
    const path = join(folder, 'out');
    writeFileSync(path, '');
    truncateSync(path, 200 * 2 ** 20);
    const [abort, reason] = [new AbortController(), new Error('canceled')];
    let parts = 0;
    const onPart = () => void (++parts === 2 && abort.abort(reason));
    const location = { bucket: 'films', key: 'out' };
    const options = { signal: abort.signal, onPart };
    expect(await errorOf(publishObject(storeOf(), location, path, options))).to.equal(reason);
    expect([parts, seen.length]).to.deep.equal([2, 0]);
  });

  describe('of servers that say a byte now and then', () => {
    const asked = (wanted: string) => seen.filter(({ method }) => method === wanted).length;
    const drip = (response: ServerResponse) => {
      const timer = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(timer));
    };

    it('is resolved anew where no URL comes for so long', async () => {
      reply = (response, request, n) => {
        if (n === 1) drip(response);
        else if (request.url === '/r') response.end(`${base}/a`);
        else response.end('content');
      };
      expect((await fetched({ resolve: `${base}/r` })).bytes).to.equal(7);
    });

    it('is given up as an input where too little of it comes, however lively it is', async () => {
      // More each time than a try that was cut has to bring.
      const some = Buffer.alloc(20_000);
      reply = (response) => {
        response.writeHead(200, { etag: '"a"', 'content-length': 1e6 });
        response.write(some);
        drip(response);
      };
      const storage = { requests, store, bytesMax: 1e6, freeBytesMin: 0 };
      const pace = { bytes: 500_000, ms: 50 };
      const told: string[] = [];
      const options = { signal, pace, onFailedTry: (words: string) => void told.push(words) };
      const error = await errorOf(fetchInput(`${base}/a`, join(folder, 'in'), storage, options));
      expect(error).to.be.instanceOf(RetryableError);
      expect(error.message).to.match(
        /^input .*\/a: only \d+ bytes came in [\d.]+ s, and at least 500000 in 0.05 s are expected$/,
      );
      expect(seen).to.have.length(6);
      expect(told).to.have.length(6);
      const one = String.raw`input .*/a: only \d+ bytes came in [\d.]+ s, and at least 500000 in 0.05 s are expected`;
      for (const [n, words] of told.entries()) {
        const next = n < 5 ? String.raw`, the next one begins in \d+\.\d s` : '';
        expect(words).to.match(new RegExp(`^${one}: try ${n + 1} of 6${next}$`));
      }
    });

    it('is asked again where the head of an answer does not come for so long', async () => {
      reply = (response, _, n) => {
        if (n > 1) return void response.end('content');
        const { socket } = response;
        socket?.write('HTTP/1.1 200 OK\r\nX-Slow: ');
        const timer = setInterval(() => socket?.write('x'), 10);
        socket?.on('close', () => clearInterval(timer));
      };
      const asked = { method: 'GET', signal, silenceMs: 1_000 };
      const error = await errorOf(requests.send(`${base}/a`, asked));
      expect(connectionProblem(error)).to.equal('no answer in time');
    });

    it('is unavailable where the rest of an error does not come for so long', async () => {
      reply = (response) => drip(response.writeHead(404));
      expect(await errorOf(fetched(`${base}/a`))).to.be.instanceOf(InputUnavailableError);
    });

    it('is written again where what is said of it does not come for so long', async () => {
      const path = join(folder, 'out');
      writeFileSync(path, 'content');
      reply = (response, { method }) => {
        if (method === 'HEAD') response.writeHead(404).end();
        else if (asked('PUT') === 1) drip(response);
        else response.end();
      };
      const location = { bucket: 'films', key: 'out' };
      const { wasThere } = await publishObject(storeOf(), location, path, { signal });
      expect([wasThere, asked('PUT')]).to.deep.equal([false, 2]);
    });

    it('is a ladder that is read again where it does not come for so long', async () => {
      reply = (response, { method }) => {
        response.setHeader('x-amz-meta-soda-fingerprint', 'mark');
        if (asked('GET') === 1 && method === 'GET') drip(response);
        else response.end(method === 'GET' ? '{"fingerprint":"mark"}' : undefined);
      };
      const settings = { storage: { store: storeOf() } } as Parameters<typeof placeFor>[1];
      const of = [{} as Task, { signal } as TaskContext] as const;
      const place = await placeFor(
        's3://films/vod',
        settings,
        of,
        {} as Parameters<typeof placeFor>[3],
      );
      expect(await place.find('mark')).to.deep.equal({ fingerprint: 'mark' });
      expect(asked('GET')).to.equal(2);
    });
  });
});
