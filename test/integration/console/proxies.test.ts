/** Where a request came from, behind proxies: as those say that are trusted, and nobody else. */
import { expect } from 'chai';
import { WRONG_LOGINS_PER_MINUTE_MAX } from '../../../master/access/console/wrong-logins.ts';
import { senderBehind } from '../../../master/access/http/sender.ts';
import { HttpFace } from '../../helpers/http-face.ts';

const SESSION = '/scheduler/v2/session';
const tokens = { submitToken: null, executorToken: null, adminToken: 'admin-token-0123456789' };

describe('a request through proxies', () => {
  let face: HttpFace;
  afterEach(() => face.close());
  const open = async (trustedProxies: readonly string[]) => {
    face = await new HttpFace({ configured: tokens, trustedProxies }).open();
  };
  const logIn = async (forwarded: string, token = tokens.adminToken) =>
    (await face.post(SESSION, { token }, { 'x-forwarded-for': forwarded })).status;
  const guessFrom = async (forwardedOf: (n: number) => string) => {
    for (let n = 0; n < WRONG_LOGINS_PER_MINUTE_MAX; n++) {
      expect(await logIn(forwardedOf(n), 'guess')).to.equal(401);
    }
  };

  it('counts against whoever sent it, and nobody else behind the same proxy', async () => {
    await open(['127.0.0.1']);
    await guessFrom(() => '198.51.100.7');
    expect(await logIn('198.51.100.7')).to.equal(429);
    expect(await logIn('198.51.100.8')).to.equal(200);
  });

  it('cannot choose where it counts by what it sends to the proxy', async () => {
    await open(['127.0.0.1']);
    await guessFrom((n) => `203.0.113.${n}, 198.51.100.7`);
    expect(await logIn('203.0.113.99, 198.51.100.7')).to.equal(429);
    expect(await logIn('198.51.100.7, 198.51.100.8')).to.equal(200);
  });

  for (const trusted of [[], ['10.0.0.0/8']]) {
    it(`is of its peer where that is not trusted (${trusted.join() || 'nobody is'})`, async () => {
      await open(trusted);
      await guessFrom((n) => `203.0.113.${n}`);
      expect(await logIn('203.0.113.99')).to.equal(429);
    });
  }

  it('is told of in the log as what it is', async () => {
    await open(['127.0.0.1']);
    const forwarded = { 'x-forwarded-for': '198.51.100.7' };
    await face.post(SESSION, { token: tokens.adminToken }, forwarded);
    expect(face.loggedFields.at(-1)).to.include({ action: `POST ${SESSION}` });
    expect(face.loggedFields.at(-1)).to.include({ address: '198.51.100.7' });
    await face.get('/scheduler/v2/tasks', forwarded);
    expect(face.loggedFields.at(-1)).to.include({ address: '198.51.100.7' });
  });
});

describe('the sender of a request', () => {
  const trusted = ['10.0.0.0/8', '2001:db8:1::/48'];
  const cases: readonly (readonly [peer: string, list: string | undefined, sender: string])[] = [
    ['10.0.0.1', '198.51.100.7', '198.51.100.7'],
    // One proxy behind the other, each trusted; then one that is not: what it says of others is its own.
    ['10.0.0.1', '198.51.100.7, 10.0.0.2,10.0.0.3', '198.51.100.7'],
    ['10.0.0.1', '198.51.100.7, 203.0.113.5, 10.0.0.2', '203.0.113.5'],
    ['203.0.113.5', '198.51.100.7', '203.0.113.5'],
    // From one of them.
    ['10.0.0.1', '10.0.0.9, 10.0.0.2', '10.0.0.9'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', '198.51.100.7, unknown', '10.0.0.1'],
    ['10.0.0.1', '198.51.100.7, 10.0.0.2, _hidden, 10.0.0.3', '10.0.0.3'],
    ['10.0.0.1', '198.51.100.7,', '10.0.0.1'],
    // As it is seen where the master listens on `::`, and as some proxies write it.
    ['::ffff:10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['2001:db8:1::1', '2001:db8:2::7', '2001:db8:2::7'],
    ['2001:0DB8:0001::1', '[2001:db8:2::7]:4711', '2001:db8:2::7'],
    ['10.0.0.1', '198.51.100.7:4711', '198.51.100.7'],
    ['10.0.0.1', '[2001:db8:2::7]', '2001:db8:2::7'],
    ['10.0.0.1', '999.1.1.1', '10.0.0.1'],
    // Nobody has as many proxies, and to ask for each would take long.
    ['10.0.0.1', `198.51.100.7${', 10.0.0.2'.repeat(1_000)}`, '10.0.0.2'],
    // Its connection has ended.
    ['', '198.51.100.7', ''],
  ];
  for (const [remoteAddress, list, sender] of cases) {
    it(`is ${sender} where ${remoteAddress} names ${list?.slice(0, 60)}`, () => {
      const headers = list === undefined ? {} : { 'x-forwarded-for': list };
      expect(senderBehind(trusted)({ socket: { remoteAddress }, headers })).to.equal(sender);
    });
  }
});
