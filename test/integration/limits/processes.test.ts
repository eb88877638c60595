/** A shared limit with real processes: it holds whoever is killed, the master or an executor. */
import { expect } from 'chai';
import { describeSystem, type System } from '../../helpers/system/system.ts';
import { eventually } from '../../helpers/system/wait.ts';

const HOLD = [[{ hold: true }], [{ hold: true }]] as const;

describeSystem('a shared limit', ({ start }) => {
  const take = (system: System, id: string) =>
    system.submit(HOLD, { id, uses: [{ limit: 'encoder', n: 1 }] });
  const usedOf = async (system: System) => (await system.client.limits.get('encoder')).used;
  const reasonOf = async (system: System, id: string) => (await system.task(id)).waiting?.reason;

  it('holds through kill -9 of the master and of the executor that has of it', async () => {
    // A master takes its time to start where the machine is busy.
    const system = await start({ SODA_LEASE: '15' });
    await system.client.limits.put('encoder', { max: 1, per: 'host' });
    const first = await system.executor({ id: 'a' });
    await take(system, 'one');
    await system.started('one');
    const second = await system.executor({ id: 'b' });
    await take(system, 'two');
    expect(await reasonOf(system, 'two')).to.equal('limited');

    await system.master.end('SIGKILL');
    await system.startMaster();
    expect(await usedOf(system), 'before anybody is back').to.equal(1);
    await system.connected(first);
    await system.connected(second);
    await system.ended(await system.submit([[]]));
    expect(await reasonOf(system, 'two'), 'beside an idle executor').to.equal('limited');
    expect([await usedOf(system), system.runs('two').length]).to.deep.equal([1, 0]);

    const killedAt = Date.now();
    await first.end('SIGKILL');
    expect(await usedOf(system), 'until its lease has ended').to.equal(1);
    const again = await eventually(
      'the next one has started',
      () => [...system.runs('one'), ...system.runs('two')].find(({ executor }) => executor === 'b'),
      60_000,
    );
    expect(again.at - killedAt).to.be.above(10_000);
    expect(await usedOf(system)).to.equal(1);

    second.write(again.task);
    await system.ended(again.task);
    const other = again.task === 'one' ? 'two' : 'one';
    await eventually('the other has started', () =>
      system.runs(other).find(({ executor }) => executor === 'b'),
    );
    second.write(other);
    await system.ended(other);
    await eventually('all of it is free', async () => (await usedOf(system)) === 0);
  });
});
