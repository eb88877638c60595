/** Inputs of servers that are slow without being silent, and inputs that a disk has no room for. */
import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InputUnavailableError, RetryableError } from '@soda-scheduler/executor-sdk';
import { GuardedRequests } from '@soda-scheduler/executors';
import { fetchInput } from '../../../examples/storage/fetch.ts';
import type { InputLocation } from '../../../examples/storage/locations.ts';

const { signal } = new AbortController();
const store = null;

describe('inputs', function () {
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
    return fetchInput(location, join(folder, 'in'), storage, { signal });
  };

  it('leave the disk the room that it is to keep, and wait for more', async () => {
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

  describe('of servers that say a byte now and then', () => {
    const { setTimeout: real } = globalThis;

    beforeEach(() => {
      // A minute is soon over.
      const hurried = (work: () => void, ms?: number) => real(work, ms === 60_000 ? 100 : ms);
      globalThis.setTimeout = hurried as typeof setTimeout;
    });
    afterEach(() => {
      globalThis.setTimeout = real;
    });
    const drip = (response: ServerResponse) => {
      const timer = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(timer));
    };

    it('wait for a URL for a minute, and ask again', async () => {
      reply = (response, request, n) => {
        if (n === 1) drip(response);
        else if (request.url === '/r') response.end(`${base}/a`);
        else response.end('content');
      };
      expect((await fetched({ resolve: `${base}/r` })).bytes).to.equal(7);
    });

    it('wait for what an error says for a minute', async () => {
      reply = (response) => drip(response.writeHead(404));
      expect(await errorOf(fetched(`${base}/a`))).to.be.instanceOf(InputUnavailableError);
    });
  });
});
