/** Who gets in: every route with every token, role and scope, and the rules of a master without tokens. */
import { Agent } from 'node:http';
import { expect } from 'chai';
import { digestOf } from '../../../master/access/digest.ts';
import { type Right, rightOf, rights } from '../../../master/access/rights.ts';
import type { GuardedRoute } from '../../../master/access/http/route.ts';
import type { Role, Scope } from '../../../master/application/ports.ts';
import { unregistered } from '../../../master/domain/model/task-type.ts';
import { HttpFace } from '../../helpers/http-face.ts';
import { submissionOf, waitingTask } from '../../helpers/stand-in-handle.ts';

const BASE = '/scheduler/v2';
const tokens = {
  submitToken: 'submit-token-0123456789',
  executorToken: 'executor-token-0123456789',
  adminToken: 'admin-token-0123456789',
};
const ROLES = ['read', 'submit', 'operate', 'admin', 'executor'] as const;
const PARAMS: Readonly<Record<string, string>> = {
  task_id: 'job-1',
  executor_id: 'gpu-1',
  attempt: '1',
  namespace: 'default',
  type: 't',
  name: 'nobody',
  operation_id: `op-${'0'.repeat(24)}`,
  alert_id: 'none',
  booking_id: `bk-${'0'.repeat(16)}`,
};

/** Of the task `job-1`: namespace default, type t, group g. */
const SCOPES: Readonly<Record<string, Scope | null>> = {
  none: null,
  namespace: { namespaces: ['default', 'x'], groups: null, types: null },
  'all three': { namespaces: ['default'], groups: ['g'], types: ['t'] },
  group: { namespaces: null, groups: ['g'], types: null },
  type: { namespaces: null, groups: null, types: ['t'] },
  'another namespace': { namespaces: ['x'], groups: null, types: null },
  'another group': { namespaces: null, groups: ['h'], types: null },
  'another type': { namespaces: null, groups: null, types: ['u'] },
};

/** A token as the master makes them, for each role and scope. */
function tokenOf(name: string): string {
  return `soda_${digestOf(name)}`;
}

/** A concrete URL of a route's path. */
function urlOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => PARAMS[name] ?? '');
}

/** What `rights.ts` says in words, once more; null: whatever the route itself answers. */
function refusalOf(
  { path, isInNamespace = false }: GuardedRoute,
  right: Right,
  role: Role,
  scope: Scope | null,
): number | null {
  if (right.roles === 'anyone') return null;
  if (role !== 'admin' && !right.roles.includes(role)) return 403;
  if (right.scope === 'none' || scope === null) return null;
  if (right.scope === 'whole') return 403;
  const { namespaces, groups, types } = scope;
  const isAbout = isInNamespace || path.includes('{namespace}');
  if (isAbout && namespaces?.includes('default') === false) {
    return right.scope === 'submit' ? 403 : 404;
  }
  if (right.scope === 'types') return groups !== null ? 403 : null;
  if (right.scope === 'namespace') return groups !== null || types !== null ? 403 : null;
  if (right.scope === 'type') return groups !== null || types?.includes('t') === false ? 403 : null;
  const isOutside = groups?.includes('g') === false || types?.includes('t') === false;
  return isOutside && path.includes('{task_id}') ? 404 : null;
}

describe('HTTP authorisation', () => {
  describe('with tokens', () => {
    let face: HttpFace;
    // Thousands of calls.
    const agent = new Agent({ keepAlive: true });
    before(async () => {
      face = await new HttpFace({ configured: tokens }).open();
      const body = { task: { id: 'job-1', type: 't' }, user: { group: 'g' } };
      face.master.keep(waitingTask(submissionOf(body), 1));
      const made = { createdAt: 0, createdBy: null, expiresAt: null, lastUsedAt: null };
      for (const role of ROLES) {
        for (const [of, scope] of Object.entries(SCOPES)) {
          const name = `${role} ${of}`;
          await face.tokens.add({ name, digest: digestOf(tokenOf(name)), role, scope, ...made });
        }
      }
    });
    after(() => {
      agent.destroy();
      return face.close();
    });

    async function expectAnswers(
      authorization: string,
      role: Role | null,
      scope: Scope | null,
    ): Promise<void> {
      for (const route of face.http.routes) {
        const { method, path } = route;
        const right = rightOf(method, path);
        const body = method === 'PATCH' ? { priority: 1 } : undefined;
        const call = { headers: { authorization }, body, agent };
        const answer = await face.call(method, urlOf(path), call);
        const isOpen = right.roles === 'anyone';
        const refusal =
          role === null ? (isOpen ? null : 401) : refusalOf(route, right, role, scope);
        const label = `${method} ${path} ${answer.text}`;
        // Without a body, of what is not there or is in use: it got as far as the route.
        if (refusal === null) expect([200, 202, 400, 404, 409], label).to.include(answer.status);
        else {
          expect(answer.status, label).to.equal(refusal);
          expect(answer.headers['content-type'], label).to.equal('application/problem+json');
        }
        const challenge = refusal === 401 ? 'Bearer' : undefined;
        expect(answer.headers['www-authenticate'], label).to.equal(challenge);
      }
    }

    it('shows where callbacks go by default to the admin alone', async () => {
      const text = '{"defaults":{"notify_url":"https://hooks.test/?key=secret","priority":3}}';
      face.master.types.set('film', { ...unregistered('film'), text, version: 1 });
      for (const [token, defaults] of [
        [tokens.adminToken, { notify_url: 'https://hooks.test/?key=secret', priority: 3 }],
        [tokens.submitToken, { priority: 3 }],
      ] as const) {
        const headers = { authorization: `Bearer ${token}` };
        const one = await face.get(`${BASE}/type/film`, headers);
        expect(one.json<{ defaults: object }>().defaults).to.deep.equal(defaults);
        const all = await face.get(`${BASE}/types`, headers);
        const [first] = all.json<{ types: { defaults: object }[] }>().types;
        expect(first?.defaults).to.deep.equal(defaults);
      }
    });

    for (const [name, authorization] of [
      ['no token', ''],
      ['an unknown token', 'Bearer submit-token-012345678X'],
      ['an unknown token of the form of ours', `Bearer ${tokenOf('nobody')}`],
      ['the password scheme', `Basic ${tokens.adminToken}`],
    ] as const) {
      it(`opens what is for anyone, and nothing else, to ${name}`, () =>
        expectAnswers(authorization, null, null));
    }
    for (const [authorization, role] of [
      [`Bearer ${tokens.submitToken}`, 'submit'],
      [`Bearer ${tokens.executorToken}`, 'executor'],
      [`bearer ${tokens.adminToken}`, 'admin'],
    ] as const) {
      it(`opens to the configured token what is for the role ${role}`, () =>
        expectAnswers(authorization, role, null));
    }
    for (const role of ROLES) {
      for (const [of, scope] of Object.entries(SCOPES)) {
        it(`opens what its table says to the role ${role}, scope: ${of}`, () =>
          expectAnswers(`Bearer ${tokenOf(`${role} ${of}`)}`, role, scope));
      }
    }

    it('lets a role do what those below it may', () => {
      const opened = (role: Role) =>
        Object.keys(rights).filter((key) => {
          const { roles = [] } = rights[key] ?? {};
          return roles === 'anyone' || role === 'admin' || roles.includes(role);
        });
      expect(opened('operate')).to.include.members(opened('read'));
      expect(opened('admin')).to.include.members([...opened('operate'), ...opened('submit')]);
      expect(opened('executor')).to.deep.equal([
        'GET /livez',
        'GET /readyz',
        'GET /openapi.json',
        'GET /',
        'GET /assets/{file}',
        'GET /docs',
        'GET /docs/',
        'GET /docs/{file}',
        'POST /session',
        'DELETE /session',
        'GET /whoami',
      ]);
    });

    it('has a right for each route and no other, and refuses a route without one', () => {
      const served = face.http.routes
        .filter(({ path }) => !path.includes('/ns/'))
        .map(({ method, path }) => `${method} ${path.replace(BASE, '')}`);
      expect(Object.keys(rights)).to.have.members(served);
      expect(face.http.routes.length).to.be.at.least(50);
      expect(() => rightOf('GET', `${BASE}/secrets`)).to.throw(
        'No right is set for GET /scheduler/v2/secrets',
      );
    });

    it('says which role it would take', async () => {
      const { text } = await face.post(
        `${BASE}/executor/gpu-1/drain`,
        {},
        { authorization: `Bearer ${tokens.submitToken}` },
      );
      expect(text).to.include(
        'The token config:submit has the role submit: this takes operate or admin.',
      );
    });

    it('says in the log who has changed something, and nothing of a token', async () => {
      const name = 'operate none';
      const { length } = face.logged;
      const authorization = `Bearer ${tokenOf(name)}`;
      await face.post(`${BASE}/task/job-1/cancel`, { reason: 'late' }, { authorization });
      expect(face.loggedFields.slice(length)).to.deep.equal([
        {
          event: 'change',
          action: `POST ${BASE}/task/{task_id}/cancel`,
          task_id: 'job-1',
          reason: 'late',
          by: name,
          role: 'operate',
          address: '127.0.0.1',
        },
      ]);
      await face.get(`${BASE}/tasks`, { authorization });
      expect(face.logged.length).to.equal(length + 1);
      await face.get(`${BASE}/tasks`, { authorization: 'Bearer guess' });
      expect(face.loggedFields.at(-1)).to.deep.equal({
        why: 'This master does not know the token.',
        address: '127.0.0.1',
      });
      expect(JSON.stringify(face.loggedFields)).to.not.match(/soda_|guess/);
    });

    it('says what was sent in place of a token', async () => {
      for (const [authorization, said] of [
        ['', 'No token was sent.'],
        ['Bearer', 'No token was sent.'],
        ['Bearer ', 'No token was sent.'],
        ['Basic YTpi', 'Another scheme than Bearer was sent.'],
        ['Bearer nonsense', 'This master does not know the token.'],
      ] as const) {
        const { status, text } = await face.get(`${BASE}/tasks`, { authorization });
        expect([status, text.includes(said)], authorization).to.deep.equal([401, true]);
      }
    });

    it('tells a browser nothing that tokens do not', async () => {
      const authorization = `Bearer ${tokens.submitToken}`;
      const headers = { authorization, origin: 'http://evil.example' };
      const answer = await face.get(`${BASE}/tasks`, headers);
      expect(answer.status).to.equal(200);
      expect(answer.headers['access-control-allow-origin']).to.equal(undefined);
    });
  });

  it('knows no named token before the store has answered, and says so', async () => {
    const face = new HttpFace({ configured: tokens });
    face.port = (await face.http.listen()).port;
    try {
      const by = async (token: string) =>
        (await face.get(`${BASE}/tasks`, { authorization: `Bearer ${token}` })).status;
      expect(await by(tokenOf('ann'))).to.equal(503);
      expect(await by(tokens.adminToken)).to.equal(200);
    } finally {
      await face.close();
    }
  });

  it('leaves the role of a missing token to the admin', async () => {
    const face = await new HttpFace({ configured: { ...tokens, submitToken: null } }).open();
    try {
      const by = async (token: string) =>
        (await face.get(`${BASE}/tasks`, { authorization: `Bearer ${token}` })).status;
      expect((await face.get(`${BASE}/tasks`)).status).to.equal(401);
      expect(await by(tokens.executorToken)).to.equal(403);
      expect(await by(tokens.adminToken)).to.equal(200);
    } finally {
      await face.close();
    }
  });

  describe('without tokens', () => {
    let face: HttpFace;
    before(async () => {
      face = await new HttpFace().open();
    });
    after(() => face.close());
    const list = (headers: Record<string, string>) => face.get(`${BASE}/tasks`, headers);

    it('serves local programs, by any name of loopback', async () => {
      for (const host of ['localhost', `127.0.0.1:${face.port}`, '[::1]:18890', 'LOCALHOST:1']) {
        expect((await list({ host })).status, host).to.equal(200);
      }
    });

    it('refuses a rebound name', async () => {
      for (const host of [
        'evil.example',
        'localhost.evil.example',
        '127.0.0.1.evil.example',
        '10.0.0.1',
      ]) {
        expect((await list({ host })).status, host).to.equal(403);
      }
    });

    it('refuses web pages of other origins, and serves its own', async () => {
      const host = `127.0.0.1:${face.port}`;
      for (const origin of [
        'http://evil.example',
        'null',
        `http://127.0.0.1:1`,
        'http://localhost',
      ]) {
        expect((await list({ host, origin })).status, origin).to.equal(403);
      }
      expect((await list({ host, origin: `http://${host}` })).status).to.equal(200);
    });

    it('refuses what a browser fetches for pages of others, which carries no Origin', async () => {
      const from = (site: string) => list({ 'sec-fetch-site': site });
      for (const site of ['cross-site', 'same-site', 'something-new']) {
        expect((await from(site)).status, site).to.equal(403);
      }
      for (const site of ['same-origin', 'none']) {
        expect((await from(site)).status, site).to.equal(200);
      }
    });

    it('refuses what a page may send without asking: a form, or text', async () => {
      const body = { task: { type: 't' }, user: { group: 'g' } };
      for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
        const answer = await face.post(`${BASE}/task/submit`, body, { 'content-type': type });
        expect(answer.status, type).to.equal(415);
      }
    });

    it('counts a token that is sent, but for those that no master has made while there is none', async () => {
      const name = 'reader';
      const answerTo = async (authorization: string) =>
        (await face.post(`${BASE}/task/submit`, {}, { authorization })).status;
      const garbled = [`Bearer "${tokenOf(name)}"`, tokenOf(name), 'Bearer soda_', 'Basic soda_x'];
      const leftOver = 'Bearer left-over-of-2.0.0';
      for (const one of garbled) expect(await answerTo(one), one).to.equal(401);
      for (const one of ['', 'Bearer ', leftOver]) expect(await answerTo(one), one).to.equal(400);
      const made = { createdAt: 0, createdBy: null, expiresAt: null, lastUsedAt: null };
      const record = { name, digest: digestOf(tokenOf(name)), role: 'read' as const, scope: null };
      await face.tokens.add({ ...record, ...made });
      expect(await answerTo(`Bearer ${tokenOf(name)}`)).to.equal(403);
      for (const one of [`Bearer ${tokenOf('revoked')}`, leftOver, 'Basic cDpx']) {
        expect(await answerTo(one), one).to.equal(401);
      }
      expect(await answerTo('Bearer ')).to.equal(400);
    });

    it('opens the probes and the document to anyone', async () => {
      for (const path of ['/livez', '/readyz', '/openapi.json']) {
        expect((await face.get(path, { host: 'evil.example' })).status, path).to.equal(200);
      }
    });
  });
});
