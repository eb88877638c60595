/** Executors get ready for a booking that has them: at a whole master, by the SDK and frame by frame. */
import { expect } from 'chai';
import type { Booking } from '@soda-scheduler/executor-sdk';
import type { BookingView, MasterFrame, WhyView } from '@soda-scheduler/protocol';
import { RawExecutor } from '../../helpers/raw-executor.ts';
import { deferred, watchedExecutor } from '../../helpers/sdk/watched-executor.ts';
import { masterSuite } from '../../helpers/system/in-process.ts';
import { eventually } from '../../helpers/system/wait.ts';

type Announced = Extract<MasterFrame, { type: 'booking' }>;

describe('executors that are bound to a booking', function () {
  this.timeout(30_000);
  const closing: (() => Promise<unknown> | void)[] = [];
  // Before the master stops: they take leave of it.
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  const { call, restart, submit, url } = masterSuite();

  const book = async (fields: object = {}) => {
    const from = Date.now() + 60_000;
    const asked = { type: 'push', group: 'news', from, to: from + 60_000, lead: 120, ...fields };
    return (await call('POST', '/booking', asked)).body['booking_id'] as string;
  };
  const get = async (id: string) =>
    (await call('GET', `/booking/${id}`)).body as unknown as BookingView;

  /** How it was asked to get ready, and whether it was told that this is over. */
  async function join(id: string, ready: () => true | string = () => true) {
    const prepared: Booking[] = [];
    const signals = new Set<AbortSignal>();
    const executor = watchedExecutor(url(), { id, ready, drainTimeoutMs: 0 });
    const prepare = (booking: Booking, signal: AbortSignal): void => {
      prepared.push(booking);
      signals.add(signal);
    };
    executor.handle('push', () => 'done', { prepare });
    closing.push(() => executor.stop());
    await executor.start();
    await eventually(`${id} is ready`, async () => {
      const { body } = await call('GET', `/executor/${id}`);
      return body['state'] === 'idle' && (body['ready'] as { ok: boolean } | null)?.ok === true;
    });
    return { executor, prepared, signals };
  }

  it('are told what waits for it, what comes later, and that it is over', async () => {
    const { prepared, signals, executor } = await join('a');
    const from = Date.now() + 60_000;
    const id = await book({ from, to: from + 60_000, lead: 1 });
    const big = 12345678901234567890n;
    await submit({ id: 'first', type: 'push', booking: id, params: { file: 'a.mp4' } });
    await call('DELETE', `/booking/${id}`);
    expect(prepared, 'it was not bound').to.deep.equal([]);

    const next = await book({ from, to: from + 60_000 });
    await eventually('it is told', () => prepared.length > 0);
    expect(prepared.at(-1)).to.deep.equal({
      id: next,
      type: 'push',
      fromAt: from,
      toAt: from + 60_000,
      tasks: [],
    });
    expect((await executor.told('bound')).message).to.contain(`bound to booking ${next} from 2`);
    const text = `{"task":{"id":"live","type":"push","booking":"${next}","params":{"n":${big}}},"user":{"group":"news"}}`;
    const headers = { 'content-type': 'application/json' };
    const path = `${url()}/scheduler/v2/task/submit`;
    expect((await fetch(path, { method: 'POST', headers, body: text })).status).to.equal(202);
    await eventually('it is told of the task', () => prepared.length > 1);
    const [live] = prepared.at(-1)?.tasks ?? [];
    expect(live).to.deep.include({ id: 'live', type: 'push', paramsText: `{"n":${big}}` });
    const changed = await call('PATCH', '/task/live', { params: { n: 2 } });
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
    await eventually('it is told of the change', () => {
      return prepared.at(-1)?.tasks[0]?.paramsText === '{"n":2}';
    });

    expect([...signals].map(({ aborted }) => aborted)).to.deep.equal([false]);
    await call('DELETE', `/booking/${next}`);
    await executor.told('released');
    expect([...signals].map(({ aborted }) => aborted)).to.deep.equal([true]);
  });

  it('go on getting ready over a restart of the master', async () => {
    const { prepared, signals, executor } = await join('a');
    const id = await book();
    await executor.told('bound');
    await restart();
    // It is told of that by the new session.
    await submit({ id: 'live', type: 'push', booking: id });
    await eventually('it is told of the task', () => prepared.length > 1);
    expect(prepared.map(({ tasks }) => tasks.length)).to.deep.equal([0, 1]);
    expect([...signals].map(({ aborted }) => aborted)).to.deep.equal([false]);
    expect(await get(id)).to.deep.include({ executors: ['a'], short: 0 });
  });

  it('begin to get ready for the next booking once they have left off for the one before', async () => {
    const steps: string[] = [];
    const first = deferred();
    const prepare = async ({ id: of }: Booking): Promise<void> => {
      steps.push(`begin ${of}`);
      // It takes its time, whatever it is told.
      if (steps.length === 1) await first.promise;
      steps.push(`end ${of}`);
    };
    const executor = watchedExecutor(url(), { id: 'a', drainTimeoutMs: 0 });
    executor.handle('push', () => 'done', { prepare });
    closing.push(() => executor.stop());
    await executor.start();
    const one = await book();
    await executor.told('bound');
    await call('DELETE', `/booking/${one}`);
    await executor.told('released');
    const other = await book();
    await eventually('it is bound anew', () => {
      return executor.events.some(
        ({ type, message }) => type === 'bound' && message.includes(other),
      );
    });
    first.resolve();
    await eventually('it is ready for that', () => steps.includes(`end ${other}`));
    expect(steps).to.deep.equal([one, other].flatMap((of) => [`begin ${of}`, `end ${of}`]));
  });

  it('make room for another as soon as they are not ready, which is said meanwhile', async () => {
    let answer: true | string = true;
    const { executor, signals } = await join('a', () => answer);
    const id = await book();
    await submit({ id: 'live', type: 'push', booking: id });
    await executor.told('bound');
    answer = 'the encoder is gone';
    executor.checkReady();
    const unready = { executor_id: 'a', reason: 'not_ready', message: 'the encoder is gone' };
    await eventually('it is seen', async () => (await get(id)).unready.length > 0);
    expect(await get(id)).to.deep.include({ executors: ['a'], unready: [unready], short: 1 });

    const other = await join('b');
    await other.executor.told('bound');
    await executor.told('released');
    expect([...signals].map(({ aborted }) => aborted)).to.deep.equal([true]);
    expect(await get(id)).to.deep.include({ executors: ['b'], unready: [], short: 0 });
    expect(other.prepared.at(-1)?.tasks.map((task) => task.id)).to.deep.equal(['live']);
  });

  it('are waited for by its tasks, which know what keeps them', async () => {
    let answer: true | string = true;
    const { executor } = await join('a', () => answer);
    const id = await book({ from: Date.now() + 1_500, lead: 1 });
    await executor.told('bound');
    answer = 'the encoder is gone';
    executor.checkReady();
    await eventually('it is seen', async () => (await get(id)).unready.length > 0);
    await submit({ id: 'live', type: 'push', booking: id });
    const why = await eventually('it is due', async () => {
      const { body } = await call('GET', '/task/live/why');
      return body['reason'] === 'not_ready' && (body as unknown as WhyView);
    });
    expect(why.message).to.equal(
      `1 fitting executor, which is not ready. a says: the encoder is gone. Booking ${id} has the next that is free in their place.`,
    );
    answer = true;
    executor.checkReady();
    await eventually('it runs', async () => {
      return (await call('GET', '/task/live')).body['state'] === 'succeeded';
    });
  });

  it('say so in a log, and are asked whether they are ready, when that fails', async () => {
    let asked = 0;
    const ready = (): true => {
      asked += 1;
      return true;
    };
    const executor = watchedExecutor(url(), { id: 'a', ready, drainTimeoutMs: 0 });
    const prepare = (): never => {
      asked = 0;
      throw new Error('a.mp4: no such file');
    };
    executor.handle('push', () => 'done', { prepare });
    closing.push(() => executor.stop());
    await executor.start();
    const id = await book();
    const { message } = await executor.told('prepare_failed');
    expect(message).to.equal(`prepare failed for booking ${id}: Error: a.mp4: no such file`);
    await eventually('it is asked', () => asked > 0);
    expect((await get(id)).executors).to.deep.equal(['a']);
  });

  it('hear of it in a frame, where they name the feature: once more in a new session, and that it is over', async () => {
    const port = Number(new URL(url()).port);
    const hello = { types: ['push'], features: ['booking'] };
    const raw = await RawExecutor.join(port, { executor_id: 'new', ...hello });
    const old = await RawExecutor.join(port, { executor_id: 'old', types: ['push'] });
    closing.push(() => old.socket.close());
    const from = Date.now() + 60_000;
    const id = await book({ from, to: from + 60_000, count: 2 });
    const frame: Announced = await raw.next('booking');
    const announced = { id, type: 'push', from_at: from, to_at: from + 60_000, tasks: [] };
    expect(frame.booking).to.deep.equal(announced);
    await old.settled();
    const end = async (one: RawExecutor) => {
      one.socket.close();
      await one.closed;
    };
    expect(old.texts.some((text) => text.includes('"booking"'))).to.equal(false);

    // The same process, in a session of its own: it is told what holds, whatever it says of itself.
    await end(raw);
    const again = { executor_id: 'new', ...hello };
    const back = await RawExecutor.join(port, { ...again, booking: 'bk-ffffffffffffffff' });
    expect((await back.next('booking')).booking).to.deep.equal(announced);
    await call('DELETE', `/booking/${id}`);
    expect((await back.next('booking')).booking).to.equal(null);
    await end(back);
    const late = await RawExecutor.join(port, { ...again, booking: id });
    closing.push(() => late.socket.close());
    expect((await late.next('booking')).booking).to.equal(null);
  });
});
