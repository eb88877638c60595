/** How the SDK asks its program whether it can work. */
import type { Readiness } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { tmpdir } from 'node:os';
import { ReadinessCheck } from '../../../executor-sdk/readiness.ts';
import { ManualClock, settled } from '../../helpers/manual-clock.ts';
import { deferred } from '../../helpers/sdk/watched-executor.ts';

describe('the check whether an executor is ready', () => {
  let clock: ManualClock;
  let said: Readiness[];
  let askedAt: number[];
  const seconds = (): number[] => askedAt.map((at) => (at - begunAt) / 1000);
  let begunAt: number;
  let answer: () => unknown;
  let check: ReadinessCheck;

  beforeEach(() => {
    clock = new ManualClock();
    begunAt = clock.now();
    said = [];
    askedAt = [];
    answer = () => true;
    const ask = () => {
      askedAt.push(clock.now());
      return answer() as true;
    };
    check = new ReadinessCheck({ ready: ask, clock, onChange: (now) => said.push(now) });
  });

  it('asks every 30 s, every 5 s while it is not ready, and says what has changed', async () => {
    check.start();
    await clock.pass(60_000);
    expect(seconds()).to.deep.equal([0, 30, 60]);
    answer = () => 'no space left';
    await clock.pass(40_000);
    expect(seconds().slice(3)).to.deep.equal([90, 95, 100]);
    answer = () => true;
    await clock.pass(40_000);
    expect(seconds().slice(6)).to.deep.equal([105, 135]);
    const full = { ok: false, reason: 'no space left' };
    expect(said).to.deep.equal([{ ok: true }, full, { ok: true }]);
    expect(check.problem).to.equal(null);
  });

  it('asks when it is told to, but not twice within a second', async () => {
    check.start();
    await settled();
    check.checkSoon();
    check.checkSoon();
    await clock.pass(999);
    expect(seconds()).to.deep.equal([0]);
    await clock.pass(1);
    expect(seconds()).to.deep.equal([0, 1]);
    await clock.pass(5_000);
    check.checkSoon();
    await clock.pass(0);
    expect(seconds()).to.deep.equal([0, 1, 6]);
  });

  it('is not ready while there is no answer, and does not ask twice at once', async () => {
    const slow = deferred<true>();
    answer = () => slow.promise;
    check.start();
    await clock.pass(10_000);
    expect(said).to.deep.equal([{ ok: false, reason: '`ready` has not answered for 10 s' }]);
    check.checkSoon();
    await clock.pass(100_000);
    expect(askedAt).to.have.length(1);
    answer = () => true;
    slow.resolve(true);
    await clock.pass(1_000);
    expect(seconds()).to.deep.equal([0, 111]);
    expect(said[1]).to.deep.equal({ ok: true });
  });

  for (const [what, wrong, reason] of [
    ['throws', () => Promise.reject(new Error('EACCES')), 'Error: EACCES'],
    ['answers false', () => false, '`ready` answered boolean, which is neither true nor text'],
    ['says too much', () => 'x'.repeat(1_000), 'x'.repeat(256)],
  ] as const) {
    it(`is not ready where the program ${what}`, async () => {
      answer = wrong;
      check.start();
      await settled();
      expect(said).to.deep.equal([{ ok: false, reason }]);
      expect(check.problem).to.equal(reason);
    });
  }

  it('says how much disk is free, and that a directory cannot be looked at', async () => {
    const news: boolean[] = [];
    const onChange = (now: Readiness, isNews: boolean) => {
      said.push(now);
      news.push(isNews);
    };
    const ready = () => true as const;
    new ReadinessCheck({ ready, scratchDir: tmpdir(), clock, onChange }).start();
    while (said.length === 0) await settled();
    expect(said[0]?.ok).to.equal(true);
    expect(said[0]?.disk_bytes)
      .to.be.a('number')
      .and.satisfy((n: number) => n % 2 ** 20 === 0);
    new ReadinessCheck({ ready, scratchDir: '/no/such', clock, onChange }).start();
    while (said.length === 1) await settled();
    expect(said[1]?.reason).to.match(/^Error: ENOENT/);
    expect(news).to.deep.equal([true, true]);
  });

  it('says nothing once it has been stopped', async () => {
    const slow = deferred<true>();
    answer = () => slow.promise;
    check.start();
    check.stop();
    slow.resolve(true);
    await clock.pass(100_000);
    expect([said, askedAt.length]).to.deep.equal([[], 1]);
  });
});
