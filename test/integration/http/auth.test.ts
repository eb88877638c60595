/** Who gets in: every route with every token, and the rules of a master without tokens. */
import { expect } from 'chai';
import type { Role } from '../../../master/access/auth.ts';
import { unregistered } from '../../../master/domain/model/task-type.ts';
import { HttpFace, noTokens } from '../../helpers/http-face.ts';
import { submissionOf, waitingTask } from '../../helpers/stand-in-handle.ts';

const BASE = '/scheduler/v2';
const tokens = {
  submitToken: 'submit-token-0123456789',
  executorToken: 'executor-token-0123456789',
  adminToken: 'admin-token-0123456789',
};

/** A concrete URL of a route's path. */
function urlOf(path: string): string {
  return path.replace('{task_id}', 'job-1').replace('{executor_id}', 'gpu-1');
}

describe('HTTP authorisation', () => {
  describe('with tokens', () => {
    let face: HttpFace;
    before(async () => {
      face = await new HttpFace(tokens).open();
      const body = { task: { id: 'job-1', type: 't' }, user: { group: 'g' } };
      face.master.keep(waitingTask(submissionOf(body), 1));
    });
    after(() => face.close());

    const held: readonly (readonly [string, string | null, readonly Role[]])[] = [
      ['no token', null, ['public']],
      ['an unknown token', 'Bearer submit-token-012345678X', ['public']],
      ['the password scheme', `Basic ${tokens.adminToken}`, ['public']],
      ['the submit token', `Bearer ${tokens.submitToken}`, ['public', 'submit']],
      ['the executor token', `Bearer ${tokens.executorToken}`, ['public', 'executor']],
      ['the admin token', `bearer ${tokens.adminToken}`, ['public', 'submit', 'executor', 'admin']],
    ];
    for (const [name, authorization, opened] of held) {
      it(`opens to ${name}: ${opened.join(', ')}`, async () => {
        const known = authorization !== null && opened.length > 1;
        const headers: Record<string, string> = authorization === null ? {} : { authorization };
        for (const { method, path, role } of face.http.routes) {
          const answer = await face.call(method, urlOf(path), { headers });
          const label = `${method} ${path}`;
          if (opened.includes(role)) {
            expect([200, 400], label).to.include(answer.status);
          } else {
            expect(answer.status, label).to.equal(known ? 403 : 401);
            expect(answer.headers['www-authenticate'], label).to.equal(
              known ? undefined : 'Bearer',
            );
            expect(answer.headers['content-type'], label).to.equal('application/problem+json');
          }
        }
      });
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

    it('has routes of each role, so that the walk above says something', () => {
      const roles = new Set(face.http.routes.map(({ role }) => role));
      expect([...roles].sort()).to.deep.equal(['admin', 'public', 'submit']);
      expect(face.http.routes.length).to.be.at.least(50);
    });

    it('tells a browser nothing that tokens do not', async () => {
      const authorization = `Bearer ${tokens.submitToken}`;
      const headers = { authorization, origin: 'http://evil.example' };
      const answer = await face.get(`${BASE}/tasks`, headers);
      expect(answer.status).to.equal(200);
      expect(answer.headers['access-control-allow-origin']).to.equal(undefined);
    });
  });

  it('leaves the role of a missing token to the admin', async () => {
    const face = await new HttpFace({ ...tokens, submitToken: null }).open();
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
      face = await new HttpFace(noTokens).open();
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

    it('opens the probes and the document to anyone', async () => {
      for (const path of ['/livez', '/readyz', '/openapi.json']) {
        expect((await face.get(path, { host: 'evil.example' })).status, path).to.equal(200);
      }
    });
  });
});
