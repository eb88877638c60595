/** Past times of a job that are run again, over HTTP: shown first, run behind live work, and gone on with after a restart. */
import { expect } from 'chai';
import { errorsOf, masterSuite } from '../../helpers/system/in-process.ts';

const template = { task: { type: 'echo' }, user: { group: 'news' } };
const DAYS = { from: '2026-03-01T00:00:00Z', to: '2026-03-04T00:00:00Z' };
const iso = (text: string): string => new Date(text).toISOString();
const idOf = (day: number, rerun = 1) => `nightly.default.2026030${day}T030000Z.r${rerun}`;

describe('a backfill over HTTP', () => {
  const { call, restart } = masterSuite();
  const ask = (body: object) => call('POST', '/job/nightly/backfill', { ...DAYS, ...body });
  const cancel = (day: number, rerun?: number) => call('POST', `/task/${idOf(day, rerun)}/cancel`);

  beforeEach(async () => {
    await call('PUT', '/job/nightly', { template, triggers: [{ cron: '0 3 * * *' }] });
  });

  async function begin(body: object = {}): Promise<string> {
    const { token } = (await ask(body)).body;
    const begun = await ask({ ...body, token });
    expect(begun.status).to.equal(202);
    return String(begun.body['operation_id']);
  }

  /** Once it has no more runs than may be. */
  async function operation(id: string): Promise<Record<string, unknown>> {
    return (await call('GET', `/operation/${id}`)).body;
  }

  /** Its task has been submitted: told of in the feed. */
  async function submitted(id: string): Promise<void> {
    for (let after = 0; ; ) {
      const { body } = await call('GET', `/events?kind=task.submitted&after=${after}&wait=30`);
      if ((body['events'] as { task_id: string }[]).some(({ task_id }) => task_id === id)) return;
      after = Number(body['next']);
    }
  }

  async function over(id: string): Promise<Record<string, unknown>> {
    for (let after = 0; ; ) {
      const { body } = await call('GET', `/events?kind=operation.ended&after=${after}&wait=30`);
      const events = body['events'] as { data: { operation_id: string } }[];
      if (events.some(({ data }) => data.operation_id === id)) return operation(id);
      after = Number(body['next']);
    }
  }

  async function records(): Promise<string[]> {
    const { body } = await call('GET', '/job/nightly/occurrences');
    const all = body['occurrences'] as { nominal: string; rerun: number; state: string }[];
    return all.map(({ nominal, rerun, state }) => `${nominal.slice(0, 10)} r${rerun} ${state}`);
  }

  it('runs a time under another id where a task of somebody else has its own', async () => {
    const task = { type: 'echo', id: idOf(2), run_at: '2030-01-01T00:00:00Z' };
    await call('POST', '/task/submit', { task, user: { group: 'g' } });
    await begin({ max_running: 3 });
    await submitted(idOf(3));
    expect(await records()).to.deep.equal([
      '2026-03-03 r1 ran',
      '2026-03-02 r1 ran',
      '2026-03-01 r1 ran',
    ]);
    const { body } = await call('GET', '/job/nightly/occurrences');
    const ids = (body['occurrences'] as { task_id: string }[]).map(({ task_id }) => task_id);
    expect([ids[0], ids[2]]).to.deep.equal([idOf(3), idOf(1)]);
    expect(ids[1]).to.match(/^nightly\.default\.20260302T030000Z\.r1\./);
  });

  it('is shown, then runs each time once, one after another, also over a restart', async () => {
    const preview = await ask({});
    expect([preview.status, preview.body['count']]).to.deep.equal([200, 3]);
    expect(preview.body).to.include({
      first: '2026-03-01T03:00:00.000Z',
      last: '2026-03-03T03:00:00.000Z',
      exact: true,
      covered: 0,
    });
    expect(await records()).to.deep.equal([]);
    const id = await begin();
    await submitted(idOf(1));
    const audit = (await call('GET', '/audit?limit=1')).body['changes'] as object[];
    const { from, to } = DAYS;
    expect(audit[0]).to.deep.include({ action: 'job.backfill', target: id, count: 3 });
    const asked = { job: 'nightly', trigger: 'default', which: 'missing', max_running: 1 };
    expect(audit[0]).to.have.deep.property('filter', {
      ...asked,
      from: iso(from),
      to: iso(to),
    });
    const task = (await call('GET', `/task/${idOf(1)}`)).body;
    expect(task['priority']).to.equal(-86_400);
    expect(task['job']).to.deep.equal({
      name: 'nightly',
      version: 1,
      trigger: 'default',
      nominal: '2026-03-01T03:00:00.000Z',
      rerun: 1,
      operation_id: id,
    });
    expect((await call('GET', '/job/nightly')).body).to.include({ running: 0, pending: 0 });
    expect((await call('GET', `/task/${idOf(2)}`)).status).to.equal(404);
    await restart();
    await cancel(1);
    await submitted(idOf(2));
    await cancel(2);
    await submitted(idOf(3));
    await cancel(3);
    const ended = await over(id);
    expect(ended).to.include({ action: 'backfill', state: 'done', total: 3, done: 0, failed: 3 });
    expect(ended['filter']).to.include({ job: 'nightly', which: 'missing' });
    const days = ['2026-03-03', '2026-03-02', '2026-03-01'];
    expect(await records()).to.deep.equal(days.map((day) => `${day} r1 ran`));
    expect((await call('GET', '/job/nightly')).body['recent']).to.deep.equal([]);
  });

  it('runs what is missing, what has not succeeded, or all, and several at a time', async () => {
    const first = await begin({ max_running: 3 });
    for (const day of [1, 2, 3]) {
      await submitted(idOf(day));
      await cancel(day);
    }
    await over(first);
    const counts = async (which: string) => (await ask({ which })).body;
    expect(await counts('missing')).to.include({ count: 0, covered: 3, first: null });
    expect(await counts('missing_failed')).to.include({ count: 3 });
    const again = await begin({ which: 'all', max_running: 2 });
    await submitted(idOf(1, 2));
    await submitted(idOf(2, 2));
    // Of these two a run has not ended.
    expect(await counts('all')).to.include({ count: 1, covered: 2 });
    expect((await operation(again))['state']).to.equal('running');
    await call('POST', `/operation/${again}/cancel`);
    await cancel(1, 2);
    await cancel(2, 2);
    expect((await call('GET', `/task/${idOf(3, 2)}`)).status).to.equal(404);
  });

  it('leaves out what calendars, black-outs and the schedule do not have', async () => {
    const days = [{ date: '2026-03-02', kind: 'off', label: 'Holiday' }];
    await call('PUT', '/calendar/free', { days, weekend: [] });
    const blackouts = [{ from: '2026-03-03T00:00:00Z', to: '2026-03-03T12:00:00Z' }];
    const triggers = [
      { cron: '0 3 * * *', except: 'free' },
      { name: 'after', delay: 60 },
    ].map((one, at) => ({ name: `t${at}`, ...one }));
    await call('PUT', '/job/nightly', { template, triggers, blackouts });
    const seen = (await ask({ trigger: 't0' })).body;
    expect(seen).to.include({ count: 1, left_out: 2, first: '2026-03-01T03:00:00.000Z' });
    expect(errorsOf(await ask({ trigger: 'after' }))[0]).to.match(/^trigger: .*ends of runs/);
    expect(errorsOf(await ask({ trigger: 'nine' }))[0]).to.match(/^trigger: expected one of/);
  });

  it('is refused with what is wrong in it', async () => {
    const { token } = (await ask({})).body;
    const wrong = async (body: object) => errorsOf(await ask(body))[0]?.split(':')[0];
    expect(await wrong({ token, which: 'all' })).to.equal('token');
    expect(await wrong({ to: '2026-02-01T00:00:00Z' })).to.equal('to');
    expect(await wrong({ to: '2999-01-01T00:00:00Z' })).to.equal('to');
    expect(await wrong({ from: '1970-01-01T00:00:00Z' })).to.equal('from');
    await call('PUT', '/job/nightly', { template, triggers: [{ cron: '* * * * *' }] });
    expect(errorsOf(await ask({ token }))[0]).to.match(/changed since its preview/);
    expect(errorsOf(await ask({ from: '2025-01-01T00:00:00Z' }))[0]).to.match(
      /^to: one goes through 10,000 times at most: those before 2025-01-07T22:39:00\.001Z/,
    );
  });
});
