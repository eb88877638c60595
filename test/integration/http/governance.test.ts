/** What a master does by itself, as it is asked for from outside. */
import { expect } from 'chai';
import { API_BASE } from '@soda-scheduler/protocol';
import { HttpFace, noTokens } from '../../helpers/http-face.ts';

describe('GET /governance', () => {
  let face: HttpFace;
  beforeEach(async () => {
    face = await new HttpFace().open();
  });
  afterEach(() => face.close());

  it('tells what the master does by itself, and how it went', async () => {
    const duty = face.duties.add('retention', 3_600_000);
    await duty.run(async () => ({ foundCount: 2, doneCount: 1 }));
    face.duties.add('rebuild', null);
    const { duties } = (await face.get(`${API_BASE}/governance`)).json<{ duties: unknown[] }>();
    const last = { at: '2027-01-15T08:00:00.000Z', took: 0, found: 2, done: 1, error: null };
    expect(duties).to.deep.equal([
      { name: 'retention', interval: 3600, overdue: false, runs: 1, last },
      { name: 'rebuild', interval: null, overdue: false, runs: 0, last: null },
    ]);
  });

  it('refuses a query that it does not know, as whatever takes none', async () => {
    for (const path of ['governance', 'health', 'whoami']) {
      const refused = await face.get(`${API_BASE}/${path}?x=1`);
      expect(refused.status, path).to.equal(400);
      const { errors } = refused.json<{ errors: unknown }>();
      const wrong = { field: 'x', message: 'not a known field', kind: 'unknown_field' };
      expect(errors, path).to.deep.equal([wrong]);
    }
    expect((await face.get('/readyz?x=1')).status).to.equal(200);
  });

  it('says why a duty failed to admins alone: there may be addresses and names in it', async () => {
    const tokens = {
      ...noTokens,
      submitToken: 'submit-token-0123',
      adminToken: 'admin-token-0123',
    };
    const closed = await new HttpFace({ configured: tokens }).open();
    try {
      const failing = closed.duties.add('retention', 3_600_000);
      await failing
        .run(() => Promise.reject(new Error("Access denied for 'soda'@'10.0.0.7'")))
        .catch(() => undefined);
      const errorFor = async (token: string) => {
        const headers = { authorization: `Bearer ${token}` };
        const answer = await closed.get(`${API_BASE}/governance`, headers);
        return answer.json<{ duties: { last: { error: string } }[] }>().duties[0]?.last.error;
      };
      expect(await errorFor(tokens.adminToken)).to.contain('10.0.0.7');
      expect(await errorFor(tokens.submitToken)).to.equal(
        'it failed: the log says why, and so does this with the admin token',
      );
    } finally {
      await closed.close();
    }
  });
});
