/** How far attempts are: written within a second, and never much of it in one piece. */
import { expect } from 'chai';
import type { Output } from '../../../master/domain/effects.ts';
import { Scheduler, SECOND, written } from '../../helpers/domain.ts';

const COUNT = 200;
const LARGE = JSON.stringify('x'.repeat(8_000));

describe('progress', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
    for (let at = 0; at < COUNT; at++) {
      scheduler.connect(`x-${at}`);
      scheduler.run(`x-${at}`, { id: `t-${at}` });
    }
    scheduler.pass(2 * SECOND);
  });

  const report = (state: string, from = 0): void => {
    for (let at = from; at < COUNT; at++) scheduler.progress(`x-${at}`, { state });
  };
  const tick = (): Output => scheduler.send({ type: 'ticked' });
  const rows = (out: Output): number => written(out).filter((row) => row === 'set task').length;

  it('is written once, a second after the first report of it', () => {
    report('"a"');
    report('"b"');
    expect(rows(scheduler.pass(SECOND - 1))).to.equal(0);
    expect(rows(scheduler.pass(1))).to.equal(COUNT);
    expect(rows(scheduler.pass(5 * SECOND))).to.equal(0);
  });

  it('is written in ticks of half a MiB, one at once after the other', () => {
    report(LARGE);
    scheduler.now += SECOND;
    const pieces: number[] = [];
    for (let count = 0; count !== COUNT; count += pieces.at(-1) ?? 0) pieces.push(rows(tick()));
    expect(pieces).to.deep.equal([59, 59, 59, 23]);
  });

  it('that comes meanwhile waits its own second, and so does not keep the rest from its end', () => {
    report(LARGE);
    scheduler.now += SECOND;
    expect(rows(tick())).to.equal(59);
    for (let at = 0; at < 59; at++) scheduler.progress(`x-${at}`, { state: '"b"' });
    expect(rows(scheduler.pass(SECOND - 1))).to.equal(COUNT - 59);
    expect(rows(scheduler.pass(1))).to.equal(59);
  });

  it('of attempts that end meanwhile is written with their end', () => {
    report(LARGE);
    scheduler.now += SECOND;
    expect(rows(tick())).to.equal(59);
    for (let at = 59; at < COUNT; at++) scheduler.end(`x-${at}`);
    expect(rows(scheduler.pass(5 * SECOND))).to.equal(0);
  });

  it('is written whole before the master stops', () => {
    report(LARGE);
    expect(rows(scheduler.send({ type: 'drainStarted' }))).to.equal(COUNT);
  });
});
