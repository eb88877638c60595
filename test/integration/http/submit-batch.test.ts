/** Batches over real HTTP: what becomes of each item, and of batches that are too much at once. */
import { expect } from 'chai';
import { HTTP_LIMITS } from '@soda-scheduler/protocol';
import { Unavailable } from '../../../master/application/master-handle.ts';
import { HttpFace } from '../../helpers/http-face.ts';

const SUBMIT = '/scheduler/v2/task/submit';
const BATCH = '/scheduler/v2/task/submit-batch';
const user = { group: 'video' };

function nested(depth: number): unknown {
  let value: unknown = 'leaf';
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

describe('submit in batches over HTTP', () => {
  let face: HttpFace;
  beforeEach(async () => {
    face = await new HttpFace().open();
  });
  afterEach(() => face.close());

  it('answers each item in its place; a bad one spoils no other', async () => {
    const tasks = [
      { task: { id: 'a', type: 't' }, user },
      { task: { id: 'b', type: 7 }, user },
      'nonsense',
      { task: { id: 'c', type: 't', params: nested(40) }, user },
      { task: { id: 'a', type: 't' }, user },
      { task: { id: 'd', type: 't' }, user },
    ];
    const answer = await face.post(BATCH, { tasks });
    expect(answer.status).to.equal(200);
    const { results } = answer.json();
    expect(results.map((result) => result.code)).to.deep.equal([202, 400, 400, 400, 409, 202]);
    expect(results[1]?.task_id).to.equal('b');
    expect(results[1]?.message).to.include('task.type');
    expect(results[2]?.task_id).to.equal(null);
    expect(results[3]?.message).to.include('task.params');
    expect(results[4]?.same_request).to.equal(true);
  });

  it('lets no params be larger than an assign frame can carry', async () => {
    const sized = (id: string, bytes: number) => ({
      task: { id, type: 't', params: 'x'.repeat(bytes - 2) },
      user,
    });
    const max = HTTP_LIMITS.paramsBytesMax;
    const tasks = [sized('a', max), sized('b', max + 1), sized('c', 4 * max)];
    const { results } = (await face.post(BATCH, { tasks })).json();
    expect(results.map((result) => result.code)).to.deep.equal([202, 413, 413]);
    expect(results[1]?.message).to.include(`${max + 1} bytes`);
  });

  it('hands large ones on in parts, and refuses by itself what comes after an outage', async () => {
    const sizes: number[] = [];
    const submit = face.master.submit.bind(face.master);
    face.master.submit = async (submissions) => {
      sizes.push(submissions.length);
      if (sizes.length === 2) throw new Unavailable('Recovering.', 3);
      return submit(submissions);
    };
    const task = { type: 't', params: 'x'.repeat(200 * 1024) };
    const tasks = Array.from({ length: 7 }, (_, i) => ({ task: { id: `t${i}`, ...task }, user }));
    const { results } = (await face.post(BATCH, { tasks })).json();
    expect(sizes).to.deep.equal([3, 3, 1]);
    expect(results.map(({ code }) => code)).to.deep.equal([202, 202, 202, 503, 503, 503, 202]);
    expect(results[3]).to.deep.equal({ task_id: 't3', code: 503, message: 'Recovering.' });
    sizes.splice(0, sizes.length, 0);
    expect((await face.post(BATCH, { tasks })).status, 'nothing was accepted').to.equal(503);
  });

  it('takes a key that reaches for a prototype as the fault of its item', async () => {
    const good = '{"task":{"type":"t"},"user":{"group":"g"}}';
    const bad = '{"task":{"type":"t","params":{"__proto__":{}}},"user":{"group":"g"}}';
    const { results } = (await face.post(BATCH, `{"tasks":[${bad},${good}]}`)).json();
    expect(results.map((result) => result.code)).to.deep.equal([400, 202]);
  });

  it('refuses what is not a list of 1 to 1000 tasks', async () => {
    const item = { task: { type: 't' }, user };
    const repeated = (count: number) => Array.from({ length: count }, () => item);
    for (const body of [{}, { tasks: [] }, { tasks: repeated(1001) }, { tasks: 1 }]) {
      expect((await face.post(BATCH, body)).json().errors[0]?.field).to.equal('tasks');
    }
    const unknown = await face.post(BATCH, { tasks: [item], priority: 1 });
    expect(unknown.json().errors[0]?.field).to.equal('priority');
    expect((await face.post(BATCH, { tasks: repeated(1000) })).status).to.equal(200);
  });

  it('refuses an Idempotency-Key, which could not name one of the tasks', async () => {
    const body = { tasks: [{ task: { type: 't' }, user }] };
    const answer = await face.post(BATCH, body, { 'Idempotency-Key': 'k' });
    expect(answer.json().errors[0]?.field).to.equal('Idempotency-Key');
  });
});

/** They move as much as the master ever holds, which takes a busy machine its time. */
describe('batches that are too much together', function () {
  let face: HttpFace;
  beforeEach(async () => {
    face = await new HttpFace({ timeoutsMs: { headers: 120_000, request: 120_000 } }).open();
  });
  afterEach(() => face.close());

  it('are put off, and taken when there is room', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const submit = face.master.submit.bind(face.master);
    face.master.submit = (submissions) => held.then(() => submit(submissions));
    const bodyOf = (bytes: number) => {
      const frame = '{"tasks":[{"task":{"type":"t","params":"x"},"user":{"group":"g"}}]}';
      return frame + ' '.repeat(bytes - frame.length);
    };
    const large = bodyOf(8 * 1024 * 1024);
    let putOffCount = 0;
    const answers = Array.from({ length: 20 }, async () => {
      const { status, headers } = await face.post(BATCH, large);
      if (status === 503 && ++putOffCount === 4) release();
      return { status, retryAfter: headers['retry-after'] };
    });
    const all = await Promise.all(answers);
    expect(all.filter(({ status }) => status === 200)).to.have.length(16);
    expect(all).to.deep.include({ status: 503, retryAfter: '1' });
    expect((await face.post(BATCH, large)).status).to.equal(200);
  });

  it('leave room for commands and single submits', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const submit = face.master.submit.bind(face.master);
    let batchCount = 0;
    const sixteen = new Promise<void>((resolve) => {
      face.master.submit = (submissions) => {
        if (++batchCount === 16) resolve();
        return held.then(() => submit(submissions));
      };
    });
    const item = '{"task":{"type":"t"},"user":{"group":"g"}}';
    const large = `{"tasks":[${item}]}${' '.repeat(8 * 1024 * 1024 - item.length - 12)}`;
    const batches = Array.from({ length: 16 }, () => face.post(BATCH, large));
    await sixteen;
    face.master.submit = submit;
    expect((await face.post(BATCH, large)).status).to.equal(503);
    expect((await face.post(SUBMIT, item)).status).to.equal(202);
    const cancel = await face.post('/scheduler/v2/task/a/cancel', '{"reason":"enough"}');
    expect(cancel.status).to.equal(200);
    release();
    for (const { status } of await Promise.all(batches)) expect(status).to.equal(200);
  });
});
