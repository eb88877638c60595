/**
 * A stand-in for an S3-compatible storage, in memory: no package has a real one that keeps conditional writes. It is stricter
 * than real ones are: a request whose signature, digest or length is not right is refused and kept for the test to see. The
 * signature is verified by the implementation of AWS, which is not the one that signs.
 */
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignatureV4 } from '@smithy/signature-v4';

interface StoredObject {
  readonly content: Buffer;
  readonly etag: string;
  readonly metadata: Readonly<Record<string, string>>;
}

interface PendingUpload {
  readonly key: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly parts: Map<number, { readonly content: Buffer; readonly etag: string }>;
}

export const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG' };
export const REGION = 'eu-test-1';

/** What a test may do to a request before it is served: true, and it has answered by itself. */
type Meddle = (request: IncomingMessage, response: ServerResponse, n: number) => boolean;

class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.#hash.digest()));
  }
  reset(): void {
    throw new Error('not needed');
  }
}

export class StrictObjectStorage {
  readonly objects = new Map<string, StoredObject>();
  readonly uploads = new Map<string, PendingUpload>();
  /** What it was asked for: method and path. */
  readonly asked: string[] = [];
  /** Requests that no honest client sends. */
  readonly violations: string[] = [];
  meddle: Meddle = () => false;
  /** After it was served, and before the answer goes out: true loses the answer. */
  losesAnswer: (request: IncomingMessage) => boolean = () => false;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      this.asked.push(`${request.method} ${request.url}`);
      if (this.meddle(request, response, this.asked.length)) return;
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.#serve(request, Buffer.concat(chunks), response).catch((error: Error) => {
          this.violations.push(error.message);
          refuse(response, 400, 'BadRequest');
        });
      });
    });
  }

  static async start(): Promise<StrictObjectStorage> {
    const storage = new StrictObjectStorage();
    storage.#server.listen(0, '127.0.0.1');
    await once(storage.#server, 'listening');
    return storage;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  put(key: string, content: string | Buffer, metadata: Record<string, string> = {}): void {
    const bytes = Buffer.from(content);
    this.objects.set(key, { content: bytes, etag: etagOf(bytes), metadata });
  }

  async #serve(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', this.url);
    const wrong = await this.#wrongWith(request, url, body);
    if (wrong !== null) {
      this.violations.push(`${request.method} ${request.url}: ${wrong}`);
      return refuse(response, 403, 'SignatureDoesNotMatch');
    }
    const key = decodeURIComponent(url.pathname.slice(1));
    const answer = this.#answer(request, { url, key, body });
    if (this.losesAnswer(request)) return void response.destroy();
    answer(response);
  }

  async #wrongWith(request: IncomingMessage, url: URL, body: Buffer): Promise<string | null> {
    const { authorization = '', 'x-amz-content-sha256': digest } = request.headers;
    const found =
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(\d{8})\/eu-test-1\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
        authorization,
      );
    if (found === null) return `no signature: ${authorization}`;
    const names = (found[2] ?? '').split(';');
    for (const name of ['host', 'x-amz-date', 'x-amz-content-sha256']) {
      if (!names.includes(name)) return `${name} is not signed`;
    }
    const unsigned = Object.keys(request.headers).find(
      (name) => /^(x-amz-|if-none-match$)/.test(name) && !names.includes(name),
    );
    if (unsigned !== undefined) return `${unsigned} is not signed`;
    const hashes = [createHash('sha256').update(body).digest('hex')];
    if (body.length === 0) hashes.push('UNSIGNED-PAYLOAD');
    if (!hashes.includes(String(digest))) return `the digest is not that of the body`;
    const date = String(request.headers['x-amz-date']);
    const signer = new SignatureV4({
      credentials: KEYS,
      region: REGION,
      service: 's3',
      sha256: Sha256,
      uriEscapePath: false,
      applyChecksum: false,
    });
    const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name])]));
    const signed = await signer.sign(
      {
        ...{ method: request.method ?? '', protocol: 'http:', hostname: url.hostname },
        ...{ path: url.pathname, headers, query: Object.fromEntries(url.searchParams) },
      },
      { signingDate: dateOf(date), signableHeaders: new Set(names) },
    );
    return signed.headers['authorization']?.endsWith(found[3] ?? '') ? null : 'another signature';
  }

  #answer(
    { method, headers }: IncomingMessage,
    { url, key, body }: { url: URL; key: string; body: Buffer },
  ): (response: ServerResponse) => void {
    const query = url.searchParams;
    const isAbsentAsked = headers['if-none-match'] === '*';
    const metadata = Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) =>
        name.startsWith('x-amz-meta-') ? [[name, String(value)] as const] : [],
      ),
    );
    if (method === 'POST' && query.has('uploads')) {
      const id = `upload-${this.uploads.size + 1}&x`;
      this.uploads.set(id, { key, metadata, parts: new Map() });
      return xml(`<R><UploadId>${id.replace('&', '&amp;')}</UploadId></R>`);
    }
    const uploadId = query.get('uploadId');
    if (uploadId !== null)
      return this.#ofUpload(uploadId, { method, query, key, body, isAbsentAsked });
    if (method === 'PUT') {
      if (!isAbsentAsked) this.violations.push(`PUT ${key} could overwrite`);
      if (this.objects.has(key)) return failing(412, 'PreconditionFailed');
      this.put(key, body, metadata);
      return (response) => response.end();
    }
    const found = this.objects.get(key);
    if (found === undefined) return failing(404, 'NoSuchKey');
    return (response) => sendObject(response, found, headers.range, method === 'HEAD');
  }

  #ofUpload(
    id: string,
    asked: {
      method: string | undefined;
      query: URLSearchParams;
      key: string;
      body: Buffer;
      isAbsentAsked: boolean;
    },
  ): (response: ServerResponse) => void {
    const { method, query, key, body, isAbsentAsked } = asked;
    const upload = this.uploads.get(id);
    if (upload?.key !== key) return failing(404, 'NoSuchUpload');
    if (method === 'DELETE') {
      this.uploads.delete(id);
      return (response) => response.writeHead(204).end();
    }
    if (method === 'PUT') {
      const etag = etagOf(body);
      upload.parts.set(Number(query.get('partNumber')), { content: body, etag });
      return (response) => response.writeHead(200, { etag }).end();
    }
    if (!isAbsentAsked) this.violations.push(`completing ${key} could overwrite`);
    if (this.objects.has(key)) return failing(412, 'PreconditionFailed');
    const named = [
      ...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>(.*?)<\/ETag>/g),
    ];
    const parts = named.map(([, number, etag]) => {
      const part = upload.parts.get(Number(number));
      return part?.etag === etag?.replaceAll('&quot;', '"') ? part?.content : undefined;
    });
    if (parts.length === 0 || parts.includes(undefined)) return failing(400, 'InvalidPart');
    this.put(key, Buffer.concat(parts as Buffer[]), upload.metadata);
    this.uploads.delete(id);
    return xml('<CompleteMultipartUploadResult/>');
  }
}

function sendObject(
  response: ServerResponse,
  { content, etag, metadata }: StoredObject,
  range: string | undefined,
  isHead: boolean,
): void {
  const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
  const part = content.subarray(start);
  response.writeHead(range === undefined ? 200 : 206, {
    etag,
    ...metadata,
    'content-length': part.length,
    ...(range !== undefined && {
      'content-range': `bytes ${start}-${content.length - 1}/${content.length}`,
    }),
  });
  response.end(isHead ? undefined : part);
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
}

const failing = (status: number, code: string) => (response: ServerResponse) =>
  refuse(response, status, code);
const xml = (text: string) => (response: ServerResponse) => void response.end(text);

function etagOf(content: Buffer): string {
  return `"${createHash('md5').update(content).digest('hex')}"`;
}

function dateOf(text: string): Date {
  return new Date(text.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  if (data instanceof ArrayBuffer) return Buffer.from(data);
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
