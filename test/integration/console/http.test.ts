/** The console as the master serves it, and the cookie with which a browser asks in place of a token. */
import { expect } from 'chai';
import { gunzipSync } from 'node:zlib';
import { request } from 'node:http';
import { Logins } from '../../../master/access/console/logins.ts';
import {
  WRONG_LOGIN_ADDRESSES_MAX,
  WRONG_LOGINS_PER_MINUTE_MAX,
  WrongLogins,
} from '../../../master/access/console/wrong-logins.ts';
import { LOGINS_MAX, TOKEN_LOGINS_MAX } from '../../../master/domain/bounds.ts';
import { Problem } from '../../../master/access/http/problem.ts';
import { digestOf } from '../../../master/access/digest.ts';
import { type Answer, HttpFace } from '../../helpers/http-face.ts';

const BASE = '/scheduler/v2';
const HOUR_MS = 3_600_000;
const tokens = { submitToken: null, executorToken: null, adminToken: 'admin-token-0123456789' };
const files = new Map([
  ['index.html', { contentType: 'text/html; charset=utf-8', bytes: Buffer.from('<p>page</p>') }],
  ['app-1.js', { contentType: 'text/javascript; charset=utf-8', bytes: Buffer.from('run()') }],
]);

function cookieOf({ headers }: Answer): string {
  const [set = ''] = headers['set-cookie'] as string[];
  return set.split(';')[0] ?? '';
}

describe('the console over HTTP', () => {
  let face: HttpFace;
  beforeEach(async () => {
    face = await new HttpFace({ configured: tokens, console: files }).open();
  });
  afterEach(() => face.close());

  const logIn = (token = tokens.adminToken, headers: Record<string, string> = {}) =>
    face.post(`${BASE}/session`, { token }, headers);
  const made = { createdAt: 0, createdBy: null, lastUsedAt: null, scope: null };
  const addToken = (name: string, expiresAt: number | null = null) =>
    face.tokens.add({ ...made, name, digest: digestOf(name), role: 'operate', expiresAt });

  describe('files', () => {
    it('are for anyone; the page is asked for anew, what it is made of is kept', async () => {
      const page = await face.get('/');
      expect([page.status, page.text]).to.deep.equal([200, '<p>page</p>']);
      expect(page.headers['content-type']).to.equal('text/html; charset=utf-8');
      expect(page.headers['cache-control']).to.equal('no-store');
      const script = await face.get('/assets/app-1.js');
      expect([script.status, script.text]).to.deep.equal([200, 'run()']);
      expect(script.headers['cache-control']).to.equal('public, max-age=31536000, immutable');
      expect(script.headers['x-content-type-options']).to.equal('nosniff');
    });

    it('come with a policy that lets nothing in but themselves', async () => {
      const policy = String((await face.get('/')).headers['content-security-policy']);
      expect(policy)
        .to.match(/^default-src 'none';/)
        .and.include("script-src 'self'");
      expect(policy).to.include("frame-ancestors 'none'").and.include("form-action 'none'");
      expect(policy).to.not.match(/unsafe|https?:|\*|data:/);
    });

    it('are zipped for whoever takes that', async () => {
      const bytes = await new Promise<Buffer>((resolve, reject) => {
        const headers = { 'accept-encoding': 'br, gzip' };
        const options = { port: face.port, host: '127.0.0.1', path: '/assets/app-1.js', headers };
        request(options, (res) => {
          const parts: Buffer[] = [];
          expect(res.headers['content-encoding']).to.equal('gzip');
          expect(res.headers.vary).to.include('Accept-Encoding');
          res.on('data', (part: Buffer) => parts.push(part));
          res.on('end', () => resolve(Buffer.concat(parts)));
        })
          .on('error', reject)
          .end();
      });
      expect(gunzipSync(bytes).toString()).to.equal('run()');
      for (const [accepted, isZipped] of [
        ['gzip;q=0', false],
        ['*;q=0.5, gzip; q=0', false],
        ['identity', false],
        ['gzip;q=0.1', true],
        ['*', true],
      ] as const) {
        const { headers } = await face.get('/', { 'accept-encoding': accepted });
        expect(headers['content-encoding'] === 'gzip', accepted).to.equal(isZipped);
      }
    });

    it('are those that were built, and no others', async () => {
      for (const path of ['index.html', '..%2Fmain.js', '.', 'app-2.js', '%2e%2e%2findex.html']) {
        expect((await face.get(`/assets/${path}`)).status, path).to.be.oneOf([400, 404]);
      }
      const bare = await new HttpFace().open();
      const { status, text } = await bare.get('/');
      await bare.close();
      expect([status, text.includes('npm run build')]).to.deep.equal([404, true]);
    });
  });

  describe('a login', () => {
    it('opens what its token opens, and is nothing that a script can read', async () => {
      await addToken('ada');
      const answer = await logIn('ada');
      expect([answer.status, answer.json()]).to.deep.equal([200, { name: 'ada', role: 'operate' }]);
      const [set] = answer.headers['set-cookie'] as string[];
      expect(set).to.match(
        /^soda_session_[\w-]{8}=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/,
      );
      const cookie = cookieOf(answer);
      const who = await face.get(`${BASE}/whoami`, { cookie });
      expect(who.json()).to.include({ name: 'ada', role: 'operate' });
      expect((await face.get(`${BASE}/tasks`, { cookie })).status).to.equal(200);
      expect((await face.get(`${BASE}/tokens`, { cookie })).status).to.equal(403);
      expect(JSON.stringify(face.loggedFields)).to.not.include(cookie.split('=')[1]);
      const login = face.loggedFields.find((one) => String(one?.['action']).includes('/session'));
      expect(login).to.include({ by: 'ada', role: 'operate', address: '127.0.0.1' });
    });

    it('is one of several in a browser, where masters on other ports of the host have theirs', async () => {
      const other = await new HttpFace({
        configured: tokens,
        console: files,
        place: 'there',
      }).open();
      const its = cookieOf(await other.post(`${BASE}/session`, { token: tokens.adminToken }));
      const ours = cookieOf(await logIn());
      expect(its.split('=')[0]).to.not.equal(ours.split('=')[0]);
      for (const cookie of [`${its}; ${ours}`, `${ours}; ${its}`]) {
        expect((await face.get(`${BASE}/tasks`, { cookie })).status).to.equal(200);
        expect((await other.get(`${BASE}/tasks`, { cookie })).status).to.equal(200);
      }
      expect((await face.get(`${BASE}/tasks`, { cookie: its })).status).to.equal(401);
      await other.close();
    });

    it('is sent by TLS only where it was made by TLS', async () => {
      const host = 'soda.example';
      const answer = await logIn(tokens.adminToken, { host, origin: `https://${host}` });
      expect(answer.headers['set-cookie']?.[0]).to.match(/; Secure$/);
    });

    it('takes no token that nobody knows, and tells nothing of it', async () => {
      for (const token of ['guess', 'a b', `soda_${'x'.repeat(43)}`]) {
        const { status, text, headers } = await logIn(token);
        expect([status, headers['set-cookie']]).to.deep.equal([401, undefined]);
        expect(text).to.not.include(token);
      }
      expect((await face.post(`${BASE}/session`, {})).status).to.equal(400);
      expect(face.loggedFields.at(-1)).to.include({ address: '127.0.0.1' });
    });

    it('is refused for a while from where too many were wrong, whoever asks', async () => {
      const cookie = cookieOf(await logIn());
      for (let n = 0; n < WRONG_LOGINS_PER_MINUTE_MAX; n++) {
        expect((await logIn('guess')).status).to.equal(401);
      }
      const refused = await logIn();
      expect([refused.status, refused.headers['retry-after']]).to.deep.equal([429, '60']);
      const others = { authorization: `Bearer ${tokens.adminToken}` };
      for (const headers of [{ cookie }, others]) {
        expect((await face.get(`${BASE}/tasks`, headers)).status).to.equal(200);
      }
      face.clock.advance(60_000);
      expect((await logIn()).status).to.equal(200);
    });

    it('is counted by address, of which so many are remembered', () => {
      const wrong = new WrongLogins(() => 0);
      const guess = (address: string) =>
        wrong.guard(address, () => {
          throw new Problem('noToken', 'unknown');
        });
      const guessMany = (address: string) => {
        for (let n = 0; n < WRONG_LOGINS_PER_MINUTE_MAX; n++) {
          expect(() => guess(address)).to.throw('unknown');
        }
      };
      guessMany('first');
      guessMany('second');
      expect(wrong.guard('third', () => 'known')).to.equal('known');
      expect(() => wrong.guard('first', () => 'known')).to.throw(/60 s/);
      for (let n = 2; n <= WRONG_LOGIN_ADDRESSES_MAX; n++)
        expect(() => guess(`of ${n}`)).to.throw();
      expect(wrong.guard('first', () => 'known')).to.equal('known');
      expect(() => wrong.guard('second', () => 'known')).to.throw(/60 s/);
    });

    it('changes things only for a page that knows what no other can', async () => {
      const cookie = cookieOf(await logIn());
      const { csrf } = (await face.get(`${BASE}/whoami`, { cookie })).json<{ csrf: string }>();
      const put = async (headers: Record<string, string>) =>
        (await face.call('PUT', `${BASE}/limit/a`, { headers, body: { max: 1 } })).status;
      expect(await put({ cookie })).to.equal(403);
      expect(await put({ cookie, 'x-soda-csrf': 'x'.repeat(43) })).to.equal(403);
      expect(await put({ cookie, 'x-soda-csrf': '' })).to.equal(403);
      expect(await put({ cookie, 'x-soda-csrf': csrf })).to.not.equal(403);
      // Whoever sends a token is no page that was lured.
      const authorization = `Bearer ${tokens.adminToken}`;
      expect(await put({ cookie, authorization })).to.not.equal(403);
      const other = cookieOf(await logIn());
      expect(await put({ cookie: other, 'x-soda-csrf': csrf })).to.equal(403);
    });

    it('is not for pages of others', async () => {
      const cookie = cookieOf(await logIn());
      const host = `127.0.0.1:${face.port}`;
      const get = async (headers: Record<string, string>) =>
        (await face.get(`${BASE}/tasks`, { cookie, host, ...headers })).status;
      expect(await get({ origin: 'http://evil.example' })).to.equal(403);
      expect(await get({ origin: 'http://127.0.0.1:1' })).to.equal(403);
      expect(await get({ origin: 'null' })).to.equal(403);
      expect(await get({ 'sec-fetch-site': 'cross-site' })).to.equal(403);
      expect(await get({ 'sec-fetch-site': 'same-site' })).to.equal(403);
      expect(await get({ 'sec-fetch-site': 'same-origin' })).to.equal(200);
      expect(await get({ origin: `http://${host}` })).to.equal(200);
      // Behind a proxy that names it otherwise.
      const proxied = { origin: 'https://soda.example', 'sec-fetch-site': 'same-origin' };
      expect(await get(proxied)).to.equal(200);
      const lured = { host, origin: 'http://evil.example' };
      expect((await logIn(tokens.adminToken, lured)).status).to.equal(403);
    });

    it('ends when somebody logs out', async () => {
      const cookie = cookieOf(await logIn());
      const { csrf } = (await face.get(`${BASE}/whoami`, { cookie })).json<{ csrf: string }>();
      const out = (headers: Record<string, string>) =>
        face.call('DELETE', `${BASE}/session`, { headers });
      expect((await out({ cookie })).status).to.equal(403);
      const answer = await out({ cookie, 'x-soda-csrf': csrf });
      expect(answer.headers['set-cookie']?.[0]).to.match(
        /^soda_session_[\w-]{8}=; Path=\/; Max-Age=0;/,
      );
      expect((await face.get(`${BASE}/tasks`, { cookie })).status).to.equal(401);
      expect((await out({})).status).to.equal(200);
    });

    it('ends with its token, revoked or over', async () => {
      await addToken('ada');
      await addToken('bob', face.clock.now() + HOUR_MS);
      const [ada, bob] = [cookieOf(await logIn('ada')), cookieOf(await logIn('bob'))];
      const by = async (cookie: string) => (await face.get(`${BASE}/tasks`, { cookie })).status;
      expect([await by(ada), await by(bob)]).to.deep.equal([200, 200]);
      await face.tokens.remove('ada');
      face.clock.advance(HOUR_MS);
      expect([await by(ada), await by(bob)]).to.deep.equal([401, 401]);
    });

    it('ends when it was not used for half a day, and after a week', async () => {
      const cookie = cookieOf(await logIn());
      const status = async () => (await face.get(`${BASE}/tasks`, { cookie })).status;
      for (let hour = 0; hour < 7 * 24 - 11; hour += 11) {
        expect(await status()).to.equal(200);
        face.clock.advance(11 * HOUR_MS);
      }
      face.clock.advance(11 * HOUR_MS);
      expect(await status()).to.equal(401);
      const second = cookieOf(await logIn());
      face.clock.advance(12 * HOUR_MS);
      expect((await face.get(`${BASE}/tasks`, { cookie: second })).status).to.equal(401);
    });

    it('makes room for others when there are too many', () => {
      const logins = new Logins('here', () => 0);
      const begin = (digest: string) => {
        const [cookie] = Object.values(logins.begin(digest, {}));
        return { cookie: cookie ?? '' };
      };
      const [first, second] = [begin('digest'), begin('digest')];
      for (let count = 2; count < LOGINS_MAX; count++) begin(`digest-${count}`);
      // It was here last.
      expect(logins.use(first)).to.equal('digest');
      begin('digest-2');
      expect([logins.use(first), logins.use(second)]).to.deep.equal(['digest', null]);
    });

    it('logs out nobody else, however often one token logs in', () => {
      const logins = new Logins('here', () => 0);
      const begin = (digest: string) => {
        const [cookie] = Object.values(logins.begin(digest, {}));
        return { cookie: cookie ?? '' };
      };
      const [other, first] = [begin('other'), begin('one')];
      for (let count = 1; count < TOKEN_LOGINS_MAX; count++) begin('one');
      expect(logins.use(first)).to.equal('one');
      for (let count = 0; count < LOGINS_MAX; count++) begin('one');
      expect([logins.use(other), logins.use(first)]).to.deep.equal(['other', null]);
    });

    it('is asked for nowhere where no token is set, and an old cookie is no matter', async () => {
      const open = await new HttpFace().open();
      const cookie = cookieOf(await logIn());
      const who = await open.get(`${BASE}/whoami`, { cookie, 'sec-fetch-site': 'same-origin' });
      await open.close();
      expect(who.json()).to.include({ name: null, role: 'admin' });
    });
  });
});
