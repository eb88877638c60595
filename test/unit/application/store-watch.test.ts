/** Whether the store counts as one that answers. */
import { expect } from 'chai';
import { CommitConflict, TermLost } from '../../../master/application/ports.ts';
import { StoreWatch } from '../../../master/application/store-watch.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

describe('StoreWatch', () => {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const fails = (watch: StoreWatch, error: Error) =>
    watch.ask(() => Promise.reject(error)).catch(() => undefined);

  it('says from a question that failed until one is answered that the store does not answer', async () => {
    const watch = new StoreWatch(new ManualClock(), silent);
    expect(watch.answers).to.equal(true);
    await fails(watch, new Error('connection lost'));
    expect(watch.answers).to.equal(false);
    await watch.ask(() => Promise.resolve());
    expect(watch.answers).to.equal(true);
  });

  it('says since when and why, without the address', async () => {
    const clock = new ManualClock();
    const watch = new StoreWatch(clock, silent);
    expect(watch.trouble).to.equal(null);
    const since = clock.now();
    const failed = async (error: Error) => {
      await fails(watch, error);
      clock.advance(1_000);
      return watch.trouble;
    };
    const refused = Object.assign(new Error('connect ECONNREFUSED db.internal'), {
      code: 'ECONNREFUSED',
    });
    expect(await failed(refused)).to.deep.equal({ reason: 'ECONNREFUSED', since });
    const full = Object.assign(new Error('no room'), { code: 'SQLITE_FULL' });
    const wrapped = new Error('commit', { cause: full });
    expect(await failed(wrapped)).to.deep.equal({ reason: 'its disk is full', since });
    const other = new Error('password of soda@db.internal');
    expect(await failed(other)).to.deep.equal({ reason: 'the log says why', since });
    await watch.ask(() => Promise.resolve());
    expect(watch.trouble).to.equal(null);
  });

  it('takes a refusal for an answer', async () => {
    const watch = new StoreWatch(new ManualClock(), silent);
    for (const refusal of [new TermLost('over'), new CommitConflict('other rows')]) {
      await fails(watch, new Error('connection lost'));
      await fails(watch, refusal);
      expect(watch.answers, refusal.name).to.equal(true);
    }
  });

  it('says so of a question that stays open, and has no alarm once it is answered', async () => {
    const clock = new ManualClock();
    const watch = new StoreWatch(clock, silent);
    let answer = () => undefined as void;
    const asked = watch.ask(() => new Promise<void>((resolve) => (answer = resolve)));
    clock.advance(1_500);
    expect(watch.answers).to.equal(false);
    answer();
    await asked;
    expect(watch.answers).to.equal(true);
    expect(clock.nextAlarmAt).to.equal(Number.POSITIVE_INFINITY);
  });
});
