/**
 * The master is killed in each state of a booking: nothing is lost, nobody is bound twice, and the window begins on its
 * second. And what is alerted of bookings is seen raised, and over.
 */
import { expect } from 'chai';
import {
  describeOnEither,
  describeSystem,
  outcomesOf,
  type System,
  user,
} from '../../helpers/system/system.ts';
import { eventually } from '../../helpers/system/wait.ts';

/** Long enough for a master to be started again within each on a busy machine. */
const PATIENT = { SODA_LEASE: '60', SODA_CANCEL_GRACE: '60' };
/** What it may be late by while there is a master: as busy as the machine may be. */
const LATE_MS_MAX = 2_000;

const of = { type: 'work', ...user };

/** Until as many executors are back: when they are. */
async function kill(system: System, executorCount: number): Promise<number> {
  await system.master.end('SIGKILL');
  await system.startMaster();
  await eventually('its executors are back', async () => {
    const executors = await system.client.executors();
    return executors.filter(({ connected }) => connected).length === executorCount;
  });
  return Date.now();
}

const bookedOf = async (system: System, state: 'kept' | 'bound') =>
  (await system.client.executors())
    .filter(({ booked }) => booked?.state === state)
    .map(({ executor_id }) => executor_id);

/** The one that has it, by its own view and by that of executors. */
async function boundTo(system: System, id: string): Promise<string> {
  const { executors } = await system.client.bookings.get(id);
  expect(executors).to.have.length(1);
  expect(await bookedOf(system, 'bound')).to.deep.equal(executors);
  return executors[0] ?? '';
}

async function boundCount(system: System): Promise<number> {
  let count = 0;
  for await (const _ of system.client.events({ kind: 'booking.bound' }, { follow: false }))
    count += 1;
  return count;
}

describeOnEither('a booking whose master is killed', ({ start }) => {
  it('is planned, held, bound, run and over as if nothing had been', async () => {
    const system = await start(PATIENT);
    const executors = [await system.executor({ id: 'a' }), await system.executor({ id: 'b' })];
    const from = Date.now() + 75_000;
    const window = { from, to: from + 600_000, lead: 25, hold: 60 };
    const { booking_id: id } = await system.client.bookings.create({ ...of, ...window });
    const task = { booking: id };
    await system.submit([[{ hold: true }]], { ...task, id: 'live' });
    await system.submit([[]], { ...task, id: 'second' });

    await kill(system, 2);
    expect(await system.client.bookings.get(id)).to.include({ state: 'planned', tasks: 2 });

    const isHeld = async () => (await bookedOf(system, 'kept')).length === 1;
    await eventually('one is kept', isHeld);
    await kill(system, 2);
    await eventually('one is kept', isHeld, 30_000);
    await system.submit([[{ hold: true }]], { id: 'endless' });
    await system.started('endless');

    await eventually('it is bound', async () => {
      return (await system.client.bookings.get(id)).executors.length > 0;
    });
    const bound = await boundTo(system, id);
    const backAt = await kill(system, 2);
    expect(await boundTo(system, id)).to.equal(bound);

    const { executor, at } = await system.started('live');
    expect(executor).to.equal(bound);
    expect(at).to.be.within(from, Math.max(from, backAt) + LATE_MS_MAX);
    expect(await boundCount(system)).to.equal(1);

    await kill(system, 2);
    expect(await boundTo(system, id)).to.equal(bound);
    expect(await system.task('live')).to.include({ state: 'running', attempt: 1 });
    expect(await system.task('second')).to.include({ state: 'waiting' });

    // Both are to end with it: one is told to, one waits.
    await system.client.bookings.cancel(id);
    await kill(system, 2);
    expect(await system.client.bookings.get(id)).to.include({ state: 'canceled' });
    for (const taskId of ['live', 'second']) {
      expect(await system.ended(taskId)).to.include({ state: 'canceled' });
    }
    expect(system.runs('live')).to.have.length(1);
    expect(system.runs('second')).to.have.length(0);
    expect(await bookedOf(system, 'bound')).to.deep.equal([]);
    for (const each of executors) each.write('endless');
    expect(await system.ended('endless')).to.include({ state: 'succeeded', attempt: 1 });
  });

  it('gets its executor from a task that was being given back for it, with its checkpoint', async () => {
    const system = await start(PATIENT);
    await system.client.types.put('work', { owner: 'tests', preemptible: true });
    const executor = await system.executor({ id: 'a' });
    const checkpoint = { done: 7 };
    const long = [[{ checkpoint }, { ignore: true }, { fail: {} }], [{ hold: true }]] as const;
    await system.submit(long, { id: 'long', retry: { max_attempts: 1 } });
    await system.started('long');
    const from = Date.now() + 30_000;
    const window = { from, to: from + 600_000, lead: 25, hold: 60 };
    const { booking_id: id } = await system.client.bookings.create({ ...of, ...window });
    await system.submit([[]], { booking: id, id: 'live' });
    await eventually('it is bound', async () => {
      return (await system.client.bookings.get(id)).executors.length > 0;
    });
    const backAt = await kill(system, 1);
    // Where it was away for long it was given up, and comes again.
    await eventually('it is bound', async () => {
      return (await system.client.bookings.get(id)).executors.length > 0;
    });
    expect(await boundTo(system, id)).to.equal('a');
    expect(await system.task('long')).to.include({ state: 'running', attempt: 1 });

    executor.write('long');
    await eventually('it was given back', async () => {
      return (await system.task('long')).state === 'waiting';
    });
    const { at } = await system.started('live');
    expect(at).to.be.within(from, Math.max(from, backAt) + LATE_MS_MAX);
    expect(await system.ended('live')).to.include({ state: 'succeeded', attempt: 1 });
    await system.client.bookings.cancel(id);
    const again = await system.started('long', 2);
    expect(again.checkpoint).to.deep.equal(checkpoint);
    executor.write('long');
    const ended = await system.ended('long');
    expect(ended).to.include({ state: 'succeeded' });
    expect(outcomesOf(ended)).to.deep.equal(['returned', 'succeeded']);
  });
});

describeSystem('alerts of bookings', ({ start }) => {
  const raised = async (system: System, state: 'raised' | 'cleared') => {
    const kinds: string[] = [];
    for await (const alert of system.client.alerts.list({ state })) kinds.push(alert.kind);
    return kinds.filter((kind) => kind.startsWith('booking_')).toSorted();
  };

  it('are raised where an executor dies and nobody is free, and where a pause wins; and are over', async () => {
    const system = await start();
    const first = await system.executor({ id: 'a' });
    const from = Date.now() + 300_000;
    const window = { from, to: from + 60_000, lead: 600 };
    const { booking_id: id } = await system.client.bookings.create({ ...of, ...window });
    await eventually('it is bound', async () => {
      return (await system.client.bookings.get(id)).executors.length > 0;
    });
    await first.end('SIGKILL');
    await system.client.types.pause('work', { reason: 'maintenance' });
    await eventually('both are raised', async () => {
      const kinds = await raised(system, 'raised');
      return kinds.join() === 'booking_paused,booking_short';
    });
    expect(await system.client.bookings.get(id)).to.include({ state: 'bound', short: 1 });

    await system.executor({ id: 'b' });
    await system.client.types.resume('work');
    await eventually('both are over', async () => {
      const kinds = await raised(system, 'cleared');
      return kinds.join() === 'booking_paused,booking_short';
    });
    expect(await raised(system, 'raised')).to.deep.equal([]);
    expect((await system.client.bookings.get(id)).executors).to.deep.equal(['b']);
  });
});
