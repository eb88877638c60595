/** How busy a machine is, between two looks at its processors. */
import { expect } from 'chai';
import type { CpuInfo } from 'node:os';
import { hostLoad } from '../../../executor-sdk/host-load.ts';

const processor = (user: number, idle: number): CpuInfo => ({
  model: '',
  speed: 0,
  times: { user, nice: 0, sys: 0, irq: 0, idle },
});

describe('the load of a host', () => {
  it('is what its processors did since the look before', () => {
    const looks = [
      [processor(1_000, 9_000), processor(0, 10_000)],
      [processor(1_800, 9_200), processor(400, 10_600)],
      [processor(1_800, 9_200), processor(400, 10_600)],
      [processor(1_800, 10_200), processor(400, 11_600)],
    ];
    const load = hostLoad(() => looks.shift() ?? []);
    expect(load()).to.equal(60);
    expect(load()).to.equal(undefined);
    expect(load()).to.equal(0);
  });
});
