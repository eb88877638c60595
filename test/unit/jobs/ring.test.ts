/** Jobs that wait for ends of each other: what leads back to the job that is set. */
import { expect } from 'chai';
import { crowdOf, ringOf, twinOf } from '../../../master/application/jobs/ring.ts';
import { ALL, type Sight } from '../../../master/domain/model/task-filter.ts';
import { sampleSpec, sampleTrigger } from '../../helpers/jobs/sample-job.ts';

/** What `a` is told where it is to wait for these, and others wait for others: by job, its sources. */
async function told(
  sources: readonly string[],
  others: Readonly<Record<string, readonly string[]>>,
  within: Sight = ALL,
): Promise<{ readonly ring: string | null; readonly readCount: number }> {
  let readCount = 0;
  const read = async (jobs: readonly string[]) => {
    readCount += 1;
    return jobs.flatMap((job) =>
      (others[job] ?? []).map((source) => sampleTrigger({ job, source, kind: 'on' })),
    );
  };
  const triggers = sources.map((source) => ({ source }));
  return { ring: await ringOf('a', triggers, within, read), readCount };
}

/** Each waits for the next. */
const chain = (length: number) =>
  Object.fromEntries(Array.from({ length }, (_, at) => [`j${at}`, [`j${at + 1}`]]));

describe('a job that waits for others', () => {
  it('may do so where these wait for each other, but not for it', async () => {
    expect(await told(['b', 'c'], { b: ['c', 'd'], c: ['b'] })).to.deep.equal({
      ring: null,
      readCount: 2,
    });
    expect(await told([], { b: ['a'] })).to.deep.equal({ ring: null, readCount: 0 });
  });

  it('is told the shortest way back to it, without names where it may lead by what is not to be seen', async () => {
    const others = { b: ['c'], c: ['d', 'a'], d: ['a'] };
    const way = 'a job does not wait for itself: a waits for b, b for c, c for a';
    expect((await told(['b'], others)).ring).to.equal(way);
    const { ring } = await told(['b'], others, { types: null, groups: ['g'] });
    expect(ring).to.equal('a job does not wait for itself, nor by way of others');
  });

  it('is refused where that cannot be told by looking so far, or at so many', async () => {
    const far = /^what it waits for waits by `on` for more than 32 jobs in a row, or 256 in all$/;
    expect((await told(['j0'], chain(31))).ring).to.equal(null);
    const long = await told(['j0'], chain(40));
    expect(long.ring).to.match(far);
    expect(long.readCount).to.equal(32);
    const wide = { b: Array.from({ length: 300 }, (_, at) => `w${at}`) };
    expect((await told(['b'], wide)).ring).to.match(far);
  });

  it('is refused where a hundred triggers wait for one of them, those aside that it has itself', async () => {
    const read =
      (counts: Readonly<Record<string, number>>) => async (source: string, limit: number) =>
        Object.entries(counts)
          .flatMap(([job, count]) =>
            Array.from({ length: count }, (_, at) =>
              sampleTrigger({ job, name: `t${at}`, source }),
            ),
          )
          .slice(0, limit);
    const two = [{ source: 'b' }, { source: null }, { source: 'b' }];
    expect(await crowdOf('a', two, 30, read({ a: 30, x: 98 }))).to.equal(null);
    expect(await crowdOf('a', two, 0, read({ x: 60, y: 39 }))).to.equal(
      'at most 100 triggers wait for ends of one job: 99 of others do for b',
    );
  });

  it('is refused where two of its triggers wait for the same, so that each end would begin two runs', () => {
    const on = (name: string, state: string, change: Parameters<typeof sampleSpec>[0] = {}) => {
      return { name, spec: sampleSpec({ timing: { kind: 'on', job: 'b', state }, ...change }) };
    };
    const workdays = { onlyOn: { calendar: 'office', days: 'work', label: null } } as const;
    const three = [on('x', 'failed'), on('y', 'succeeded'), on('z', 'failed', workdays)];
    expect(twinOf([...three, { name: 'w', spec: sampleSpec() }])).to.equal(null);
    const others = [
      on('off', 'succeeded', { isEnabled: false }),
      on('then', 'failed', { startAt: 9 }),
    ];
    expect(twinOf([...three, ...others])).to.equal(null);
    expect(twinOf([...three, on('again', 'succeeded', { overlap: { kind: 'allow' } })])).to.equal(
      'y and again wait for the same: runs of b that have ended as succeeded',
    );
  });
});
