/** What is kept of what comes without end. */
import { expect } from 'chai';
import { Newest } from '../../../master/domain/newest.ts';

describe('the newest of many', () => {
  it('are half of what is allowed at least, as they were set last', () => {
    const newest = new Newest<number, string>(100);
    newest.set(7, 'before');
    for (let key = 0; key < 249; key++) newest.set(key, `${key}`);
    newest.set(230, 'again');
    const kept = Array.from({ length: 249 }, (_, key) => newest.get(key));
    expect(kept.slice(199)).to.not.include(undefined);
    expect(kept.filter((one) => one !== undefined)).to.have.length.below(101);
    expect(newest.get(230)).to.equal('again');
    expect(newest.get(7)).to.equal(undefined);
  });

  // Some 40 ms of CPU; 2,000 where the oldest of them is looked for each time.
  it('cost no more once there are as many as are allowed', () => {
    const newest = new Newest<string, number>(20_000);
    const before = process.cpuUsage();
    for (let count = 0; count < 100_000; count++) newest.set(`task-${count}`, count);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).to.be.below(600);
  });
});
