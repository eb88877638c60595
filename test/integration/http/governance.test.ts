/** What a master does by itself, as it is asked for from outside. */
import { expect } from 'chai';
import { API_BASE } from '@soda-scheduler/protocol';
import { HttpFace } from '../../helpers/http-face.ts';

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
});
