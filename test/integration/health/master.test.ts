/** What of the health of the work is a matter of the master: its store, its disk and its duties, over HTTP. */
import { API_BASE, type HealthView } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { healthOf } from '../../../master/domain/health/health.ts';
import { Outcomes } from '../../../master/domain/health/outcomes.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import { atOnce } from '../../../master/domain/pieces.ts';
import { Scheduler } from '../../helpers/domain.ts';
import { HttpFace, noTokens } from '../../helpers/http-face.ts';

const GIB = 2 ** 30;

describe('the health of a master', () => {
  const tokens = { ...noTokens, submitToken: 'submit-token-0123', adminToken: 'admin-token-0123' };
  let face: HttpFace;
  const { state, now } = new Scheduler();
  const flow = atOnce(healthOf(state, new Outcomes(now), now, ALL));
  /** The same with a task that nobody runs. */
  const scheduler = new Scheduler();
  scheduler.submit({ id: 'a' });
  const stuck = atOnce(healthOf(scheduler.state, new Outcomes(now), now, ALL));
  const health = async (token = tokens.adminToken) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await face.get(`${API_BASE}/health`, headers);
    expect(answer.status).to.equal(200);
    return answer.json<HealthView>();
  };

  beforeEach(async () => {
    face = await new HttpFace({ configured: tokens }).open();
    face.master.flow = flow;
  });
  afterEach(() => face.close());

  it('is stopped while the store is away, and says how old the figures are', async () => {
    const since = now - 90_000;
    face.namespaces.storeTrouble = { reason: 'its disk is full', since, isDiskFull: true };
    const seenFlows = new Set<unknown>();
    for (const remembered of [flow, stuck, null]) {
      face.master.flow = remembered;
      const known = remembered !== null;
      const seen = await health();
      seenFlows.add(seen.flow && `${seen.flow.state}: ${seen.flow.message}`);
      expect(seen).to.deep.include({
        status: 'stopped',
        message: 'The store does not answer: nothing is accepted, started or ended.',
      });
      expect(seen.findings[0]).to.deep.include({
        kind: 'store_away',
        cause: 'Of the store: its disk is full.',
        since: new Date(since).toISOString(),
        command: 'soda doctor',
      });
      expect(seen.figures).to.deep.include(
        known
          ? { fresh: false, age: 90, at: new Date(since).toISOString() }
          : { fresh: false, age: null, at: null },
      );
    }
    const stopped = 'stopped: The store does not answer: nothing is accepted, started or ended.';
    expect([...seenFlows]).to.deep.equal([stopped, null]);
  });

  it('is stopped while it begins, and while it is shutting down', async () => {
    face.master.flow = null;
    expect((await health()).findings[0]?.kind).to.equal('starting');
    face.master.flow = flow;
    face.master.status = 'draining';
    const { status, findings } = await health();
    expect([status, findings[0]?.kind]).to.deep.equal(['stopped', 'shutting_down']);
  });

  it('is degraded by a disk that is nearly full: of a large one by less than 5 GiB', async () => {
    const kinds = async (freeBytes: number, totalBytes: number) => {
      face.disk = { freeBytes, totalBytes };
      return (await health()).findings.map(({ kind }) => kind);
    };
    expect(await kinds(5 * GIB, 10_000 * GIB)).to.deep.equal([]);
    expect(await kinds(4 * GIB, 10_000 * GIB)).to.deep.equal(['disk_low']);
    expect(await kinds(GIB, 10 * GIB)).to.deep.equal([]);
    expect(await kinds(0.4 * GIB, 10 * GIB)).to.deep.equal(['disk_low']);
    const { status, message } = await health();
    expect(status).to.equal('degraded');
    expect(message).to.equal('The disk of the database is nearly full: 409 MiB are free, 4 %.');
  });

  it('is degraded by a duty that has failed, and tells admins alone why', async () => {
    const duty = face.duties.add('retention', 3_600_000);
    await duty.run(() => Promise.reject(new Error('10.0.0.7 refused'))).catch(() => undefined);
    const seen = await health();
    expect(seen.status).to.equal('degraded');
    expect(seen.findings[0]).to.deep.include({
      kind: 'duty',
      subject: 'duty/retention',
      cause: 'Error: 10.0.0.7 refused',
      command: 'soda doctor',
    });
    expect((await health(tokens.submitToken)).findings[0]?.cause).to.equal(null);
  });
});
