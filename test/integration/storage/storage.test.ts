/** Inputs fetched and outputs published over networks that cut, storages that refuse, and names that lead elsewhere. */
import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  InputUnavailableError,
  NonRetryableError,
  RetryableError,
} from '@soda-scheduler/executor-sdk';
import { GuardedRequests } from '@soda-scheduler/executors';
import { fetchInput } from '../../../examples/storage/fetch.ts';
import type { InputLocation } from '../../../examples/storage/locations.ts';
import { ObjectStore } from '../../../examples/storage/object-store.ts';
import { publishObject } from '../../../examples/storage/publish.ts';
import { KEYS, REGION, StrictObjectStorage } from '../../helpers/storage/strict-object-storage.ts';

const { signal } = new AbortController();
const digestOf = (content: Buffer | string) => createHash('sha256').update(content).digest('hex');

describe('storage', function () {
  this.timeout(60_000);
  let folder: string;
  let storage: StrictObjectStorage;
  let store: ObjectStore;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'soda-storage-'));
    storage = await StrictObjectStorage.start();
    store = new ObjectStore({
      ...KEYS,
      endpoint: storage.url,
      region: REGION,
      buckets: ['films', 'shared/mine/'],
    });
  });
  afterEach(async () => {
    await store.close();
    storage.stop();
    rmSync(folder, { recursive: true });
    expect(storage.violations).to.deep.equal([]);
  });

  async function errorOf(work: Promise<unknown>): Promise<Error> {
    return work.then(
      () => expect.fail('nothing was thrown'),
      (error: Error) => error,
    );
  }

  describe('inputs', () => {
    const content = randomBytes(300_000);
    let server: Server;
    let base: string;
    let seen: IncomingMessage[];
    let reply: (response: ServerResponse, request: IncomingMessage, n: number) => void;
    let requests: GuardedRequests;

    beforeEach(async () => {
      seen = [];
      server = createServer((request, response) => {
        seen.push(request);
        reply(response, request, seen.length);
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      base = `http://${host}`;
      requests = new GuardedRequests({
        hosts: [host, '169.254.169.254'],
        addresses: ['127.0.0.1'],
        names: { hosts: 'INPUT_HOSTS', addresses: 'INPUT_ADDRESSES' },
      });
    });
    afterEach(async () => {
      await requests.close();
      server.close();
      server.closeAllConnections();
    });

    /** An answer that is cut once so much of the whole has arrived. */
    let held: { readonly response: ServerResponse; readonly at: number } | null = null;
    const onBytes = (bytes: number) => {
      if (held === null || bytes < held.at) return;
      held.response.destroy();
      held = null;
    };
    const fetched = (location: InputLocation, bytesMax = 1_000_000) =>
      fetchInput(
        location,
        join(folder, 'in'),
        { requests, store, bytesMax, freeBytesMin: 0 },
        { signal, onBytes },
      );
    /** Serves ranges, and cuts the connection once so many bytes of an answer have arrived. */
    const cutting = (cutAt: number, etag = '"a"') => {
      return (response: ServerResponse, request: IncomingMessage) => {
        const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
        const rest = content.subarray(start);
        response.writeHead(start > 0 ? 206 : 200, {
          etag,
          'content-length': rest.length,
          ...(start > 0 && {
            'content-range': `bytes ${start}-${content.length - 1}/${content.length}`,
          }),
        });
        if (rest.length <= cutAt) return void response.end(rest);
        held = { response, at: start + cutAt };
        response.write(rest.subarray(0, cutAt));
      };
    };

    it('are fetched whole over connections that are cut, and go on where they were', async () => {
      reply = cutting(120_000);
      expect(await fetched(`${base}/a.mp4`)).to.deep.equal({
        bytes: content.length,
        sha256: digestOf(content),
      });
      expect(readFileSync(join(folder, 'in')).equals(content)).to.equal(true);
      expect(seen.length).to.be.above(1);
      expect(seen[1]?.headers['if-range']).to.equal('"a"');
    });

    it('begin anew where nobody promises that the content is the same', async () => {
      reply = (response, request, n) =>
        cutting(n === 1 ? 120_000 : 1e9, 'W/"a"')(response, request);
      expect((await fetched(`${base}/a.mp4`)).sha256).to.equal(digestOf(content));
      expect(seen.map(({ headers }) => headers.range)).to.deep.equal([undefined, undefined]);
    });

    it('are not believed to be whole, or the same, where an answer does not say so', async () => {
      const part = (headers: Record<string, string>, end = content.length) => {
        return (response: ServerResponse, request: IncomingMessage, n: number) => {
          const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
          if (n === 1) return cutting(120_000)(response, request);
          if (start === 0) return cutting(1e9)(response, request);
          response.writeHead(206, {
            etag: '"a"',
            'content-range': `bytes ${start}-${end}/*`,
            ...headers,
          });
          response.end(content.subarray(start, end));
        };
      };
      const odd: Parameters<typeof part>[] = [
        // A part of the rest, of a whole that is not told.
        [{}, content.length - 1_000],
        // Another content, whatever `If-Range` has asked for.
        [{ etag: '"b"', 'content-range': `bytes 120000-299999/300000` }],
        [{ 'content-range': `bytes 120000-299999/300001` }],
      ];
      for (const [headers, end] of odd) {
        seen = [];
        reply = part(headers, end);
        expect((await fetched(`${base}/a`)).sha256).to.equal(digestOf(content));
        expect(seen.at(-1)?.headers.range, JSON.stringify(headers)).to.equal(undefined);
      }
    });

    it('go on for as long as each try brings something', async () => {
      reply = cutting(20_000);
      expect((await fetched(`${base}/a.mp4`)).sha256).to.equal(digestOf(content));
      expect(seen.length).to.be.above(7);
    });

    it('wait for room where the disk is full, and do not ask again and again', async function () {
      if (!existsSync('/dev/full')) this.skip();
      reply = cutting(1e9);
      const work = fetchInput(
        `${base}/a`,
        '/dev/full',
        { requests, store, bytesMax: 1e6, freeBytesMin: 0 },
        { signal },
      );
      expect(await errorOf(work)).to.have.property('code', 'ENOSPC');
      expect(seen).to.have.length(1);
    });

    it('that are not there are unavailable at once', async () => {
      for (const status of [403, 404, 410]) {
        seen = [];
        reply = (response) => response.writeHead(status).end();
        const error = await errorOf(fetched(`${base}/a.mp4?signature=secret`));
        expect(error).to.be.instanceOf(InputUnavailableError);
        expect(error.message).to.equal(`input ${base}/a.mp4?…: answered ${status}`);
        expect(seen).to.have.length(1);
      }
      const error = await errorOf(fetched('s3://films/gone.mp4'));
      expect(error).to.be.instanceOf(InputUnavailableError);
      expect(error.message).to.include('404 (NoSuchKey)');
    });

    it('are tried again while a server has trouble, and then fail as anything may', async () => {
      reply = (response, request, n) =>
        n < 3 ? response.writeHead(503).end() : cutting(1e9)(response, request);
      expect((await fetched(`${base}/a`)).bytes).to.equal(content.length);
      reply = (response) => response.writeHead(500).end();
      expect(await errorOf(fetched(`${base}/a`))).to.be.instanceOf(RetryableError);
    });

    it('are never larger than they may be, said or not', async () => {
      reply = cutting(1e9);
      expect((await errorOf(fetched(`${base}/a`, 1_000))).message).to.include(
        'more than 1000 bytes',
      );
      reply = (response) => {
        response.write(content);
        response.end(content);
      };
      expect(await errorOf(fetched(`${base}/a`, 400_000))).to.be.instanceOf(NonRetryableError);
    });

    it('are asked of hosts that are listed, and led to no address inside', async () => {
      const refused: Record<string, string> = {
        'http://elsewhere.example/a': 'not among INPUT_HOSTS',
        'http://169.254.169.254/a': 'a cloud metadata address',
      };
      for (const [url, why] of Object.entries(refused)) {
        expect((await errorOf(fetched(url))).message).to.include(why);
        reply = (response) => response.writeHead(302, { location: url }).end();
        expect((await errorOf(fetched(`${base}/a`))).message).to.include(why);
        reply = (response) => response.end(JSON.stringify({ url }));
        expect((await errorOf(fetched({ resolve: `${base}/r` }))).message).to.include(why);
      }
      reply = (response) => response.writeHead(302, { location: '/again' }).end();
      expect((await errorOf(fetched(`${base}/a`))).message).to.include('redirects too often');
    });

    it('are resolved when they are fetched, and again when that is cut', async () => {
      let signed = 0;
      reply = (response, request) => {
        if (request.url === '/r') response.end(`{"url":"${base}/signed-${++signed}"}`);
        else if (signed === 1) cutting(120_000)(response, request);
        else cutting(1e9)(response, request);
      };
      expect((await fetched({ resolve: `${base}/r` })).sha256).to.equal(digestOf(content));
      expect(signed).to.equal(2);
      reply = (response) => response.writeHead(410).end();
      expect(await errorOf(fetched({ resolve: `${base}/r` }))).to.be.instanceOf(
        InputUnavailableError,
      );
    });

    it('come from a bucket, if it is listed', async () => {
      storage.put("films/a folder/b+c & d'é.mp4", content);
      expect((await fetched("s3://films/a folder/b+c & d'é.mp4")).sha256).to.equal(
        digestOf(content),
      );
      for (const location of ['s3://others/a', 's3://shared/theirs/a']) {
        expect((await errorOf(fetched(location))).message).to.include('not among S3_BUCKETS');
      }
    });

    it('are fetched from no URL from which characters would be dropped', async () => {
      reply = (response) => response.end(JSON.stringify({ url: `${base}/a\r\nb` }));
      const error = await errorOf(fetched({ resolve: `${base}/r` }));
      expect(error).to.be.instanceOf(NonRetryableError);
      expect(error.message).to.equal('url: expected one without control characters');
      expect(seen).to.have.length(1);
    });
  });

  describe('outputs', () => {
    const content = randomBytes(250_000);
    const location = { bucket: 'films', key: 'out/a b.mp4' };
    let path: string;

    beforeEach(() => {
      path = join(folder, 'out');
      writeFileSync(path, content);
    });
    const published = (partBytes?: number) =>
      publishObject(store, location, path, {
        ...{
          signal,
          metadata: { by: 'a-test' },
          isAsGood: ({ metadata }) => 'as-good' in metadata,
        },
        ...(partBytes && { partBytes }),
      });
    const stored = () => storage.objects.get('films/out/a b.mp4')?.content;

    for (const [how, partBytes] of [
      ['whole', undefined],
      ['in parts', 100_000],
    ] as const) {
      it(`are written once, ${how}; the same again is done`, async () => {
        const of = { bytes: content.length, sha256: digestOf(content), metadata: { by: 'a-test' } };
        expect(await published(partBytes)).to.deep.equal({ ...of, wasThere: false });
        expect(stored()?.equals(content)).to.equal(true);
        storage.asked.length = 0;
        expect(await published(partBytes)).to.deep.equal({ ...of, wasThere: true });
        expect(storage.asked).to.deep.equal(['HEAD /films/out/a%20b.mp4']);
      });

      it(`are done, ${how}, where another content is as good`, async () => {
        const theirs = { 'x-amz-meta-as-good': 'yes' };
        const there = { bytes: 6, sha256: null, metadata: { 'as-good': 'yes' }, wasThere: true };
        storage.put('films/out/a b.mp4', 'theirs', theirs);
        expect(await published(partBytes)).to.deep.equal(there);
        storage.objects.clear();
        storage.meddle = (request) => {
          if (request.method !== 'HEAD') storage.put('films/out/a b.mp4', 'theirs', theirs);
          return false;
        };
        expect(await published(partBytes)).to.deep.equal(there);
        expect(stored()?.toString()).to.equal('theirs');
      });

      it(`never overwrite something else, ${how}, not even in a race`, async () => {
        storage.put('films/out/a b.mp4', 'theirs');
        const error = await errorOf(published(partBytes));
        expect(error).to.be.instanceOf(NonRetryableError);
        expect(error.message).to.include('with another content: it is not overwritten');
        storage.objects.clear();
        // Somebody is faster, after it was looked whether anything is there.
        storage.meddle = (request) => {
          if (request.method !== 'HEAD') storage.put('films/out/a b.mp4', 'theirs');
          return false;
        };
        expect(await errorOf(published(partBytes))).to.be.instanceOf(NonRetryableError);
        expect(stored()?.toString()).to.equal('theirs');
        expect(storage.uploads.size).to.equal(0);
      });

      it(`are done, ${how}, where the answer that says so was lost`, async () => {
        let isLost = false;
        storage.losesAnswer = ({ method, url = '' }) => {
          const isLast =
            partBytes === undefined ? method === 'PUT' : /^POST.*uploadId/.test(`${method}${url}`);
          if (!isLast || isLost) return false;
          isLost = true;
          return true;
        };
        expect(await published(partBytes)).to.include({ wasThere: true });
        expect(isLost).to.equal(true);
        expect(stored()?.equals(content)).to.equal(true);
      });

      it(`are tried again, ${how}, while the storage has trouble`, async () => {
        storage.meddle = (_, response, n) => {
          if (n % 2 === 0) return false;
          response.writeHead(503).end();
          return true;
        };
        expect(await published(partBytes)).to.include({ wasThere: false });
        storage.meddle = () => false;
        expect(stored()?.equals(content)).to.equal(true);
      });
    }

    it('leave no parts behind where they fail', async () => {
      storage.meddle = (request, response) => {
        if (!/partNumber=2/.test(request.url ?? '')) return false;
        response.writeHead(400).end();
        return true;
      };
      expect(await errorOf(published(100_000))).to.be.instanceOf(NonRetryableError);
      expect(storage.uploads.size).to.equal(0);
      expect(storage.asked.at(-1)).to.match(/^DELETE /);
    });

    it('name no secret where they are refused', async () => {
      const other = { ...KEYS, secretAccessKey: 'another-secret' };
      const wrong = new ObjectStore({
        ...other,
        endpoint: storage.url,
        region: REGION,
        buckets: ['films'],
      });
      const error = await errorOf(publishObject(wrong, location, path, { signal }));
      await wrong.close();
      expect(error).to.be.instanceOf(NonRetryableError);
      expect(error.message).to.include('403 (SignatureDoesNotMatch)').and.not.to.include('secret');
      // The storage has noticed: it is the stand-in that is tried here.
      expect(storage.violations.splice(0)).to.have.length.above(0);
    });
  });
});
