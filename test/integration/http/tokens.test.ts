/** Named tokens over HTTP, on a whole master: made, used, shown, revoked, and what their scopes leave out. */
import { expect } from 'chai';
import { RawExecutor } from '../../helpers/raw-executor.ts';
import { errorsOf, masterSuite } from '../../helpers/system/in-process.ts';

describe('tokens', () => {
  const suite = masterSuite();
  const { call } = suite;
  const by = (token: string) => ({ authorization: `Bearer ${token}` });

  async function make(body: object): Promise<string> {
    const { status, body: made } = await call('POST', '/tokens', body);
    expect(status, JSON.stringify(made)).to.equal(201);
    return made['token'] as string;
  }

  async function submitAs(token: string, id: string, group = 'news', type = 'encode', path = '') {
    const task = { task: { id, type }, user: { group } };
    return call('POST', `${path}/task/submit`, task, by(token));
  }

  async function idsSeenBy(token: string, query = ''): Promise<unknown[]> {
    return (await suite.listTasks(`/tasks${query}`, by(token))).map(({ task_id }) => task_id);
  }

  describe('named tokens', () => {
    it('are told once, say whose they are, and open what their role does until they are revoked', async () => {
      const { status, body } = await call('POST', '/tokens', { name: 'ann', role: 'read' });
      expect(status).to.equal(201);
      const { token, created_at, ...made } = body;
      expect(token).to.match(/^soda_[A-Za-z0-9_-]{43}$/);
      const shown = {
        name: 'ann',
        role: 'read',
        scope: null,
        expires_at: null,
        created_by: null,
        last_used_at: null,
      };
      expect(made).to.deep.equal(shown);
      const listed = (await call('GET', '/tokens')).body;
      expect(listed).to.deep.equal({ tokens: [{ ...shown, created_at }], next_cursor: null });

      const ann = by(token as string);
      const me = { name: 'ann', role: 'read', scope: null, expires_at: null };
      expect((await call('GET', '/whoami', undefined, ann)).body).to.deep.equal(me);
      expect((await call('GET', '/whoami')).body).to.include({ name: null, role: 'admin' });
      expect((await call('GET', '/tasks', undefined, ann)).status).to.equal(200);
      expect((await submitAs(token as string, 'a')).status).to.equal(403);
      const [used] = (await call('GET', '/tokens')).body['tokens'] as { last_used_at: string }[];
      expect(Date.parse(used?.last_used_at ?? '')).to.be.closeTo(Date.now(), 60_000);

      await suite.restart();
      expect((await call('GET', '/whoami', undefined, ann)).body).to.deep.equal(me);
      expect((await call('DELETE', '/token/ann')).body).to.deep.equal({ name: 'ann', code: 200 });
      expect((await call('GET', '/whoami', undefined, ann)).status).to.equal(401);
      expect((await call('DELETE', '/token/ann')).status).to.equal(404);
      await suite.restart();
      expect((await call('GET', '/whoami', undefined, ann)).status).to.equal(401);
    });

    it('are refused where the request is wrong, by field', async () => {
      const refused = async (body: object) => errorsOf(await call('POST', '/tokens', body));
      expect(await refused({ name: 'config:admin', role: 'boss' })).to.deep.equal([
        'name: expected 1 to 64 characters of A-Z a-z 0-9 _ . -',
        'role: expected read, submit, operate, admin or executor',
      ]);
      const ann = { name: 'ann', role: 'read' };
      expect(await refused({ ...ann, expires_at: '2020-01-01T00:00:00Z' })).to.deep.equal([
        'expires_at: expected an instant that is yet to come',
      ]);
      expect(await refused({ ...ann, scope: { users: ['x'] } })).to.deep.equal([
        'scope.users: not a known field',
      ]);
      const many = Array.from({ length: 101 }, (_, n) => `g-${n}`);
      expect(await refused({ ...ann, scope: { groups: many } })).to.have.length(1);
      expect(await refused({ ...ann, scope: { groups: [] } })).to.have.length(1);
      expect(await refused({ ...ann, role: 'executor', scope: { groups: ['g'] } })).to.deep.equal([
        'scope.groups: not for the role executor: what it is given to run is not told apart by group',
      ]);
      await make(ann);
      expect((await call('POST', '/tokens', ann)).status).to.equal(409);
    });

    it('come page by page, by name', async () => {
      for (const name of ['c', 'a', 'b']) await make({ name, role: 'read' });
      const page = async (query: string) => {
        const { tokens, next_cursor } = (await call('GET', `/tokens${query}`)).body;
        return [(tokens as { name: string }[]).map(({ name }) => name), next_cursor];
      };
      expect(await page('?limit=2')).to.deep.equal([['a', 'b'], 'b']);
      expect(await page('?limit=2&cursor=b')).to.deep.equal([['c'], null]);
    });

    it('stand where somebody has paused, drained or overridden something', async () => {
      const operator = by(await make({ name: 'ann', role: 'operate' }));
      const admin = by(await make({ name: 'root', role: 'admin' }));
      const executor = await RawExecutor.join(Number(new URL(suite.url()).port), {
        executor_id: 'gpu-1',
      });
      await call('POST', '/type/encode/pause', {}, operator);
      const override = { limits: { max_running: 1 }, reason: 'hot' };
      await call('PUT', '/type/encode/override', override, operator);
      expect((await suite.getType('encode')).body).to.deep.include({
        paused: {
          ...((await suite.getType('encode')).body['paused'] as object),
          by: 'ann',
        },
      });
      const { overrides } = (await suite.getType('encode')).body;
      expect((overrides as object[])[0]).to.include({ by: 'ann' });
      await call('POST', '/executor/gpu-1/drain', {}, operator);
      await call('PATCH', '/executor/gpu-1', { labels: ['gold'] }, admin);
      const { executors } = (await call('GET', '/executors', undefined, operator)).body;
      const [one] = executors as { drained_by: string; override: { by: string } }[];
      expect([one?.drained_by, one?.override.by]).to.deep.equal(['ann', 'root']);
      expect((await call('PUT', '/namespace/default', { paused: {} }, operator)).status).to.equal(
        403,
      );
      const paused = await call('PUT', '/namespace/default', { paused: {} }, admin);
      expect(paused.body['paused']).to.include({ by: 'root' });
      await suite.restart();
      const after = (await call('GET', '/namespace/default')).body;
      expect(after['paused']).to.include({ by: 'root' });
      executor.socket.terminate();
    });

    it('send an executor away as soon as they are revoked or have expired', async () => {
      const port = Number(new URL(suite.url()).port);
      const expires_at = Date.now() + 1_500;
      const short = await make({ name: 'short', role: 'executor', expires_at });
      const long = await make({ name: 'long', role: 'executor' });
      const fields = (n: number) => ({ executor_id: `e${n}`, incarnation: `i${n}` });
      const expiring = await RawExecutor.join(port, fields(1), 'default', short);
      const revoked = await RawExecutor.join(port, fields(2), 'default', long);
      await call('DELETE', '/token/long');
      const code = 4401;
      expect(await revoked.closed).to.deep.equal({ code, reason: 'its token was revoked' });
      expect(await expiring.closed).to.deep.equal({ code, reason: 'its token has expired' });
      expect(Date.now() - expires_at).to.be.within(0, 5_000);
      const late = await call('GET', '/whoami', undefined, by(short));
      expect([late.status, late.body['reason'], late.body['detail']]).to.deep.equal([
        401,
        'token_expired',
        `The token short has expired at ${new Date(expires_at).toISOString()}. A valid bearer token is required.`,
      ]);
      const unknown = await call('GET', '/whoami', undefined, by(long));
      expect(unknown.body, 'a revoked one is not told apart').not.to.have.property('reason');
    });
  });

  describe('the scope of a token', () => {
    it('leaves tasks of other groups out of all that it shows, as if they were not there', async () => {
      const news = await make({ name: 'news', role: 'submit', scope: { groups: ['news'] } });
      expect((await submitAs(news, 'n-1')).status).to.equal(202);
      await call('POST', '/task/submit', {
        task: { id: 's-1', type: 'encode' },
        user: { group: 'sport' },
      });
      expect(await idsSeenBy(news)).to.deep.equal(['n-1']);
      expect(await idsSeenBy(news, '?group=sport')).to.deep.equal([]);
      const of = (method: string, path: string, body?: object) =>
        call(method, path, body, by(news));
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['GET', '/attempt/1', undefined],
        ['POST', '/cancel', {}],
        ['PATCH', '', { priority: 1 }],
        ['POST', '/retry', undefined],
        ['POST', '/redeliver', undefined],
        ['POST', '/copy', {}],
        ['POST', '/suspend', {}],
        ['POST', '/resume', undefined],
        ['DELETE', '', undefined],
      ] as const) {
        const hidden = await of(method, `/task/s-1${path}`, body);
        const unknown = await of(method, `/task/s-2${path}`, body);
        expect(hidden.status, `${method} ${path}`).to.equal(404);
        expect({ ...hidden.body, task_id: '' }).to.deep.equal({ ...unknown.body, task_id: '' });
      }
      const user = { group: 'sport' };
      for (const [method, path, body] of [
        ['PATCH', '', { user }],
        ['POST', '/copy', { task: { user } }],
      ] as const) {
        const { status, body: answer } = await of(method, `/task/n-1${path}`, body);
        expect([status, answer['detail']], method).to.deep.equal([
          403,
          'The scope of the token news does not include the group sport.',
        ]);
      }
      const desk = by(await make({ name: 'desk', role: 'operate', scope: { groups: ['news'] } }));
      for (const to of ['first', 'last']) {
        expect((await of('POST', `/task/n-1/${to}`)).status, 'takes operate').to.equal(403);
        expect((await call('POST', `/task/n-1/${to}`, {}, desk)).status).to.equal(200);
        expect((await call('POST', `/task/s-1/${to}`, {}, desk)).status).to.equal(404);
      }
      expect((await of('POST', '/task/n-1/cancel')).status).to.equal(200);
      expect((await call('GET', '/task/s-1')).body).to.include({ state: 'waiting' });
    });

    it('counts tasks of other groups that a value is shared with, and names none', async () => {
      const news = await make({ name: 'news', role: 'submit', scope: { groups: ['news'] } });
      await call('PUT', '/type/encode', { limits: { concurrency: { pointer: '/film', max: 1 } } });
      for (const [id, group] of [
        ['secret', 'sport'],
        ['mine', 'news'],
      ]) {
        const task = { id, type: 'encode', params: { film: 1 } };
        expect((await call('POST', '/task/submit', { task, user: { group } })).status).to.equal(
          202,
        );
      }
      const { waiting } = (await call('GET', '/task/mine', undefined, by(news))).body;
      expect(waiting)
        .to.have.property('message')
        .that.includes('1 comes first')
        .and.not.includes('secret');
      const whole = (await call('GET', '/task/mine')).body;
      expect(whole).to.have.nested.property('waiting.message').that.includes('secret (waiting)');
    });

    it('refuses what is submitted outside of it, in words', async () => {
      const scope = { namespaces: ['default', 'live'], groups: ['news'], types: ['encode'] };
      const token = await make({ name: 'feed', role: 'submit', scope });
      const detail = async (answer: ReturnType<typeof submitAs>) => {
        const { status, body } = await answer;
        return [status, body['detail']];
      };
      const says = (what: string) => [
        403,
        `The scope of the token feed does not include the ${what}.`,
      ];
      expect(await detail(submitAs(token, 'a', 'sport'))).to.deep.equal(says('group sport'));
      expect(await detail(submitAs(token, 'a', 'news', 'pay'))).to.deep.equal(says('type pay'));
      const elsewhere = submitAs(token, 'a', 'news', 'encode', '/ns/films');
      expect(await detail(elsewhere)).to.deep.equal(says('namespace films'));
      const tasks = ['news', 'sport', 'news'].map((group, index) => ({
        task: { id: `b-${index}`, type: 'encode' },
        user: { group },
      }));
      const { body } = await call('POST', '/task/submit-batch', { tasks }, by(token));
      expect(body['results']).to.deep.equal([
        { task_id: 'b-0', code: 202 },
        { task_id: 'b-1', code: 403, message: says('group sport')[1] },
        { task_id: 'b-2', code: 202 },
      ]);
    });

    it('keeps pages bounded: one may be empty, and the next goes on', async () => {
      const rare = await make({ name: 'rare', role: 'read', scope: { groups: ['rare', 'none'] } });
      const tasks = Array.from({ length: 120 }, (_, n) => ({
        task: { id: `t-${n}`, type: 'encode' },
        user: { group: n % 40 === 0 ? 'rare' : 'often' },
      }));
      await call('POST', '/task/submit-batch', { tasks });
      expect(await idsSeenBy(rare, '?limit=1')).to.deep.equal(['t-80', 't-40', 't-0']);
    });

    it('shows of types those in it, and of their weights those of its groups', async () => {
      const definition = { fair_by: 'group', group_weights: { news: 2, sport: 1 } };
      await suite.putType('encode', definition);
      await suite.putType('pay', definition);
      const scope = { groups: ['news'], types: ['encode', 'unseen'] };
      const token = by(await make({ name: 'feed', role: 'operate', scope }));
      const { types } = (await call('GET', '/types', undefined, token)).body;
      expect(types).to.have.length(1);
      const shown = { ...definition, group_weights: { news: 2 } };
      expect((types as object[])[0]).to.deep.include({ type: 'encode', ...shown });
      expect((await call('GET', '/type/encode', undefined, token)).body).to.deep.include(shown);
      const hidden = await call('GET', '/type/pay', undefined, token);
      const unknown = await call('GET', '/type/nothing', undefined, token);
      expect([hidden.status, hidden.body]).to.deep.equal([404, unknown.body]);
      expect((await call('POST', '/type/encode/pause', {}, token)).body['detail']).to.equal(
        'This is shared by all of the type, and the scope of the token feed has only some groups and types.',
      );
    });

    it('shows namespaces in it only, also to whoever names another', async () => {
      for (const name of ['films', 'live']) await call('PUT', `/namespace/${name}`, {});
      const scope = { namespaces: ['live'] };
      const token = by(await make({ name: 'live', role: 'admin', scope }));
      const { body } = await call('GET', '/namespaces', undefined, token);
      expect((body['namespaces'] as { name: string }[]).map(({ name }) => name)).to.deep.equal([
        'live',
      ]);
      for (const path of ['/namespace/films', '/ns/films/tasks', '/ns/films/type/encode']) {
        const hidden = await call('GET', path, undefined, token);
        const unknown = await call('GET', path.replace('films', 'nowhere'), undefined, token);
        expect(hidden.status, path).to.equal(404);
        expect(hidden.body['detail']).to.equal(
          'There is no namespace films in the scope of the token live.',
        );
        expect(JSON.stringify(hidden.body).replaceAll('films', 'nowhere')).to.equal(
          JSON.stringify(unknown.body),
        );
      }
      expect((await call('PUT', '/namespace/live', { max_running: 1 }, token)).status).to.equal(
        200,
      );
      expect((await call('PUT', '/namespace/films', {}, token)).status).to.equal(404);
      expect((await call('POST', '/tokens', { name: 'b', role: 'read' }, token)).status).to.equal(
        403,
      );
    });

    it('shows executors that run types in it, and nothing of what else they run', async () => {
      const port = Number(new URL(suite.url()).port);
      const both = await RawExecutor.join(port, { types: ['encode', 'pay'] });
      const other = await RawExecutor.join(port, {
        executor_id: 'e2',
        incarnation: 'i2',
        types: ['pay'],
      });
      await call('POST', '/task/submit', {
        task: { id: 'salary', type: 'pay', requires: ['executor:e1'] },
        user: { group: 'hr' },
      });
      await both.next('assign');
      const scope = { types: ['encode'] };
      const token = by(await make({ name: 'feed', role: 'read', scope }));
      const { executors } = (await call('GET', '/executors', undefined, token)).body;
      expect(executors).to.have.length(1);
      expect((executors as object[])[0]).to.deep.include({
        executor_id: 'e1',
        types: ['encode'],
        state: 'offered',
        task_id: null,
        attempt: null,
      });
      both.socket.terminate();
      other.socket.terminate();
    });

    it('lets an executor into its namespaces only', async () => {
      const port = Number(new URL(suite.url()).port);
      await call('PUT', '/namespace/live', {});
      const token = await make({ name: 'r', role: 'executor', scope: { namespaces: ['live'] } });
      await RawExecutor.join(port, {}, 'live', token);
      const refused = await RawExecutor.dial(port, 'default', token).catch((error: Error) => error);
      expect((refused as Error).message).to.equal('Unexpected server response: 403');
    });
  });
});
