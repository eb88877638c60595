/** `http.request` against servers that answer well, badly, slowly, and with what leads elsewhere. */
import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NonRetryableError, RetryableError } from '@soda-scheduler/executor-sdk';
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { GuardedRequests, requestHandler, requestSettings } from '@soda-scheduler/executors';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
type Reply = (response: ServerResponse, request: Seen) => void;

describe('http.request', () => {
  let server: Server;
  let host: string;
  let base: string;
  let seen: Seen[];
  let reply: Reply;
  const open: GuardedRequests[] = [];

  before(async () => {
    server = createServer((request, response) => {
      let body = '';
      const { method, url, headers } = request;
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => {
        seen.push({ method, url, headers, body });
        reply(response, { method, url, headers, body });
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    base = `http://${host}`;
  });
  beforeEach(() => {
    seen = [];
    reply = (response) => response.end('{"ok":true}');
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((requests) => requests.close()));
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  const names = { hosts: 'hosts', addresses: 'addresses' };
  interface Around {
    readonly settings?: object;
    readonly checkpoint?: unknown;
    readonly resolve?: (name: string) => Promise<{ address: string; family: number }[]>;
    readonly credentials?: { host: string; header: string; value: string }[];
    readonly signal?: AbortSignal;
  }
  function run(params: object, around: Around = {}) {
    const given = { hosts: [host], addresses: ['127.0.0.1'], ...around.settings };
    const settings = requestSettings.parse(given);
    const { resolve, checkpoint, signal, credentials = [] } = around;
    const requests = new GuardedRequests({ ...settings, names, ...(resolve && { resolve }) });
    open.push(requests);
    return runHandler(requestHandler(settings, requests, credentials), {
      params,
      id: 'task-1',
      ...(checkpoint !== undefined && { checkpoint }),
      ...(signal && { signal }),
    });
  }
  async function refusal(params: object, around: Around = {}): Promise<string> {
    const { error } = await run(params, around);
    expect(error, JSON.stringify(params)).to.be.instanceOf(NonRetryableError);
    return (error as Error).message;
  }
  const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Reply => {
    return (response) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(value));
    };
  };

  it('sends what it is told, and hands back what was answered', async () => {
    reply = json({ job: { id: 7 } }, 201);
    const headers = { 'X-Of': 'a' };
    const asked = { method: 'POST', url: `${base}/a?b=c`, json: { n: 1 }, headers };
    const { result } = await run({ ...asked, result_at: '/job/id' });
    expect(result).to.deep.equal({
      status: 201,
      content_type: 'application/json',
      body: 7,
      truncated: false,
    });
    expect(seen[0]).to.include({ method: 'POST', url: '/a?b=c', body: '{"n":1}' });
    expect(seen[0]?.headers).to.include({
      'x-of': 'a',
      'content-type': 'application/json',
      'idempotency-key': 'default/task-1',
    });
  });

  it('goes by the status and the body for success', async () => {
    reply = json({ state: 'no' }, 404);
    const success = { status: [404], body: { at: '/state', equals: ['no'] } };
    expect((await run({ url: base, success })).result).to.include({ status: 404 });
    reply = json({ state: 'yes' }, 404);
    expect(await refusal({ url: base, success })).to.include('has not ["no"] at /state');
    expect(await refusal({ url: base })).to.equal('answered 404: {"state":"yes"}');
  });

  it('tries again what may pass, when the server says', async () => {
    const cases: [number, Record<string, string>, number | undefined][] = [
      [429, { 'retry-after': '7' }, 7_000],
      [503, {}, undefined],
      [500, { 'retry-after': 'nonsense' }, undefined],
    ];
    for (const [status, headers, retryAfterMs] of cases) {
      reply = json({}, status, headers);
      const { error } = await run({ url: base });
      expect(error).to.be.instanceOf(RetryableError).with.property('retryAfterMs', retryAfterMs);
    }
    reply = json({}, 503, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() });
    const { error } = await run({ url: base });
    expect((error as RetryableError).retryAfterMs).to.be.within(50_000, 60_000);
    reply = (response) => response.destroy();
    expect((await run({ url: base })).error).to.be.instanceOf(RetryableError);
  });

  it('asks hosts that are listed, at their ports, and no other', async () => {
    const listed = { hosts: ['a.example', '*.b.example:8080'] };
    for (const url of [
      'http://a.example.evil/',
      'http://evil.a.example/',
      'http://a.example:81/',
      'http://b.example:8080/',
      'http://xb.example:8080/',
      'http://x.b.example/',
      'http://a.example@evil.example/',
      'ftp://a.example/',
      'file:///etc/passwd',
      'gopher://a.example/',
      'nonsense',
    ]) {
      expect(await refusal({ url }, { settings: listed }), url).to.match(
        /not among hosts|refused|is none/,
      );
    }
    const resolve = () => Promise.reject(new Error('asked for its address'));
    for (const url of ['http://a.example/', 'https://A.EXAMPLE./', 'http://x.b.example:8080/']) {
      const { error } = await run({ url }, { settings: listed, resolve });
      expect((error as Error).message, url).to.include('asked for its address');
    }
  });

  it('connects to no address that is not public, unless it is allowed', async () => {
    const settings = { hosts: [host, '169.254.169.254', '[::1]', 'inside.example'], addresses: [] };
    expect(await refusal({ url: base }, { settings })).to.include('a loopback address');
    const metadata = await refusal({ url: 'http://169.254.169.254/latest' }, { settings });
    expect(metadata).to.include('a cloud metadata address').and.not.to.include('to allow it');
    expect(await refusal({ url: 'http://[::1]/' }, { settings })).to.include('loopback');
    for (const address of ['10.0.0.1', '169.254.169.254', '127.0.0.1', '100.64.0.1']) {
      const resolve = () => Promise.resolve([{ address, family: 4 }]);
      const said = await refusal({ url: 'http://inside.example/' }, { settings, resolve });
      expect(said, address).to.include('refused: inside.example is');
    }
    expect(seen).to.deep.equal([]);
  });

  it('is not led inside by a name whose address changes', async () => {
    const answers = ['93.184.216.34', '127.0.0.1'];
    let asked = 0;
    const resolve = () => {
      const address = answers[Math.min(asked++, 1)] ?? '';
      return Promise.resolve([{ address, family: 4 }]);
    };
    const settings = { hosts: [`moving.example:${host.split(':')[1]}`], addresses: [] };
    const url = `http://moving.example:${host.split(':')[1]}/`;
    // The first answer is good; nobody listens there, or nobody can be reached.
    const abort = AbortSignal.timeout(500);
    await run({ url, timeout_seconds: 0.3 }, { settings, resolve, signal: abort });
    expect(await refusal({ url }, { settings, resolve: () => (asked++, resolve()) })).to.include(
      'loopback',
    );
    // One good address among bad ones does not help either.
    const both = () => Promise.resolve(answers.map((address) => ({ address, family: 4 })));
    expect(await refusal({ url }, { settings, resolve: both })).to.include('loopback');
    expect(seen).to.deep.equal([]);
  });

  it('follows no redirect', async () => {
    for (const location of ['http://169.254.169.254/', `${base}/other`]) {
      reply = json({}, 302, { location });
      expect(await refusal({ url: base })).to.include('redirects are not followed');
    }
    expect(seen).to.have.length(2);
  });

  it('takes no header that decides whose message it is, nor one of two lines', async () => {
    const bad = { Host: 'a', 'transfer-encoding': 'chunked', 'x-a': 'b\r\nx-c: d', 'x a': 'b' };
    for (const [name, value] of Object.entries(bad)) {
      expect(await refusal({ url: base, headers: { [name]: value } })).to.include('headers.');
    }
  });

  it('reads no more than it is let, and waits no longer', async () => {
    reply = (response) => response.end('x'.repeat(2_000));
    const settings = { response_bytes_max: 1_000 };
    expect(await refusal({ url: base }, { settings })).to.include('more than 1000 bytes');
    reply = (response) => {
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    };
    const { error } = await run({ url: base, timeout_seconds: 0.3 });
    expect(error).to.be.instanceOf(RetryableError);
    expect((error as Error).message).to.include('no whole answer within 0.3 s');
  });

  it('sends its credentials to their host alone, and shows them to nobody', async () => {
    reply = (response, { headers }) =>
      json({ you: headers['authorization'] ?? 'none' })(response, seen[0]!);
    const credentials = [{ host, header: 'authorization', value: 'Bearer s3cret' }];
    const headers = { Authorization: 'of the task' };
    const { result } = await run({ url: base, headers }, { credentials });
    expect(seen[0]?.headers['authorization']).to.equal('Bearer s3cret');
    expect(result).to.deep.include({ body: { you: '(secret)' } });
    const other = [{ host: 'other.example', header: 'authorization', value: 'Bearer s3cret' }];
    expect((await run({ url: base }, { credentials: other })).result).to.deep.include({
      body: { you: 'none' },
    });
    reply = json({ token: 's3cret' });
    expect((await run({ url: base }, { credentials })).result).to.deep.include({
      body: { token: '(secret)' },
    });
  });

  it('shows no secret that an answer spells another way', async () => {
    const credentials = [{ host, header: 'x-key', value: 'ab/cd"e' }];
    const spelled = 'ab\\/cd\\"\\u0065';
    reply = (response) => response.end(`{"you":["say ${spelled}!"],"${spelled}":1}`);
    expect((await run({ url: base }, { credentials })).result).to.deep.include({
      body: { you: ['say (secret)!'], '(secret)': 1 },
    });
    reply = (response) => response.end('['.repeat(100_000) + ']'.repeat(100_000));
    expect((await run({ url: base }, { credentials })).error).to.equal(undefined);
  });

  it('sends no credentials where everybody on the way could read them', async () => {
    const credentials = [
      { host: 'api.example.org', header: 'authorization', value: 'Bearer s3cret' },
    ];
    const settings = { hosts: ['api.example.org'] };
    const message = await refusal({ url: 'http://api.example.org/' }, { credentials, settings });
    expect(message).to.include('the credentials of api.example.org go over https only');
    expect(message).not.to.include('s3cret');
  });

  describe('that polls', () => {
    const poll = (more: object = {}) => ({
      url: `${base}/jobs/{id}`,
      id_at: '/id',
      interval_seconds: 0.1,
      done: { at: '/state', equals: ['done'] },
      failed: { at: '/state', equals: ['failed'] },
      percent_at: '/percent',
      ...more,
    });
    /** Begins a job of that id, and then says one after another. */
    const job = (id: unknown, ...states: (object | number)[]): Reply => {
      return (response, request) => {
        if (request.method === 'POST') return json({ id }, 202)(response, request);
        const state = states.length > 1 ? states.shift() : states[0];
        if (typeof state === 'number') return json({}, state)(response, request);
        json(state)(response, request);
      };
    };
    const begin = (more: object = {}, around: Around = {}) =>
      run({ method: 'POST', url: `${base}/jobs`, poll: poll(more) }, around);

    it('asks until it is done, over answers that fail', async () => {
      reply = job('a/b', { state: 'waiting', percent: 20 }, 503, { state: 'done', n: 1 });
      const { result, progress, checkpoints } = await begin();
      expect(result).to.deep.include({ body: { state: 'done', n: 1 } });
      expect(progress[0]).to.include({ percent: 20 });
      expect(checkpoints).to.deep.equal([{ poll: `${base}/jobs/a%2Fb`, run: 0 }]);
      expect(seen.map(({ url }) => url).slice(1)).to.deep.equal(Array(3).fill('/jobs/a%2Fb'));
    });

    it('asks on where an attempt before it was, and begins nothing again', async () => {
      reply = job('x', { state: 'done' });
      const { result } = await begin({}, { checkpoint: { poll: `${base}/jobs/7` } });
      expect(result).to.deep.include({ body: { state: 'done' } });
      expect(seen.map(({ method, url }) => [method, url])).to.deep.equal([['GET', '/jobs/7']]);
    });

    it('fails with what has failed, and after as many bad answers as it bears', async () => {
      reply = job('x', { state: 'failed', why: 'no codec' });
      const { error } = await begin();
      expect(error).to.be.instanceOf(NonRetryableError);
      expect((error as Error).message).to.include('no codec');
      reply = job('x', 500);
      expect((await begin()).error).to.be.instanceOf(RetryableError);
      expect(seen.slice(2).filter(({ method }) => method === 'GET')).to.have.length(5);
    });

    it('begins anew, under another key, where what was begun has failed or is gone', async () => {
      for (const state of [{ state: 'failed' }, 404, 410]) {
        seen = [];
        reply = job('x', state);
        const first = await begin();
        expect(first.error).to.be.instanceOf(NonRetryableError);
        reply = job('y', { state: 'done' });
        const second = await begin({}, { checkpoint: first.checkpoints.at(-1) });
        expect(second.result).to.deep.include({ body: { state: 'done' } });
        expect(second.checkpoints).to.deep.equal([{ poll: `${base}/jobs/y`, run: 1 }]);
        const begun = seen.filter(({ method }) => method === 'POST');
        expect(begun.map(({ headers }) => headers['idempotency-key'])).to.deep.equal([
          ...['default/task-1', 'default/task-1/1'],
        ]);
      }
      // One that has no answer now may have one later, and is asked on.
      reply = job('x', 500);
      expect((await begin()).checkpoints).to.have.length(1);
    });

    it('believes no gateway that what was begun has failed', async () => {
      const begun = job('x', { state: 'done' });
      let askedCount = 0;
      reply = (response, request) => {
        const isFirst = request.method === 'GET' && askedCount++ === 0;
        (isFirst ? json({ state: 'failed' }, 503) : begun)(response, request);
      };
      const { result, checkpoints } = await begin();
      expect(result).to.deep.include({ body: { state: 'done' } });
      expect(checkpoints).to.deep.equal([{ poll: `${base}/jobs/x`, run: 0 }]);
    });

    it('waits for ten minutes at the most, whatever a server says', async () => {
      const settings = requestSettings.parse({ hosts: [host], addresses: ['127.0.0.1'] });
      const requests = new GuardedRequests({ ...settings, names });
      open.push(requests);
      const handler = requestHandler(settings, requests, []);
      for (const seconds of ['2000000', '999999999']) {
        reply = json({}, 503, { 'retry-after': seconds });
        const over = new AbortController();
        const warned: string[] = [];
        const warn = (text: string) => {
          warned.push(text);
          over.abort();
        };
        const params = { url: base, poll: { url: base, done: { at: '/state', equals: ['done'] } } };
        await runHandler(
          (task, ctx) => handler(task, { ...ctx, log: { info() {}, warn } as never }),
          { params, checkpoint: { poll: base }, signal: over.signal },
        );
        expect(warned).to.deep.equal(['answered 503: {}; asking again in 600 s']);
      }
    });

    it('is led nowhere by an answer', async () => {
      for (const id of ['..', '', null, { a: 1 }, 'x'.repeat(300)]) {
        reply = job(id, { state: 'done' });
        const { error } = await begin();
        expect((error as Error).message, JSON.stringify(id)).to.include('poll.id_at');
      }
      reply = (response, request) =>
        json({ at: 'http://169.254.169.254/x' }, 202)(response, request);
      const { error } = await begin({ url: undefined, id_at: undefined, url_at: '/at' });
      expect((error as Error).message).to.include('a cloud metadata address');
      reply = (response, request) => json({ at: '/here' }, 202)(response, request);
      const changed = await begin(
        { url: undefined, id_at: undefined, url_at: '/at' },
        {
          checkpoint: { poll: 'http://169.254.169.254/x' },
        },
      );
      expect((changed.error as Error).message).to.include('a cloud metadata address');
    });
  });
});
