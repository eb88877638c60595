/** One command on many tasks, at a whole master: shown first, then done, followed and ended. */
import { expect } from 'chai';
import { errorsOf, masterSuite } from '../../helpers/system/in-process.ts';
import { eventually } from '../../helpers/system/wait.ts';

type Body = Readonly<Record<string, unknown>>;

describe('an operation on many tasks', () => {
  const suite = masterSuite();
  const { call, submit } = suite;
  const bulk = (body: object, headers?: Record<string, string>) =>
    call('POST', '/tasks/bulk', body, headers);

  async function submitMany(count: number, type = 'encode', prefix = type) {
    const user = { group: 'news' };
    const tasks = Array.from({ length: count }, (_, n) => ({
      task: { id: `${prefix}-${n}`, type },
      user,
    }));
    const { body } = await call('POST', '/task/submit-batch', { tasks });
    expect((body['results'] as Body[]).every(({ code }) => code === 202)).to.equal(true);
  }

  async function begin(request: object, headers?: Record<string, string>): Promise<string> {
    const preview = await bulk(request, headers);
    expect(preview.status, JSON.stringify(preview.body)).to.equal(200);
    const begun = await bulk({ ...request, token: preview.body['token'] }, headers);
    expect(begun.status, JSON.stringify(begun.body)).to.equal(202);
    return begun.body['operation_id'] as string;
  }

  async function ended(operationId: string): Promise<Body> {
    return eventually('the operation is over', async () => {
      const { body } = await call('GET', `/operation/${operationId}`);
      return body['ended_at'] === null ? undefined : body;
    });
  }

  const stateOf = async (id: string) => (await call('GET', `/task/${id}`)).body['state'];
  const countsIn = (total: number, done: number, skipped = 0) => {
    return { state: 'done', total, exact: true, done, asked: 0, skipped, failed: 0 };
  };

  it('is previewed, begun by the token of that, once, and accounts for each of its tasks', async () => {
    await submitMany(700);
    await submit({ id: 'other', type: 'mix' });
    const request = { action: 'cancel', filter: { type: 'encode' }, reason: 'wrong bucket' };
    const preview = await bulk(request);
    expect(preview.status).to.equal(200);
    expect(preview.body).to.include({ count: 700, exact: true });
    const [first, ...others] = preview.body['sample'] as Body[];
    expect(others).to.have.length(9);
    expect(first).to.include({
      task_id: 'encode-0',
      type: 'encode',
      state: 'waiting',
      group: 'news',
    });
    expect(Date.parse(preview.body['expires_at'] as string)).to.be.closeTo(
      Date.now() + 600_000,
      60_000,
    );
    expect(await stateOf('encode-0')).to.equal('waiting');

    // What comes after the preview is left alone.
    await submit({ id: 'late', type: 'encode' });
    const { token } = preview.body;
    const begun = await bulk({ ...request, token });
    const again = await bulk({ ...request, token });
    expect([begun.status, again.body]).to.deep.equal([202, begun.body]);
    // As it was given, and not as what means the same to whoever decodes it: that would be another operation.
    for (const alike of [`${token as string}=`, `${token as string}.x`, ` ${token as string}`])
      expect((await bulk({ ...request, token: alike })).status, alike).to.equal(400);
    const id = begun.body['operation_id'] as string;
    const over = await ended(id);
    expect(over).to.include({ ...countsIn(700, 700), action: 'cancel', reason: 'wrong bucket' });
    expect(over).to.deep.include({ filter: { type: 'encode' }, problems: [], by: null });
    for (const gone of ['encode-0', 'encode-699']) expect(await stateOf(gone)).to.equal('canceled');
    for (const left of ['late', 'other']) expect(await stateOf(left)).to.equal('waiting');

    await suite.restart();
    expect((await call('GET', `/operation/${id}`)).body).to.deep.equal(over);
    const { operations, next_cursor } = (await call('GET', '/operations')).body;
    expect([(operations as Body[]).length, next_cursor]).to.deep.equal([1, null]);
    expect((operations as Body[])[0]).to.include(countsIn(700, 700));
    expect((await call('POST', `/operation/${id}/cancel`)).status).to.equal(409);
  });

  it('runs ended tasks again, those of the filter that have ended before its preview', async () => {
    await submitMany(3);
    await submitMany(2, 'encode', 'later');
    await ended(await begin({ action: 'cancel', ids: ['encode-0', 'encode-1', 'encode-2'] }));
    const request = { action: 'retry', filter: { state: 'canceled', type: 'encode' } };
    const { count, token } = (await bulk(request)).body;
    expect(count).to.equal(3);
    await ended(await begin({ action: 'cancel', ids: ['later-0'] }));
    await call('POST', '/task/encode-1/retry');
    const begun = await bulk({ ...request, token });
    const over = await ended(begun.body['operation_id'] as string);
    expect(over).to.include(countsIn(3, 2, 1));
    expect(over['problems']).to.deep.equal([
      { task_id: null, kind: 'skipped', message: 'changed before it was their turn: 1' },
    ]);
    expect(await stateOf('later-0')).to.equal('canceled');
    expect(await stateOf('encode-0')).to.equal('waiting');
  });

  it('changes tasks that are named, and says why it passes over others', async () => {
    await submitMany(2);
    await ended(await begin({ action: 'cancel', ids: ['encode-1'] }));
    const ids = ['encode-0', 'encode-1', 'none', 'none'];
    const request = { action: 'change', ids, change: { priority: 'high' } };
    const over = await ended(await begin(request));
    expect(over)
      .to.include(countsIn(3, 1, 2))
      .and.to.deep.include({ filter: null });
    expect(over['problems']).to.deep.equal([
      {
        task_id: 'encode-1',
        kind: 'skipped',
        message: 'the task is canceled: only a waiting task can be changed',
      },
      { task_id: 'none', kind: 'skipped', message: 'no such task' },
    ]);
    expect((await call('GET', '/task/encode-0')).body['priority']).to.equal(3600);
    const tried = { state: 'canceled', id_prefix: 'encode', min_attempts: 1 };
    expect((await bulk({ action: 'delete', filter: tried })).body).to.include({ count: 0 });
    const gone = await ended(await begin({ action: 'delete', filter: { id_prefix: 'encode' } }));
    expect(gone)
      .to.include(countsIn(1, 1))
      .and.to.deep.include({
        filter: { id_prefix: 'encode' },
      });
    expect((await call('GET', '/task/encode-1')).status).to.equal(404);
  });

  it('takes ten thousand ids, and no more', async () => {
    await submitMany(2);
    const ids = ['encode-0', ...Array.from({ length: 9_999 }, (_, n) => `${n}`.padStart(64, 'x'))];
    const over = await ended(await begin({ action: 'cancel', ids }));
    expect(over).to.include(countsIn(10_000, 1, 9_999));
    expect(over['problems']).to.have.length(100);
    expect(errorsOf(await bulk({ action: 'cancel', ids: [...ids, 'encode-1'] }))).to.deep.equal([
      'ids: expected at most 10000 entries, given a list of 10001 entries',
    ]);
    expect(await stateOf('encode-1')).to.equal('waiting');
  });

  it('leaves alone what has come under one of its ids since its preview', async () => {
    const request = { action: 'cancel', ids: ['again'] };
    const preview = await bulk(request);
    await submit({ id: 'again', type: 'encode' });
    const begun = await bulk({ ...request, token: preview.body['token'] });
    const over = await ended(begun.body['operation_id'] as string);
    expect(over).to.include(countsIn(1, 0, 1));
    const message = 'the task was accepted after the preview';
    expect(over['problems']).to.deep.equal([{ task_id: 'again', kind: 'skipped', message }]);
    expect(await stateOf('again')).to.equal('waiting');
  });

  it('sets tasks aside, and puts them back to their places', async () => {
    await submitMany(2);
    await submit({ id: 'other', type: 'mix' });
    const filter = { type: 'encode' };
    const reason = 'the disk is needed';
    const aside = await begin({ action: 'suspend', filter, reason });
    expect(await ended(aside)).to.include(countsIn(2, 2));
    expect((await call('GET', '/task/encode-0')).body)
      .to.include({ state: 'suspended' })
      .and.to.have.property('suspended')
      .which.includes({ by: null, reason });
    expect((await bulk({ action: 'suspend', filter })).body).to.include({ count: 0 });
    const change = { priority: 'high' };
    await ended(await begin({ action: 'change', filter, change }));
    expect(await ended(await begin({ action: 'resume', all: true }))).to.include(countsIn(2, 2));
    const { body } = await call('GET', '/task/encode-1');
    expect(body).to.include({ state: 'waiting', priority: 3600 });
  });

  it('is refused with what is wrong', async () => {
    const refused = async (body: object) => errorsOf(await bulk(body));
    expect(await refused({ action: 'cancel' })).to.deep.equal([
      'filter: expected one of `filter`, `ids` and `all`',
    ]);
    expect(await refused({ action: 'cancel', filter: {} })).to.deep.equal([
      'filter: it is empty: say `all: true` where all tasks are meant',
    ]);
    expect(await refused({ action: 'explode', all: true })).to.have.length(1);
    expect(await refused({ action: 'cancel', all: false })).to.have.length(1);
    expect(await refused({ action: 'cancel', filter: { colour: 'red' } })).to.have.length(1);
    expect(await refused({ action: 'cancel', filter: { state: 'failed' } })).to.deep.equal([
      'filter: no task that it finds is in a state in which it takes `cancel`',
    ]);
    expect(await refused({ action: 'change', all: true })).to.deep.equal([
      'change: expected what is to change',
    ]);
    const notJustAny = { action: 'change', all: true, change: { params: {}, deadline: null } };
    expect(await refused(notJustAny)).to.deep.equal([
      'change.params: for one task only: it depends on the type',
      'change.deadline: for one task only: it depends on the type',
    ]);
    const past = '2020-01-01T00:00:00Z';
    const never = { deadline: past, uses: [{ limit: 'nothing' }] };
    expect(await refused({ action: 'change', all: true, change: never })).to.deep.equal([
      'change.deadline: expected later than now',
      'change.uses: there is no limit nothing',
    ]);
    const order = { run_at: '2099-01-01T00:00:00Z', deadline: '2098-01-01T00:00:00Z' };
    expect(await refused({ action: 'change', all: true, change: order })).to.deep.equal([
      'change.deadline: expected later than `change.run_at`',
    ]);
    expect(await refused({ action: 'redeliver', all: true })).to.deep.equal([
      'filter.notification: expected it: which callbacks are to be sent again',
    ]);
    const { token } = (await bulk({ action: 'cancel', all: true })).body;
    const other = { action: 'cancel', filter: { type: 'encode' }, token };
    expect((await refused(other)).join()).to.match(/^token: it is of no preview of this very/);
    expect((await call('GET', '/operation/op-1')).status).to.equal(400);
    expect((await call('GET', `/operation/op-${'0'.repeat(24)}`)).status).to.equal(404);
    expect((await call('GET', '/operations?state=over')).status).to.equal(400);
  });

  it('touches, shows and is shown to nobody beyond the scope of a token', async () => {
    const by = async (name: string, scope?: object) => {
      const { body } = await call('POST', '/tokens', { name, role: 'operate', ...scope });
      return { authorization: `Bearer ${body['token'] as string}` };
    };
    await submitMany(2);
    await submitMany(2, 'mix');
    const whole = await by('ann');
    const part = await by('ben', { scope: { types: ['mix'] } });
    const { body } = await bulk({ action: 'cancel', all: true }, part);
    expect(body).to.include({ count: 2 });
    expect((body['sample'] as Body[]).map(({ type }) => type)).to.deep.equal(['mix', 'mix']);
    const stolen = { action: 'cancel', all: true, token: body['token'] };
    expect(errorsOf(await bulk(stolen, whole))).to.have.length(1);
    const named = await begin({ action: 'cancel', ids: ['encode-0', 'mix-0'] }, part);
    const over = await ended(named);
    expect(over).to.include({ ...countsIn(2, 1, 1), by: 'ben' });
    expect(over['problems']).to.deep.equal([
      { task_id: 'encode-0', kind: 'skipped', message: 'no such task' },
    ]);
    const change = { user: { group: 'film' } };
    const { body: moved } = await call('POST', '/tokens', {
      name: 'cleo',
      role: 'operate',
      scope: { groups: ['news'] },
    });
    const cleo = { authorization: `Bearer ${moved['token'] as string}` };
    const byCleo = await begin({ action: 'change', ids: ['mix-1'], change }, cleo);
    const away = await ended(byCleo);
    expect(away).to.include(countsIn(1, 0, 1));
    const byAnn = await begin({ action: 'cancel', all: true }, whole);
    await ended(byAnn);
    expect(await stateOf('encode-0')).to.equal('canceled');
    const seenBy = async (headers: Record<string, string>) =>
      ((await call('GET', '/operations', undefined, headers)).body['operations'] as Body[]).map(
        (one) => one['operation_id'],
      );
    expect(await seenBy(whole)).to.deep.equal([byAnn, byCleo, named]);
    expect(await seenBy(part)).to.deep.equal([named]);
    expect((await call('GET', `/operation/${byAnn}`, undefined, part)).status).to.equal(404);
    expect((await call('POST', `/operation/${byAnn}/pause`, {}, part)).status).to.equal(404);
  });
});
