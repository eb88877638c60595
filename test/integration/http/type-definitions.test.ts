/** The routes about types: schemas of params, long definitions, and trials. */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { errorsOf, masterSuite } from '../../helpers/system/in-process.ts';

describe('definitions of types', () => {
  const { call, restart, submit, getType: get, putType: put } = masterSuite();

  it('refuse params that do not fit their schema, alone and in batches', async () => {
    const params_schema = {
      type: 'object',
      required: ['input'],
      properties: { input: { type: 'string' }, tracks: { items: { type: 'integer' } } },
    };
    await put('video', { params_schema });
    await restart();
    expect((await submit({ type: 'video', params: { input: 'a' } })).status).to.equal(202);
    const refused = await submit({ id: 'x', type: 'video', params: { tracks: [1, 'two'] } });
    expect(refused.status).to.equal(400);
    expect(refused.body['task_id']).to.equal('x');
    expect(errorsOf(refused)).to.deep.equal([
      'task.params.input: required',
      'task.params.tracks[1]: must be integer',
    ]);
    const user = { group: 'news' };
    const batch = await call('POST', '/task/submit-batch', {
      tasks: [
        { task: { id: '1', type: 'video' }, user },
        { task: { id: '2', type: 'video', params: { input: 'b' } }, user },
        { task: { id: '3', type: 'other' }, user },
      ],
    });
    const results = batch.body['results'] as { code: number; message?: string }[];
    expect(results.map(({ code }) => code)).to.deep.equal([400, 202, 202]);
    expect(results[0]?.message).to.equal('task.params: must be object');
    // Another definition holds from the next submit on.
    await put('video', { params_schema: { type: 'null' } });
    expect((await submit({ type: 'video' })).status).to.equal(202);
    expect((await call('GET', '/types')).body['types']).to.not.have.nested.property(
      '[0].params_schema',
    );
    expect((await get('video')).body['params_schema']).to.deep.equal({ type: 'null' });
  });

  it('refuse names for a video that disguise themselves', async () => {
    const file = new URL('../../../examples/ffmpeg/ladder/type.yaml', import.meta.url);
    const { type, ...definition } = parse(await readFile(file, 'utf8')) as { type: string };
    expect((await put(type, definition)).status).to.equal(201);
    const ladder = (params: object) => submit({ type, params: { input: 'a.mp4', ...params } });
    expect((await ladder({ output: 'vod/a' })).status).to.equal(202);
    const refused = await ladder({ input: { resolve: 'https://h/\n' }, output: '\u202ea' });
    expect(refused.status).to.equal(400);
    expect(
      errorsOf(refused).map((error) => error.split(': must match pattern ')[0]),
    ).to.have.members(['task.params.input.resolve', 'task.params.output']);
  });

  it('know a repetition whatever their schema has become since', async () => {
    const task = { id: 'x', type: 'video', params: [1] };
    const keyed = (params: unknown) =>
      call(
        'POST',
        '/task/submit',
        { task: { type: 'video', params }, user },
        { 'idempotency-key': 'k' },
      );
    const user = { group: 'news' };
    expect((await submit(task)).status).to.equal(202);
    const first = await keyed([1]);
    await put('video', { params_schema: { type: 'object' } });
    expect((await submit(task)).body).to.include({ code: 409, same_request: true });
    expect((await keyed([1])).body).to.deep.equal(first.body);
    expect((await keyed([2])).status).to.equal(422);
    const other = await submit({ ...task, id: 'y' });
    expect(other.status).to.equal(400);
    expect(other.body['task_id']).to.equal('y');
    expect(errorsOf(other)).to.deep.equal(['task.params: must be object']);
    expect((await submit({ ...task, id: undefined })).status).to.equal(400);
    const tasks = ['x', 'z'].map((id) => ({ task: { ...task, id }, user }));
    const { body } = await call('POST', '/task/submit-batch', { tasks });
    const results = body['results'] as { code: number; message?: string }[];
    expect(results.map(({ code }) => code)).to.deep.equal([409, 400]);
    expect(results[1]?.message).to.equal('task.params: must be object');
  });

  it('are listed on shorter pages where their definitions are long', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `t${index + 10}`);
    for (const name of names) {
      await put(name, { params_schema: { description: 'x'.repeat(60_000) } });
    }
    const pages: string[][] = [];
    for (let cursor: unknown = 'a'; cursor !== null; ) {
      const { body } = await call('GET', `/types?limit=200&cursor=${cursor as string}`);
      pages.push((body['types'] as { type: string }[]).map(({ type }) => type));
      cursor = body['next_cursor'];
    }
    expect(pages.length).to.be.above(1);
    expect(pages.flat()).to.deep.equal(names);
  });

  it('are refused on trial as they would be in earnest, and are not changed by it', async () => {
    const { body, etag } = await put('video', { owner: 'media' });
    const version = Number(body['version']);
    const tried = (at: number) =>
      call('PUT', '/type/video?dry_run=true', { owner: 'them' }, { 'if-match': `"${at}"` });
    expect((await tried(version + 1)).status).to.equal(412);
    const would = await tried(version);
    expect(would).to.deep.include({ status: 200, etag });
    expect(would.body).to.include({ owner: 'them', version });
    expect((await get('video')).body).to.include({ owner: 'media', version });
    const unseen = await call('PUT', '/type/audio?dry_run=true', {}, { 'if-match': '"1"' });
    expect(unseen.status).to.equal(412);
    expect((await call('PUT', '/type/audio?dry_run=true', {})).status).to.equal(200);
    expect((await get('audio')).status).to.equal(404);
  });
});
