/** Jobs over HTTP: set, fired, run by hand, changed back, and out of reach of whoever may not have them. */
import { API_BASE, jsonAt } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { type Answer, errorsOf, masterSuite } from '../../helpers/system/in-process.ts';

const template = { task: { type: 'echo', params: { n: 1 } }, user: { group: 'news' } };
/** Not before the tests are over. */
const RARE = { every: 86_400 };

describe('jobs over HTTP', () => {
  const { call, listTasks, restart, url } = masterSuite();
  const put = (name: string, body: object, headers?: Record<string, string>) =>
    call('PUT', `/job/${name}`, { template, ...body }, headers);

  /** The first run that a trigger has begun, once it is told of. */
  async function fired(job: string): Promise<string> {
    for (let after = 0; ; ) {
      const { body } = await call('GET', `/events?kind=task.submitted&after=${after}&wait=30`);
      const events = body['events'] as { seq: number; task_id: string; data?: { job?: string } }[];
      const found = events.find(
        ({ data, task_id }) => data?.job === job && !/manual/.test(task_id),
      );
      if (found !== undefined) return found.task_id;
      after = Number(body['next']);
    }
  }

  it('are made, kept as they are by an equal body, and changed by version', async () => {
    const made = await put('nightly', { triggers: [RARE], tags: ['a'] });
    expect([made.status, made.etag]).to.deep.equal([201, '"1"']);
    const { triggers, next } = made.body as { triggers: object[]; next: object[] };
    expect(triggers[0]).to.include({
      zone: 'UTC',
      grace: 60,
      misfire: 'once',
      overlap: 'queue_one',
    });
    expect(next).to.have.length(5);
    const again = await put('nightly', { tags: ['a'], triggers: [RARE] });
    expect([again.status, again.body['version']]).to.deep.equal([200, 1]);
    expect(again.body['next']).to.deep.equal(next);
    expect((await put('nightly', {}, { 'if-match': '"7"' })).status).to.equal(412);
    expect((await put('nightly', {}, { 'if-match': '"1"' })).body['version']).to.equal(2);
    const back = await call('POST', '/job/nightly/rollback', { version: 1 });
    expect([back.body['version'], back.body['tags']]).to.deep.equal([3, ['a']]);
    const { versions } = (await call('GET', '/job/nightly/versions')).body as { versions: [] };
    expect(versions).to.have.length(3);
  });

  it('are refused in a zone that may be another, behind no job, and where params are too large', async () => {
    const inZone = (zone: string) => put('zoned', { triggers: [{ cron: '0 3 * * *', zone }] });
    for (const zone of ['CST', 'EST']) {
      expect(errorsOf(await inZone(zone))[0]).to.match(/zone.*as Asia\/Shanghai: .ST may/);
    }
    for (const zone of ['UTC', 'GMT', 'Etc/GMT-8', 'Asia/Shanghai']) {
      expect((await inZone(zone)).status, zone).to.be.oneOf([200, 201]);
    }
    await put('another', {});
    expect((await call('GET', '/jobs?cursor=zzz')).status).to.equal(400);
    const { body: first } = await call('GET', '/jobs?limit=1');
    const { body: next } = await call(
      'GET',
      `/jobs?limit=1&cursor=${String(first['next_cursor'])}`,
    );
    const names = [first, next].flatMap(({ jobs }) => (jobs as { name: string }[])[0]?.name);
    expect(names).to.deep.equal(['another', 'zoned']);
    const task = { type: 'echo', params: { text: 'x'.repeat(300 * 1024) } };
    expect((await put('large', { template: { ...template, task } })).status).to.equal(413);
    const ended = await put('another', { triggers: [{ ...RARE, end_at: 1_000 }] });
    expect(ended.body['warnings']).to.deep.equal([
      'trigger default has no times any more: its `end_at` has passed',
    ]);
    expect((await put('another', {}, { 'if-match': '"1"' })).status).to.equal(412);
    expect((await put('another', {}, { 'if-match': '"2"' })).status).to.equal(200);
  });

  it('are refused with what is wrong in them', async () => {
    const triggers = [
      { name: 'a', cron: '0 0 30 2 *' },
      { name: 'a', cron: '0 3 * * *', zone: 'Mars/Base' },
      { name: 'c', every: 60, only_on: 'nowhere' },
    ];
    const refused = await put('bad', { triggers });
    expect(refused.status).to.equal(400);
    const errors = errorsOf(refused);
    expect(errors.map((error) => error.split(':')[0])).to.deep.equal([
      'triggers[0].cron',
      'triggers[1].zone',
      'triggers[1].name',
      'triggers[2].only_on',
    ]);
    const zone = { triggers: [{ cron: '0 3 * * *', zone: 'Asia/Shanghia' }] };
    expect(errorsOf(await put('bad', zone))[0]).to.match(/; did you mean Asia\/Shanghai\?$/);
    const fixed = { template: { task: { type: 'echo', id: 'x' }, user: { group: 'g' } } };
    expect(errorsOf(await call('PUT', '/job/bad', fixed))[0]).to.match(/^template\.task\.id/);
    expect((await call('GET', '/job/bad')).status).to.equal(404);
  });

  it('are refused with what is the matter, and each field once', async () => {
    const errors = async (triggers: object[], more = {}) =>
      errorsOf(await put('bad', { triggers, ...more }));
    expect(await errors([{ every: 2, jitter: 20 }])).to.deep.equal([
      'triggers[0].jitter: expected at most the interval, which is 2 s',
    ]);
    expect(await errors([{ cron: '*/10 8,9 * * 1', jitter: 601 }])).to.deep.equal([
      'triggers[0].jitter: expected at most the least time between two of its times, which is 600 s',
    ]);
    expect(await errors([{ ...RARE, max_runs: 1e300 }])).to.deep.equal([
      'triggers[0].max_runs: expected a number of at most 1000000000, given 1e+300',
    ]);
    const old = { from: '1960-01-01T00:00:00Z', to: '1961-01-01T00:00:00Z' };
    expect(await errors([], { blackouts: [old] })).to.deep.equal([
      'blackouts[0].to: expected later than 1970-01-01',
    ]);
    const many = Array.from({ length: 1_000 }, () => RARE);
    expect(await errors(many)).to.deep.equal([
      'triggers: expected at most 32 entries, given a list of 1000 entries',
    ]);
    await put('nightly', { triggers: [RARE] });
    const listening = ['succeeded', 'failed', 'canceled', 'expired'].map((state) => {
      return { name: state, on: { job: 'nightly', state } };
    });
    const twins = [...listening, { name: 'again', on: { job: 'nightly' } }];
    expect(await errors(twins)).to.deep.equal([
      'triggers: succeeded and again wait for the same: runs of nightly that have ended as succeeded',
    ]);
    for (let at = 0; at < 25; at++) {
      expect((await put(`l${at}`, { triggers: listening })).status).to.equal(201);
    }
    expect(errorsOf(await put('l25', { triggers: listening }))).to.deep.equal([
      'triggers: at most 100 triggers wait for ends of one job: 100 of others do for nightly',
    ]);
    const open = await call('POST', '/job/nightly/backfill', { from: '2026-01-01T00:00:00Z' });
    expect(errorsOf(open)[0]).to.match(/^to: required: expected ISO 8601/);
    const unknown = await call('GET', '/job/nightly/occurrences?trigger=zz');
    expect(errorsOf(unknown)).to.deep.equal(['trigger: expected one of default']);
    const rollback = await call('POST', '/job/nowhere/rollback', { version: 1 });
    expect(rollback.body['detail']).to.equal('There is no such job.');
  });

  it('run by their triggers, also after a restart, and tell what became of each time', async () => {
    await put('tick', { triggers: [{ every: 1 }], overlap: 'allow' });
    const first = await fired('tick');
    const shown = (await call('GET', `/task/${first}`)).body;
    expect(shown['job']).to.include({ name: 'tick', version: 1, trigger: 'default' });
    await restart();
    await call('POST', '/job/tick/disable');
    const { occurrences } = (await call('GET', '/job/tick/occurrences?limit=200')).body as {
      occurrences: { nominal: string; state: string; to: string; count: number }[];
    };
    const times = occurrences.map(({ nominal }) => Date.parse(nominal)).reverse();
    const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    // Whatever was missed is merged with the next: no time is there twice, and none is left out.
    const covered = occurrences.reduce((sum, { count }) => sum + count, 0);
    const [oldest = 0] = times;
    const newest = Math.max(...occurrences.map(({ to }) => Date.parse(to)));
    expect(gaps.every((gap) => gap > 0)).to.equal(true);
    expect(covered).to.equal(1 + (newest - oldest) / 1_000);
    expect((await call('GET', '/job/tick')).body).to.include({ enabled: false, next_at: null });
  });

  it('are shown with their template as it was written, so that what is put again is the same', async () => {
    const exact =
      '{ "task":{"type":"echo","params":{"n":1.0,"big":12345678901234567890}},"user":{"group":"g"} }';
    const headers = { 'content-type': 'application/json' };
    const request = (method: string, path: string, body?: string) =>
      fetch(`${url()}${API_BASE}/job/exact${path}`, {
        method,
        headers,
        ...(body !== undefined && { body }),
      });
    const blackouts = [{ from: '2030-12-01T00:00:00.000Z', to: '2030-12-02T00:00:00.000Z' }];
    const others = `"triggers":[{"every":86400}],"blackouts":${JSON.stringify(blackouts)}`;
    const made = await request('PUT', '', `{"template":${exact},${others}}`);
    expect(made.status).to.equal(201);
    const text = await (await request('GET', '')).text();
    expect(jsonAt(text, ['template'])).to.equal(exact);
    const again = jsonAt(text, ['request']) ?? '';
    expect(await (await request('PUT', '', again)).json()).to.include({ version: 1 });
    const versions = await (await request('GET', '/versions')).text();
    expect(jsonAt(versions, ['versions', 0, 'request', 'template'])).to.equal(exact);
    expect(jsonAt(versions, ['versions', 0, 'request', 'blackouts'])).to.equal(
      JSON.stringify(blackouts),
    );
    expect((await request('PUT', '', `{"template":${exact},"triggers":[]}`)).status).to.equal(200);
    const back = await request('POST', '/rollback', '{"version":1}');
    expect(await back.json()).to.deep.include({ version: 3, request: JSON.parse(again) as object });
  });

  it('run by hand once for each key, with other params', async () => {
    await put('manual', {});
    const run = () => call('POST', '/job/manual/run', { params: { n: 2 }, key: 'k' });
    const first = await run();
    expect([first.status, first.body['task_id']]).to.deep.equal([202, 'manual.manual.k']);
    expect((await run()).body).to.include({ task_id: 'manual.manual.k', occurrence: null });
    const other = await call('POST', '/job/manual/run', { params: { n: 3 }, key: 'k' });
    const detail = 'Task manual.manual.k is a run by that key with other params.';
    expect([other.status, other.body['detail']]).to.deep.equal([409, detail]);
    expect((await call('GET', '/task/manual.manual.k')).body['params']).to.deep.equal({ n: 2 });
    expect((await call('GET', '/job/manual')).body).to.include({ running: 1 });
    const list = async (query: string) => {
      return (await listTasks(`/tasks?${query}`)).length;
    };
    expect([await list('job=manual'), await list('job=manua')]).to.deep.equal([1, 0]);
    await call('POST', '/task/manual.manual.k/cancel');
    expect(await list('job=manual&state=canceled')).to.equal(1);
    expect((await call('DELETE', '/job/manual')).status).to.equal(200);
  });

  it('run by hand under no id that a task of somebody else has', async () => {
    await put('hand', {});
    const task = { type: 'echo', id: 'hand.manual.k' };
    await call('POST', '/task/submit', { task, user: { group: 'g' } });
    const { status, body } = await call('POST', '/job/hand/run', { key: 'k' });
    expect(status).to.equal(409);
    expect(body['detail']).to.equal('There is a task hand.manual.k that is no run of this job.');
  });

  it('run at their time under another id where a task of somebody else has theirs', async () => {
    // Both are there before, on a slow machine too.
    const at = Date.now() + 8_000;
    const id = `timed.default.${new Date(at).toISOString().replaceAll(/[-:]|\.000/g, '')}`;
    const task = { type: 'echo', id, run_at: '2030-01-01T00:00:00Z' };
    const stranger = { task, user: { group: 'g' } };
    expect((await call('POST', '/task/submit', stranger)).status).to.equal(202);
    await put('timed', { triggers: [{ at }] });
    const ran = await fired('timed');
    expect(ran).to.not.equal(id);
    const { body } = await call('GET', '/job/timed/occurrences');
    const told = (body['occurrences'] as object[])[0];
    expect(told).to.include({ state: 'ran', task_id: ran, nominal: new Date(at).toISOString() });
    expect((await call('GET', `/task/${id}`)).body['state']).to.equal('waiting');
  });

  it('leave out a time that somebody skips, until it is to come again', async () => {
    const { body } = await put('nightly', { triggers: [RARE] });
    const [{ nominal } = { nominal: '' }] = body['next'] as { nominal: string }[];
    const next = async () => {
      const answer = await call('GET', '/job/nightly/next?count=1');
      return (answer.body['next'] as { outcome: string }[])[0]?.outcome;
    };
    expect((await call('POST', '/job/nightly/skip', { nominal })).status).to.equal(200);
    expect(await next()).to.equal('skipped');
    await call('POST', '/job/nightly/unskip', { nominal });
    expect(await next()).to.equal('runs');
    const other = await call('POST', '/job/nightly/skip', { nominal: '2030-01-01T00:00:00.001Z' });
    expect(other.status).to.equal(400);
  });

  it('run when a run of another has ended so', async () => {
    await put('second', { triggers: [{ on: { job: 'first', state: 'canceled' } }] });
    await put('first', {});
    await call('POST', '/job/first/run', { key: 'k' });
    await call('POST', '/task/first.manual.k/cancel');
    expect(await fired('second')).to.match(/^second\.default\./);
  });

  it('are not set so that each end is followed by another run for ever, and tell what never fires', async () => {
    const on = (job: string) => ({ triggers: [{ on: { job } }] });
    const first = await put('pp', on('qq'));
    expect(first.body['warnings']).to.deep.equal([
      'there is no job qq: trigger default does not run until there is one',
    ]);
    expect((await put('qq', on('rr'))).status).to.equal(201);
    expect((await call('GET', '/job/pp')).body['warnings']).to.deep.equal([]);
    expect(errorsOf(await put('rr', on('pp')))).to.deep.equal([
      'triggers: a job does not wait for itself: rr waits for pp, pp for qq, qq for rr',
    ]);
    expect((await call('GET', '/job/rr')).status).to.equal(404);
    const late = await put('late', { triggers: [{ at: '2020-01-01T00:00:00Z' }] });
    expect(late.body['warnings']).to.deep.equal([
      'the time of trigger default had passed when it was set: it never runs by itself, a backfill can run it',
    ]);
  });

  it('warn of a trigger of which no time is left, whatever leaves them out', async () => {
    const warnings = async (name: string, trigger: object) =>
      (await put(name, { triggers: [trigger] })).body['warnings'];
    const none = ['trigger default is not fired for years: none of its times is left to it'];
    await call('PUT', '/calendar/plain', { days: [], weekend: [] });
    const days = { calendar: 'plain', label: 'a label that no day has' };
    expect(await warnings('labelled', { cron: '0 3 * * *', only_on: days })).to.deep.equal(none);
    const farAway = { cron: '0 0 29 2 *', start_at: '9996-03-01T00:00:00Z' };
    expect(await warnings('far', farAway)).to.deep.equal(none);
    expect(await warnings('daily', { cron: '0 3 * * *' })).to.deep.equal([]);
    expect(await warnings('off', { ...farAway, enabled: false })).to.deep.equal([]);
  });

  it('show whoever may see only a group nothing of when they had another', async () => {
    const made = await call('POST', '/tokens', {
      name: 'sport',
      role: 'operate',
      scope: { groups: ['sport'] },
    });
    const headers = { authorization: `Bearer ${String(made.body['token'])}` };
    const as = (method: string, route: string, body?: object) => call(method, route, body, headers);
    const sample = (group: string, n: number, more = {}) => {
      const task = { type: 'echo', params: { n } };
      return { template: { task, user: { group } }, ...more };
    };
    const pausing = { pause_after: 1, triggers: [RARE] };
    await call('PUT', '/job/moved', sample('news', 1, pausing));
    await call('POST', '/job/moved/run', { key: 'old' });
    await call('POST', '/task/moved.manual.old/cancel');
    await call('PUT', '/job/moved', sample('sport', 2, pausing));
    await call('PUT', '/job/moved', sample('sport', 3, pausing));
    await as('POST', '/job/moved/run', { key: 'new' });
    const seen = (await as('GET', '/job/moved')).body;
    const { versions } = (await as('GET', '/job/moved/versions')).body as {
      versions: { version: number }[];
    };
    const { occurrences } = (await as('GET', '/job/moved/occurrences')).body as {
      occurrences: { task_id: string }[];
    };
    expect(versions.map(({ version }) => version)).to.deep.equal([3, 2]);
    expect(occurrences.map((one) => one.task_id)).to.deep.equal(['moved.manual.new']);
    expect((seen['runs'] as typeof occurrences).map((one) => one.task_id)).to.deep.equal([
      'moved.manual.new',
    ]);
    expect([seen['recent'], seen['last_ended_at']]).to.deep.equal([[], null]);
    expect((await as('POST', '/job/moved/rollback', { version: 1 })).status).to.equal(404);
    const all = (await call('GET', '/job/moved/occurrences')).body['occurrences'];
    expect(all).to.have.length(2);
    await call('PATCH', '/task/moved.manual.new', { user: { group: 'news' } });
    const [run] = (await as('GET', '/job/moved')).body['runs'] as { state: string | null }[];
    expect(run?.state).to.equal(null);
  });

  it('listen to no job that may not be seen, in the words for one that is not there', async () => {
    const scope = { groups: ['sport'] };
    const made = await call('POST', '/tokens', { name: 'sport', role: 'operate', scope });
    const headers = { authorization: `Bearer ${String(made.body['token'])}` };
    const listen = (job: string) => {
      const sport = { ...template, user: { group: 'sport' } };
      const body = { template: sport, triggers: [{ on: { job } }] };
      return call('PUT', '/job/spy', body, headers);
    };
    await put('theirs', {});
    expect(errorsOf(await listen('theirs'))).to.deep.equal([
      'triggers[0].on.job: there is no job theirs',
    ]);
    expect(errorsOf(await listen('nowhere'))).to.deep.equal([
      'triggers[0].on.job: there is no job nowhere',
    ]);
  });

  it('are out of reach of whoever may not submit what they do', async () => {
    const scope = { groups: ['sport'] };
    const made = await call('POST', '/tokens', { name: 'sport', role: 'operate', scope });
    const token = String(made.body['token']);
    const as = async (method: string, route: string, body?: object): Promise<Answer['status']> => {
      const headers = { authorization: `Bearer ${token}` };
      return (await call(method, route, body, headers)).status;
    };
    await put('theirs', {});
    expect(await as('PUT', '/job/mine', { template })).to.equal(403);
    expect(await as('GET', '/job/theirs')).to.equal(404);
    expect(await as('POST', '/job/theirs/run', {})).to.equal(404);
    const sport = { ...template, user: { group: 'sport' } };
    expect(await as('PUT', '/job/theirs', { template: sport })).to.equal(404);
    expect(await as('PUT', '/job/mine', { template: sport })).to.equal(201);
  });
});
