/** Finding tasks over HTTP, on a whole master: filters, orders, counts and errors, and what scopes leave of them. */
import { expect } from 'chai';
import { HttpFace } from '../../helpers/http-face.ts';
import { RawExecutor } from '../../helpers/raw-executor.ts';
import { errorsOf, masterSuite } from '../../helpers/system/in-process.ts';

describe('tasks are found', () => {
  const suite = masterSuite();
  const { call } = suite;

  const submit = async (id: string, task: object = {}, user: object = {}) => {
    const of = { group: 'news', ...user };
    const { status } = await call('POST', '/task/submit', {
      task: { id, type: 'encode', ...task },
      user: of,
    });
    expect(status).to.equal(202);
  };
  const ids = async (query: string, token?: string): Promise<string> => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const tasks = await suite.listTasks(`/tasks?${query}`, headers);
    return tasks.map(({ task_id }) => task_id).join(' ');
  };
  const refused = async (path: string) => errorsOf(await call('GET', path)).join('; ');

  /** Each of these has failed, by its own message; all of them were given to `x-1`. */
  async function fail(messages: Readonly<Record<string, string>>): Promise<void> {
    const port = Number(new URL(suite.url()).port);
    const types = ['encode'];
    const executor = await RawExecutor.join(port, { executor_id: 'x-1', types });
    let seq = 0;
    for (let left = Object.keys(messages).length; left > 0; left--) {
      const { task } = await executor.next('assign');
      const about = { ack: 0, task_id: task.id, attempt: task.attempt };
      const error = { message: messages[task.id] ?? 'unexpected', retryable: false };
      executor.send({ type: 'accept', seq: ++seq, ...about });
      executor.send({ type: 'result', seq: ++seq, ...about, outcome: 'failed', error });
    }
    await executor.settled();
    executor.socket.close();
    await executor.closed;
  }

  it('by each filter, and by several together', async () => {
    await submit('a-1', { labels: ['gold'], requires: ['gpu'] }, { project: 'p', env: 'prod' });
    await submit('a-2', {}, { user: 'ann' });
    await submit('b-1', { type: 'pay' }, { group: 'cash' });
    const found = {
      'state=waiting': 'b-1 a-2 a-1',
      'type=pay': 'b-1',
      'group=news': 'a-2 a-1',
      'project=p': 'a-1',
      'env=prod': 'a-1',
      'user=ann': 'a-2',
      'label=gold': 'a-1',
      'requires=gpu': 'a-1',
      'id_prefix=a-': 'a-2 a-1',
      'executor_id=x-1': '',
      'min_attempts=1': '',
      'job=a': '',
      'error=x': '',
      'failure_reason=deadline': '',
      'from=2000-01-01T00:00:00Z': 'b-1 a-2 a-1',
      'to=2000-01-01T00:00:00Z': '',
      'to=32503680000000': 'b-1 a-2 a-1',
      'id_prefix=a-&user=ann': 'a-2',
    };
    for (const [query, expected] of Object.entries(found)) {
      expect(await ids(query), query).to.equal(expected);
    }
    await fail({ 'a-2': 'no moov atom in 17.mov' });
    const failed = [
      'executor_id=x-1',
      'min_attempts=1',
      'error=moov+atom',
      'failure_reason=non_retryable',
    ];
    for (const query of failed) expect(await ids(query), query).to.equal('a-2');
    expect(await ids('from=2000-01-01T00:00:00Z&state=failed')).to.equal('a-2');
    expect(await ids('from=32503680000000')).to.equal('');
  });

  it('by nothing that there is not, and says what is wrong', async () => {
    expect(await refused('/tasks?jobs=nightly')).to.match(/^jobs: not a known field/);
    const undecodable = 'expected percent-encoded UTF-8, with %25 for a %';
    expect(await refused('/tasks?state=failed&type=%zz')).to.equal(`type: ${undecodable}`);
    expect(await refused('/tasks?group=%ff')).to.equal(`group: ${undecodable}`);
    expect(await refused('/tasks?%zz')).to.equal(`query: ${undecodable}`);
    expect(await refused('/tasks?from=2026-01-02&to=x')).to.match(/^from: .*; to: /);
    expect(await refused('/tasks?from=2&to=2')).to.equal('to: expected later than `from`');
    expect(await refused('/tasks?min_attempts=0&id_prefix=a/b')).to.match(
      /id_prefix: .*; min_attempts: /,
    );
    expect(await refused('/tasks?failure_reason=bad')).to.match(
      /^failure_reason: expected one of attempts_exh/,
    );
    expect(await refused('/tasks?sort=order&state=failed&notification=pending')).to.equal(
      'state: expected waiting with `sort=order`, which lists tasks that wait; ' +
        'notification: expected none with `sort=order`, which lists tasks that wait',
    );
    const forged = (text: string) => Buffer.from(text).toString('base64url');
    for (const [query, cursor] of [
      ['', 'after:1:1'],
      ['', 'before:-1'],
      ['', `before:${'9'.repeat(16)}`],
      ['', 'before:1 OR 1=1'],
      ['sort=order&', 'before:1'],
      ['sort=order&', 'after:1'],
      ['sort=order&', 'after:1:x'],
    ]) {
      const path = `/tasks?${query}cursor=${forged(cursor ?? '')}`;
      expect(await refused(path), cursor).to.equal('cursor: expected the `next_cursor` of a page');
    }
    expect(await refused(`/tasks/errors?cursor=${forged('after:1:1')}`)).to.match(/^cursor: /);
    expect(await refused('/tasks/errors?state=failed')).to.match(/^state: not a known field/);
  });

  it('in the order of those that wait, page by page', async () => {
    await submit('a', {}, { project: 'p' });
    await submit('b', { type: 'pay', priority: 'high' });
    await submit('c', { labels: ['gold'] });
    await submit('d', { priority: 'urgent' }, { group: 'cash', project: 'p' });
    expect(await ids('sort=order')).to.equal('d b a c');
    expect(await ids('sort=order&state=waiting&type=encode')).to.equal('d a c');
    expect(await ids('sort=order&group=news')).to.equal('b a c');
    expect(await ids('sort=order&label=gold')).to.equal('c');
    expect(await ids('sort=order&project=p')).to.equal('d a');
    const first = (await call('GET', '/tasks?sort=order&limit=3')).body;
    expect(first['tasks']).to.have.length(3);
    expect(await ids('sort=order&limit=3')).to.equal('d b a c');
  });

  it('in order only where few enough combinations of type, labels and group fit', async () => {
    const item = (n: number) => ({ task: { type: 'encode' }, user: { group: `g-${n}` } });
    const tasks = Array.from({ length: 1000 }, (_, n) => item(n));
    expect((await call('POST', '/task/submit-batch', { tasks })).status).to.equal(200);
    expect((await call('GET', '/tasks?sort=order&limit=1')).status).to.equal(200);
    await submit('a', { type: 'pay' });
    expect(await refused('/tasks?sort=order')).to.equal(
      'sort: 1000 combinations of type, requires, labels and group at most are listed in order: ' +
        'name a type or a group',
    );
    expect(await ids('sort=order&type=pay')).to.equal('a');
  });

  it('as numbers, by what counters know', async () => {
    const count = async (query = '') => (await call('GET', `/tasks/count?${query}`)).body;
    await submit('a');
    await submit('b', {}, { group: 'cash' });
    await submit('c', { type: 'pay' });
    const states = { waiting: 3, held: 0, suspended: 0, offered: 0, running: 0 };
    expect(await count())
      .to.deep.include({ count: 3, exact: true })
      .and.deep.include({ states });
    const one = { count: 1, exact: true, states: { waiting: 1 } };
    expect(await count('state=waiting&type=encode&group=cash')).to.deep.equal(one);
    const port = Number(new URL(suite.url()).port);
    const executor = await RawExecutor.join(port, { types: ['pay'] });
    const { task } = await executor.next('assign');
    expect((await count('type=pay'))['states']).to.include({ waiting: 0, offered: 1 });
    executor.send({ type: 'accept', seq: 1, ack: 0, task_id: task.id, attempt: 1 });
    await executor.settled();
    expect((await count('group=news'))['states']).to.include({ waiting: 1, running: 1 });
    executor.socket.close();
    await fail({ a: 'x', b: 'x' });
    expect(await count('state=failed')).to.deep.equal({
      count: 2,
      exact: true,
      states: { failed: 2 },
    });
    expect(await refused('/tasks/count?label=gold')).to.equal(
      'label: not known to counters: tasks are counted by state, type and group; GET /tasks lists',
    );
    expect(await refused('/tasks/count?state=failed&type=pay')).to.equal(
      'type: not known to counters: ended tasks are counted by state alone; GET /tasks lists',
    );
  });

  it('by why they failed, alike errors as one', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await submit(id);
    await fail({ a: 'frame 17 of 0x1f is broken', b: 'frame 9 of 0xa0 is broken', c: 'no disk' });
    const { body } = await call('GET', '/tasks/errors?type=encode');
    expect(body).to.deep.equal({
      errors: [
        ...[{ error: 'frame # of # is broken', count: 2, sample: ['b', 'a'], search: 'is broken' }],
        { error: 'no disk', count: 1, sample: ['c'], search: 'no disk' },
      ],
      looked_at: 3,
      next_cursor: null,
    });
    const none = { errors: [], looked_at: 0, next_cursor: null };
    for (const query of ['type=pay', 'group=cash', 'from=32503680000000', 'to=1']) {
      expect((await call('GET', `/tasks/errors?${query}`)).body, query).to.deep.equal(none);
    }
  });

  it('by what all messages of one kind of error have, or by nothing', async () => {
    const messages = {
      ...{ a: 'no\n  such file: 17', b: 'no such\tfile: 9', c: '12345', d: '42: 17' },
      ...{ e: 'the "disk" C:\\x is full', f: 'message 12' },
    };
    for (const id of Object.keys(messages)) await submit(id);
    await fail(messages);
    const { body } = await call('GET', '/tasks/errors');
    const found: Record<string, unknown> = {};
    for (const { error, search } of body['errors'] as { error: string; search: string | null }[]) {
      found[error] = search;
      if (search === null) continue;
      const { tasks } = (await call('GET', `/tasks?error=${encodeURIComponent(search)}`)).body as {
        tasks: { task_id: string }[];
      };
      found[error] = tasks.map(({ task_id: id }) => id);
    }
    expect(found).to.deep.equal({
      'no such file: #': ['b', 'a'],
      '#': null,
      '#: #': null,
      'the "disk" # is full': ['e'],
      'message #': null,
    });
  });

  it('within the scope of a token only', async () => {
    const scope = { groups: ['cash'] };
    const made = await call('POST', '/tokens', { name: 'ann', role: 'read', scope });
    const token = made.body['token'] as string;
    const get = (path: string) =>
      call('GET', path, undefined, { authorization: `Bearer ${token}` });
    await submit('a', { priority: 'high' });
    await submit('b', {}, { group: 'cash' });
    await submit('c', {}, { group: 'cash' });
    expect(await ids('sort=order', token)).to.equal('b c');
    expect(await ids('id_prefix=a', token)).to.equal('');
    expect(await ids('sort=order&group=news', token)).to.equal('');
    expect((await get('/tasks/count')).body).to.include({ count: 2 });
    expect((await get('/tasks/count?group=news')).body).to.include({ count: 0 });
    const { status, body } = await get('/tasks/count?state=failed');
    expect([status, body['detail']]).to.deep.equal([
      403,
      'Ended tasks are counted in all, and the scope of the token ann has only some groups.',
    ]);
    await fail({ a: 'of others', b: 'x', c: 'x' });
    expect((await get('/tasks/errors')).body['errors']).to.deep.equal([
      { error: 'x', count: 2, sample: ['c', 'b'], search: null },
    ]);
    const history = async (query: string) => {
      const { body } = await get(`/history?${query}`);
      return (body['tasks'] as { task_id: string }[]).map(({ task_id }) => task_id).join(' ');
    };
    expect(await history('state=failed')).to.equal('b c');
    expect(await history('group=news')).to.equal('');
  });

  it('as a number that is not exact while the store does not answer: some may never have been stored', async () => {
    const face = await new HttpFace().open();
    try {
      face.master.status = 'recovering';
      const answer = await face.get('/scheduler/v2/tasks/count');
      expect(answer.json()).to.include({ count: 0, exact: false });
    } finally {
      await face.close();
    }
  });
});
