/** The routes about types, at a whole master: what is set, how it is refused, and what is seen. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { loadConfig, runMaster } from '@soda-scheduler/master';

interface Answer {
  readonly status: number;
  readonly etag: string | null;
  readonly body: Record<string, unknown>;
}

describe('types', () => {
  let folder: string;
  let master: Awaited<ReturnType<typeof runMaster>>;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'soda-types-'));
    await start();
  });

  async function start(): Promise<void> {
    const outcome = loadConfig({ env: {}, flags: { port: '0', dataDir: folder } });
    if (!('config' in outcome)) throw new Error(outcome.problems.join('; '));
    master = await runMaster(outcome.config, { logTo: new PassThrough().resume() });
  }

  async function restart(): Promise<void> {
    await master.stop();
    await start();
  }

  afterEach(async () => {
    await master.stop();
    await rm(folder, { recursive: true });
  });

  async function call(
    method: string,
    route: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const answer = await fetch(`${master.url}/scheduler/v2${route}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { status } = answer;
    return {
      status,
      etag: answer.headers.get('etag'),
      body: (await answer.json()) as Answer['body'],
    };
  }

  const put = (type: string, body: unknown, version?: number) =>
    call('PUT', `/type/${type}`, body, version === undefined ? {} : { 'if-match': `"${version}"` });
  const get = (type: string) => call('GET', `/type/${type}`);
  const submit = (task: object) => call('POST', '/task/submit', { task, user: { group: 'news' } });
  /** `field: message` of what was refused. */
  const errorsOf = ({ body }: Answer) =>
    (body['errors'] as { field: string; message: string }[]).map(
      ({ field, message }) => `${field}: ${message}`,
    );

  it('are defined, shown, changed at the version that was seen, and forgotten', async () => {
    const made = await put('video', { description: 'cuts videos', owner: 'media' });
    expect(made).to.include({ status: 201, etag: '"1"' });
    expect(made.body).to.deep.equal({
      type: 'video',
      registered: true,
      version: 1,
      description: 'cuts videos',
      owner: 'media',
      paused: null,
      overrides: [],
      counts: { waiting: 0, running: 0 },
      executors: 0,
    });
    expect(await put('video', { owner: 'media', description: 'cuts videos' }, 1)).to.include({
      status: 200,
      etag: '"1"',
    });
    expect(await put('video', { description: 'cuts' }, 1)).to.include({ status: 200, etag: '"2"' });
    const late = await put('video', {}, 1);
    expect(late.status).to.equal(412);
    expect(late.body['detail']).to.equal('the type is at version 2, not 1');
    await restart();
    const kept = await get('video');
    expect(kept).to.include({ status: 200, etag: '"2"' });
    expect(kept.body).to.include({ description: 'cuts' }).and.not.have.property('owner');
    expect((await call('DELETE', '/type/video', undefined, { 'if-match': '"1"' })).status).to.equal(
      412,
    );
    expect((await call('DELETE', '/type/video')).body).to.deep.equal({ type: 'video', code: 200 });
    expect((await get('video')).status).to.equal(404);
    expect((await call('DELETE', '/type/video')).status).to.equal(404);
  });

  it('are listed by name and by pages, registered or only seen', async () => {
    await put('b', { description: 'two' });
    await put('d', {});
    await submit({ id: '1', type: 'c' });
    await submit({ id: '2', type: 'a' });
    await submit({ id: '3', type: 'a' });
    const first = await call('GET', '/types?limit=3');
    const types = first.body['types'] as Record<string, unknown>[];
    expect(types.map(({ type, registered, counts }) => [type, registered, counts])).to.deep.equal([
      ['a', false, { waiting: 2, running: 0 }],
      ['b', true, { waiting: 0, running: 0 }],
      ['c', false, { waiting: 1, running: 0 }],
    ]);
    expect(first.body['next_cursor']).to.equal('c');
    const rest = await call('GET', '/types?limit=3&cursor=c');
    expect(rest.body['next_cursor']).to.equal(null);
    expect((rest.body['types'] as { type: string }[]).map(({ type }) => type)).to.deep.equal(['d']);
    expect((await get('a')).body).to.include({ registered: false, version: 0 });
  });

  it('are of one namespace', async () => {
    await call('PUT', '/namespace/other');
    expect((await call('PUT', '/ns/other/type/video', { owner: 'them' })).status).to.equal(201);
    expect((await get('video')).status).to.equal(404);
    expect((await call('GET', '/ns/other/type/video')).body['owner']).to.equal('them');
  });

  it('are not forgotten while tasks of them wait, unless that is forced', async () => {
    await put('video', {});
    await submit({ id: '1', type: 'video' });
    const refused = await call('DELETE', '/type/video');
    expect(refused.status).to.equal(409);
    expect(refused.body['detail']).to.equal(
      'tasks of it wait or run (1): with force=true they go on without its settings',
    );
    expect((await call('DELETE', '/type/video?force=maybe')).status).to.equal(400);
    expect((await call('DELETE', '/type/video?force=true')).status).to.equal(200);
    expect((await get('video')).body).to.include({ registered: false });
  });

  it('are paused and resumed, registered or not', async () => {
    const paused = await call('POST', '/type/video/pause', {
      reason: 'storage is full',
      until: '2099-01-01T00:00:00Z',
    });
    expect(paused.status).to.equal(200);
    expect(paused.body['paused']).to.include({
      reason: 'storage is full',
      until: '2099-01-01T00:00:00.000Z',
      by: null,
    });
    await restart();
    expect((await get('video')).body['paused']).to.deep.equal(paused.body['paused']);
    const past = await call('POST', '/type/video/pause', { until: 1 });
    expect(errorsOf(past)).to.deep.equal(['until: expected an instant that is yet to come']);
    expect((await call('POST', '/type/video/resume')).body['paused']).to.equal(null);
    expect((await get('video')).status).to.equal(404);
  });

  it('know the names of the source', async () => {
    const body = { schedule_limit: 100, schedule_interval: 2 };
    expect((await put('video', body)).body['pull']).to.deep.equal({ limit: 100, interval: 2 });
  });

  it('say what is wrong, with the path of each field', async () => {
    const cases: [object, string[]][] = [
      [{ type: 'audio' }, ['type: differs from the one in the path']],
      [
        { schedule_limit: 1, pull: { limit: 2 }, schedule_interval: 3 },
        ['schedule_limit: differs from pull.limit'],
      ],
      [{ pull: { limit: 0 } }, ['pull.limit: expected a number of at least 1, given 0']],
      [{ group_weights: { news: 2 } }, ['group_weights: needs fair_by: "group"']],
      [{ ownr: 'x' }, ['ownr: not a known field; did you mean owner?']],
    ];
    for (const [body, errors] of cases) {
      const answer = await put('video', body);
      expect(answer.status).to.equal(400);
      expect(errorsOf(answer)).to.deep.equal(errors);
    }
    const noEtag = await call('PUT', '/type/video', {}, { 'if-match': '*' });
    expect(errorsOf(noEtag)).to.deep.equal(['If-Match: expected one ETag of a type, as "3"']);
    const long = await put('video', { params_schema: { description: 'x'.repeat(70_000) } });
    expect(long.status).to.equal(413);
    expect((await call('PUT', '/type/a%20b', {})).status).to.equal(400);
    expect((await get('video')).status).to.equal(404);
  });

  it('refuse what nothing honours', async () => {
    for (const body of [{ capacity: 3 }, { hold: 60 }, { preemptible: true }]) {
      const [field] = Object.keys(body);
      expect(errorsOf(await put('video', body))).to.deep.equal([`${field}: not built yet`]);
    }
    const layer = await call('PUT', '/type/video/override', { reason: 'too hot' });
    expect(errorsOf(layer)).to.deep.equal(['body: expected `limits`, `route` or both']);
  });
});
