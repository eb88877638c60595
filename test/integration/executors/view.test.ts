/** Executors as the API shows them, field by field, and what of a question about them is refused. */
import { expect } from 'chai';
import { HttpFace } from '../../helpers/http-face.ts';
import { recordOf, sampleExecutor } from '../../helpers/task.ts';

const BASE = '/scheduler/v2';
const AT = Date.UTC(2026, 10, 20, 12);

describe('executors as they are shown', () => {
  let face: HttpFace;
  beforeEach(async () => {
    face = await new HttpFace().open();
  });
  afterEach(() => face.close());

  it('a large fleet, while others are answered', async () => {
    for (let at = 0; at < 5_000; at++) face.master.fleet.push({ ...sampleExecutor, id: `x-${at}` });
    const answered: string[] = [];
    const all = face.get(`${BASE}/executors`).then((answer) => {
      answered.push('fleet');
      return answer.json<{ executors: unknown[] }>().executors;
    });
    const alive = face.get('/livez').then(() => answered.push('livez'));
    expect(await all).to.have.length(5_000);
    await alive;
    expect(answered).to.deep.equal(['livez', 'fleet']);
  });

  it('the fleet', async () => {
    const override = { labels: ['gpu'], reserve: null };
    face.master.fleet.push({
      ...sampleExecutor,
      own: { labels: ['cpu'], reserve: [] },
      override,
    });
    const { executors } = (await face.get(`${BASE}/executors`)).json<{ executors: unknown[] }>();
    expect(executors).to.deep.equal([
      {
        executor_id: 'gpu-1',
        state: 'busy',
        superseded: false,
        connected: true,
        draining: false,
        drained_by: null,
        drained_at: null,
        drain_reason: null,
        drain_deadline: null,
        lasting: true,
        types: ['transcode'],
        labels: ['gpu'],
        reserve: [],
        own: { labels: ['cpu'], reserve: [] },
        override: { labels: ['gpu'], reserve: null, by: null },
        ready: { ok: true, reason: null, disk_bytes: null },
        task_id: 'job-1',
        attempt: 2,
        current: {
          task_id: 'job-1',
          attempt: 2,
          type: 'echo',
          state: 'running',
          since: '2026-11-20T12:00:00.000Z',
        },
        booked: null,
        last: [],
        host: 'h',
        pid: 7,
        sdk: 'soda/2',
        version: '1.4',
        connected_at: '2026-11-20T12:00:00.000Z',
        last_seen_at: '2026-11-20T12:00:01.000Z',
        lease_until: null,
        loop_lag_ms: 1.5,
        rss_bytes: 1000,
        cpu_percent: 42,
      },
    ]);
  });

  it('until when one that is silent may come back', async () => {
    const lastSeenAt = Date.parse('2026-11-20T12:00:01.000Z');
    face.master.fleet.push({ ...sampleExecutor, connected: false, lastSeenAt, leaseMs: 30_000 });
    const { executors } = (await face.get(`${BASE}/executors`)).json<{ executors: unknown[] }>();
    expect(executors[0]).to.deep.include({
      ...{ state: 'connecting', connected: false, ready: null },
      lease_until: '2026-11-20T12:00:31.000Z',
    });
  });

  it('also of those that are drained and gone', async () => {
    face.master.gone.push(recordOf('gpu-2', { drainedAt: AT, reserve: ['gold'] }));
    const { executors } = (await face.get(`${BASE}/executors`)).json<{ executors: unknown[] }>();
    expect(executors).to.have.length(1);
    expect(executors[0]).to.deep.include({
      executor_id: 'gpu-2',
      state: 'gone',
      draining: true,
      reserve: ['gold'],
      override: { labels: null, reserve: ['gold'], by: null },
    });
  });

  it('are not where the question is wrong', async () => {
    const cases = [
      ['POST', `${BASE}/executor/gpu-1/drain`, { reason: 'x'.repeat(257) }],
      ['DELETE', `${BASE}/executor/a%20b`, undefined],
      ['GET', `${BASE}/executor/a%20b`, undefined],
      ['GET', `${BASE}/executor/gpu-1/tasks?state=odd`, undefined],
      ['GET', `${BASE}/executor/gpu-1/tasks?cursor=odd`, undefined],
      ['GET', `${BASE}/executors?state=odd`, undefined],
      ['GET', `${BASE}/executors?selector=gpu`, undefined],
      ['GET', `${BASE}/executors?limit=201`, undefined],
      ['GET', `${BASE}/executors?cursor=odd`, undefined],
      ['GET', `${BASE}/executors?colour=red`, undefined],
    ] as const;
    for (const [method, path, body] of cases) {
      expect((await face.call(method, path, { body })).status, path).to.equal(400);
    }
    expect(face.master.commands).to.deep.equal([]);
  });
});
