/** Bookings at a whole master, over HTTP and WebSocket, and through restarts of it. */
import { expect } from 'chai';
import type { BookingView, WhyView } from '@soda-scheduler/protocol';
import { createExecutor, type Executor } from '@soda-scheduler/executor-sdk';
import { errorsOf, masterSuite } from '../../helpers/system/in-process.ts';
import { eventually } from '../../helpers/system/wait.ts';

describe('bookings', function () {
  this.timeout(30_000);
  const executors: Executor[] = [];
  const started = new Map<string, number>();
  const release = new Map<string, () => void>();

  // Before the master stops: they take leave of it.
  afterEach(async () => {
    for (const finish of release.values()) finish();
    await Promise.all(executors.splice(0).map((executor) => executor.stop()));
    started.clear();
    release.clear();
  });
  const { call, restart, submit, putType, url } = masterSuite();

  async function join(id: string, labels: string[] = []): Promise<Executor> {
    const executor = createExecutor({
      url: url(),
      id,
      labels,
      handleSignals: false,
      drainTimeoutMs: 0,
    });
    executor.handle('push', async (task, { signal }) => {
      started.set(task.id, Date.now());
      await new Promise<void>((resolve) => {
        release.set(task.id, resolve);
        signal.addEventListener('abort', () => resolve());
      });
      signal.throwIfAborted();
    });
    await executor.start();
    executors.push(executor);
    await eventually('it is here', async () => {
      const { body } = await call('GET', `/executor/${id}`);
      return body['connected'] === true;
    });
    return executor;
  }

  const isIdle = async (id: string) =>
    (await call('GET', `/executor/${id}`)).body['state'] === 'idle';
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
  const book = (fields: object = {}) =>
    call('POST', '/booking', {
      type: 'push',
      from: inSeconds(3600),
      to: inSeconds(7200),
      group: 'news',
      ...fields,
    });
  const idOf = async (fields: object = {}) => (await book(fields)).body['booking_id'] as string;
  const get = async (id: string) =>
    (await call('GET', `/booking/${id}`)).body as unknown as BookingView;

  it('refuses what is wrong, field by field, and what does not fit, with windows that are free', async () => {
    await join('a');
    const wrong = await book({ to: inSeconds(60), count: 0, every: 1, zone: 'Mars/Base' });
    expect(wrong.status).to.equal(400);
    expect(errorsOf(await book({ to: inSeconds(60) }))).to.deep.equal([
      'to: expected later than `from`',
    ]);
    expect(errorsOf(await book({ from: inSeconds(-60) })).join()).to.match(
      /^from: expected not before now/,
    );
    expect(errorsOf(await book({ every: 60 }))).to.deep.equal([
      'every: expected at least as long as the window',
    ]);
    expect(errorsOf(await book({ zone: 'Europe/Berlin' })).join()).to.match(
      /^zone: expected with `every`/,
    );
    const from = new Date(Date.now() + 3_600_000);
    const at = (hours: number) => new Date(from.getTime() + hours * 3_600_000).toISOString();
    expect((await book({ from: at(0), to: at(1) })).status).to.equal(201);
    const full = await book({ from: at(0.5), to: at(1.5) });
    expect([full.status, full.body['code']]).to.deep.equal([409, 409]);
    const free = full.body['free'] as { from: string; to: string; count: number }[];
    expect(free.map((one) => one.from)).to.include(at(1));
    expect((await book({ from: at(1), to: at(2) })).status, 'touches').to.equal(201);
  });

  it('starts a task at its second, on an executor that was bound before', async () => {
    await join('a');
    const from = Date.now() + 2_500;
    const id = await idOf({ from, to: from + 60_000, lead: 1, hold: 2 });
    expect(await get(id)).to.deep.include({ type: 'push', group: 'news', count: 1 });
    const accepted = await submit({ id: 'live', type: 'push', booking: id });
    expect(accepted.status).to.equal(202);
    expect((await call('GET', '/task/live')).body).to.include({
      booking: id,
      due_at: new Date(from).toISOString(),
    });
    await eventually('it is bound', async () => (await get(id)).executors.join() === 'a');
    await submit({ id: 'other', type: 'push' });
    await eventually('it has started', () => started.get('live'));
    expect(started.get('live')).to.be.within(from, from + 1_000);
    expect(started.has('other')).to.equal(false);
    await call('DELETE', `/booking/${id}`);
    await eventually('its task has ended', async () => {
      return (await call('GET', '/task/live')).body['state'] === 'canceled';
    });
    await eventually('the other has started', () => started.has('other'));
    expect((await get(id)).state).to.equal('canceled');
  });

  it('outlives the master in each of its states', async () => {
    await join('a');
    const from = Date.now() + 4_000;
    const id = await idOf({ from, to: from + 60_000, lead: 2, hold: 60 });
    await submit({ id: 'live', type: 'push', booking: id });
    await restart();
    expect(await get(id)).to.include({ state: 'planned', tasks: 1 });
    await eventually('it is bound', async () => (await get(id)).executors.join() === 'a');
    await restart();
    expect(await get(id)).to.deep.include({ state: 'bound', executors: ['a'] });
    await eventually('it has started', () => started.get('live'));
    await restart();
    await submit({ id: 'other', type: 'push' });
    expect((await get(id)).executors).to.deep.equal(['a']);
    release.get('live')?.();
    await eventually('it has ended', async () => {
      return (await call('GET', '/task/live')).body['state'] === 'succeeded';
    });
    expect(started.has('other'), 'what is of no booking').to.equal(false);
    await call('DELETE', `/booking/${id}`);
    await restart();
    expect(await get(id)).to.include({ state: 'canceled' });
    await eventually('the other has started', () => started.has('other'));
  });

  it('says what is wrong with a task for it', async () => {
    await join('a');
    const id = await idOf();
    const of = (task: object) => submit({ type: 'push', booking: id, ...task });
    expect((await of({ booking: 'bk-0000000000000000' })).status).to.equal(404);
    expect(errorsOf(await of({ type: 'echo' }))).to.deep.equal([
      'task.booking: is for tasks of type push',
    ]);
    expect(errorsOf(await of({ run_at: inSeconds(9_000) })).join()).to.match(
      /^task.run_at: expected before/,
    );
    expect(errorsOf(await of({ booking: 'tomorrow' })).join()).to.match(
      /expected the id of a booking/,
    );
    const other = { task: { type: 'push', booking: id }, user: { group: 'sport' } };
    expect((await call('POST', '/task/submit', other)).status).to.equal(404);
    await call('DELETE', `/booking/${id}`);
    expect((await of({})).status).to.equal(409);
    expect((await call('DELETE', `/booking/${id}`)).status).to.equal(409);
  });

  it('changes and retries its tasks as it allows', async () => {
    await join('a');
    const id = await idOf();
    await submit({ id: 'live', type: 'push', booking: id });
    const change = (fields: object) => call('PATCH', '/task/live', fields);
    expect(await change({ run_at: inSeconds(9_000) })).to.include({ status: 400 });
    expect(await change({ user: { group: 'sport' } })).to.include({ status: 400 });
    expect(errorsOf(await change({ booking: id })).join()).to.match(/^booking: a task keeps it/);
    expect((await change({ run_at: inSeconds(4_000) })).status).to.equal(200);
    await call('POST', '/task/live/cancel');
    expect((await get(id)).tasks).to.equal(0);
    expect((await call('POST', '/task/live/retry')).status).to.equal(200);
    expect((await get(id)).tasks).to.equal(1);
    await call('POST', '/task/live/cancel');
    await call('DELETE', `/booking/${id}`);
    const { status, body } = await call('POST', '/task/live/retry');
    expect(status).to.equal(409);
    expect(body['detail']).to.match(/^.*booking bk-[0-9a-f]{16}: it is over: canceled; copy it/);
    const copy = await call('POST', '/task/live/copy', {});
    expect(copy.status).to.equal(202);
  });

  it('tells a waiting task, and of an executor, that a booking has it', async () => {
    await join('a');
    const from = Date.now() + 60_000;
    const id = await idOf({ from, to: from + 60_000, lead: 1 });
    const booked = async () => (await call('GET', '/executor/a')).body['booked'];
    await submit({ id: 'other', type: 'push' });
    const other = (await call('GET', '/task/other')).body['waiting'] as { reason: string };
    expect(other.reason).to.equal('reserved');
    expect(await booked()).to.deep.equal({
      booking_id: id,
      state: 'kept',
      until: new Date(from - 1_000).toISOString(),
    });
    await call('DELETE', `/booking/${id}`);
    expect(await booked()).to.equal(null);
    await eventually('the other has started', () => started.has('other'));
    release.get('other')?.();
    await eventually('it has ended', () => isIdle('a'));
    const now = await idOf({ from: Date.now() + 500, to: from, lead: 1 });
    await submit({ id: 'next', type: 'push' });
    const why = (await call('GET', '/task/next/why')).body as unknown as WhyView;
    expect([why.reason, why.details.booking]).to.deep.equal(['reserved', now]);
    expect(why.message).to.match(/^1 fitting executor, which booking bk-\w+ has for another/);
    expect(await booked()).to.deep.equal({
      booking_id: now,
      state: 'bound',
      until: new Date(from).toISOString(),
    });
  });

  it('is beyond a token of another group', async () => {
    await join('a');
    const tokenOf = async (name: string, scope: object, role = 'submit') => {
      const { body } = await call('POST', '/tokens', { name, role, scope });
      return { authorization: `Bearer ${String(body['token'])}` };
    };
    const news = await tokenOf('news', { groups: ['news'] });
    const sport = await tokenOf('sport', { groups: ['sport'] });
    const typed = await tokenOf('typed', { types: ['echo'] });
    const sportDesk = await tokenOf('sport-desk', { groups: ['sport'] }, 'operate');
    const newsDesk = await tokenOf('news-desk', { groups: ['news'] }, 'operate');
    const mine = { type: 'push', from: inSeconds(60), to: inSeconds(7200), group: 'news' };
    expect((await call('POST', '/booking', mine, sport)).status).to.equal(403);
    expect((await call('POST', '/booking', mine, typed)).status).to.equal(403);
    const made = await call('POST', '/booking', { ...mine, every: 86_400 }, news);
    expect(made.status).to.equal(201);
    const id = made.body['booking_id'] as string;
    const path = `/booking/${id}`;
    const skip = { from: inSeconds(86_460) };
    for (const other of [sport, typed, sportDesk]) {
      expect((await call('GET', path, undefined, other)).status).to.equal(404);
      expect((await call('DELETE', path, undefined, other)).status).to.equal(404);
      expect((await call('POST', `${path}/skip`, skip, other)).status).to.equal(404);
      expect((await call('GET', '/bookings', undefined, other)).body['bookings']).to.be.empty;
    }
    expect((await call('GET', path, undefined, news)).body['state']).to.equal('planned');
    const list = (await call('GET', '/bookings', undefined, news)).body['bookings'];
    expect((list as BookingView[]).map(({ booking_id }) => booking_id)).to.deep.equal([id]);
    // Executors are everybody's: that one is kept shows, for what does not.
    const bookedFor = async (who: Record<string, string>) =>
      (await call('GET', '/executor/a', undefined, who)).body['booked'] as { booking_id: string };
    expect((await bookedFor(sportDesk)).booking_id).to.equal(null);
    expect((await bookedFor(newsDesk)).booking_id).to.equal(id);
    const task = { task: { id: 'theirs', type: 'push' }, user: { group: 'sport' } };
    expect((await call('POST', '/task/submit', task, sport)).status).to.equal(202);
    const why = (await call('GET', '/task/theirs/why', undefined, sportDesk)).body;
    expect(why['reason']).to.equal('reserved');
    expect(JSON.stringify(why)).to.not.contain(id);
    expect(why['message']).to.match(/^1 idle executor, kept for a booking,/);
    const booked = { task: { type: 'push', booking: id }, user: { group: 'sport' } };
    expect((await call('POST', '/task/submit', booked, sport)).status).to.equal(404);
    const [{ from }] = (await get(id)).windows as { from: string }[] as [{ from: string }];
    expect((await call('POST', `${path}/skip`, { from }, newsDesk)).status).to.equal(200);
    expect((await call('DELETE', path, undefined, news)).status).to.equal(200);
  });

  it('is listed, skipped, and seen by its window', async () => {
    await join('a');
    const from = new Date(Date.now() + 3_600_000).toISOString();
    const id = await idOf({ from, to: inSeconds(7200), every: 86_400, zone: 'Europe/Berlin' });
    const view = await get(id);
    expect(view.windows).to.have.length(29);
    const next = view.windows[0]?.from ?? '';
    expect((await call('POST', `/booking/${id}/skip`, { from: next })).status).to.equal(200);
    expect((await get(id)).skipped).to.deep.equal([next]);
    expect((await get(id)).windows[0]?.from).to.equal(view.windows[1]?.from);
    expect(
      errorsOf(await call('POST', `/booking/${id}/skip`, { from: inSeconds(60) })).join(),
    ).to.match(/^from: /);
    const list = async (query: string) => {
      const { body } = await call('GET', `/bookings?${query}`);
      return (body['bookings'] as BookingView[]).map(({ booking_id }) => booking_id);
    };
    expect(await list('type=push&group=news')).to.deep.equal([id]);
    expect(await list('group=sport')).to.deep.equal([]);
    expect(await list(`from=${inSeconds(0)}&to=${inSeconds(60)}`)).to.deep.equal([]);
    expect(await list(`from=${inSeconds(0)}&to=${inSeconds(4000)}`)).to.deep.equal([id]);
  });

  it('takes back tasks of a preemptible type', async () => {
    expect((await putType('push', { preemptible: true })).status).to.equal(201);
    await join('a');
    await submit({ id: 'long', type: 'push' });
    await eventually('it has started', () => started.has('long'));
    const from = Date.now() + 3_000;
    const id = await idOf({ from, to: from + 60_000, lead: 1 });
    await submit({ id: 'live', type: 'push', booking: id });
    await eventually('it has started', () => started.get('live'));
    expect(started.get('live')).to.be.within(from, from + 1_000);
    expect((await call('GET', '/task/long')).body).to.deep.include({
      state: 'waiting',
      attempts_used: 0,
    });
  });
});
