/** Whether the store counts as one that answers. */
import { expect } from 'chai';
import { CommitConflict, TermLost } from '../../../master/application/ports.ts';
import { StoreWatch } from '../../../master/application/store-watch.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

describe('StoreWatch', () => {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const always = (): number => Number.POSITIVE_INFINITY;
  const fails = (watch: StoreWatch, error: Error) =>
    watch.ask(() => Promise.reject(error)).catch(() => undefined);

  it('says from a question that failed until one is answered that the store does not answer', async () => {
    const watch = new StoreWatch(new ManualClock(), silent, always);
    expect(watch.answers).to.equal(true);
    await fails(watch, new Error('connection lost'));
    expect(watch.answers).to.equal(false);
    await watch.ask(() => Promise.resolve());
    expect(watch.answers).to.equal(true);
  });

  it('says since when and why, without the address', async () => {
    const clock = new ManualClock();
    const watch = new StoreWatch(clock, silent, always);
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
    expect(await failed(refused)).to.deep.equal({
      reason: 'ECONNREFUSED',
      since,
      isDiskFull: false,
    });
    const full = Object.assign(new Error('no room'), { code: 'SQLITE_FULL' });
    const wrapped = new Error('commit', { cause: full });
    expect(await failed(wrapped)).to.deep.equal({
      reason: 'its disk is full',
      since,
      isDiskFull: true,
    });
    const other = new Error('password of soda@db.internal');
    expect(await failed(other)).to.deep.equal({
      reason: 'the log says why',
      since,
      isDiskFull: true,
    });
    await watch.ask(() => Promise.resolve());
    expect(watch.trouble).to.equal(null);
  });

  it('takes a refusal for an answer', async () => {
    const watch = new StoreWatch(new ManualClock(), silent, always);
    for (const refusal of [new TermLost('over'), new CommitConflict('other rows')]) {
      await fails(watch, new Error('connection lost'));
      await fails(watch, refusal);
      expect(watch.answers, refusal.name).to.equal(true);
    }
  });

  it('says so of a question that stays open, and has no alarm once it is answered', async () => {
    const clock = new ManualClock();
    const watch = new StoreWatch(clock, silent, always);
    let answer = () => undefined as void;
    const asked = watch.ask(() => new Promise<void>((resolve) => (answer = resolve)));
    clock.advance(1_500);
    expect(watch.answers).to.equal(false);
    answer();
    await asked;
    expect(watch.answers).to.equal(true);
    expect(clock.nextAlarmAt).to.equal(Number.POSITIVE_INFINITY);
  });

  it('does not take for silence that a question waits here for others', async () => {
    const clock = new ManualClock();
    let handedAt: number | null = null;
    const owedMs = (): number => (handedAt === null ? 0 : clock.now() - handedAt);
    const watch = new StoreWatch(clock, silent, owedMs);
    let answer: () => void = () => undefined;
    const asked = watch.ask(() => new Promise<void>((resolve) => (answer = resolve)));
    clock.advance(2_000);
    expect(watch.answers, 'it was handed nothing').to.equal(true);
    handedAt = clock.now();
    clock.advance(1_499);
    expect(watch.answers).to.equal(true);
    clock.advance(1);
    expect(watch.answers, 'it was handed it so long ago').to.equal(false);
    answer();
    await asked;
    expect(watch.answers).to.equal(true);
    expect(clock.nextAlarmAt).to.equal(Number.POSITIVE_INFINITY);
  });

  it('lets nobody wait for longer, also for a question that waits for others', async () => {
    const clock = new ManualClock();
    const watch = new StoreWatch(clock, silent, () => 0);
    let answer: () => void = () => undefined;
    const asked = watch.ask(() => new Promise<void>((resolve) => (answer = resolve)));
    const refused = watch.whileItAnswers(new Promise<void>(() => undefined)).catch(String);
    clock.advance(3_500);
    expect(await refused).to.match(/busy with others, and the outcome is unknown/);
    expect(watch.answers).to.equal(true);
    answer();
    await asked;
  });
});
