/** What keeps a task, and what does so once that is over: whoever reads Chinese is told both in Chinese. */
import { expect } from 'chai';
import { GateBench } from '../../helpers/gates.ts';
import { bookedScenarios } from '../../helpers/why/booked.ts';
import { scenarios } from '../../helpers/why/scenarios.ts';
import { whySaid } from '../../../console/pages/task/why-said.ts';
import { speak, speakOfAll } from '../../../console/words/words.ts';
import { detailsOf } from '../../../master/domain/why/details.ts';

const suspended = { by: null, reason: null };

describe('why a task waits, in both languages', () => {
  let bench: GateBench;
  before(speakOfAll);
  beforeEach(async () => {
    bench = new GateBench();
    await bench.start();
  });
  afterEach(async () => {
    await speak('en');
    await bench.stop();
  });

  for (const { reason, of = '', build } of [...scenarios, ...bookedScenarios]) {
    it(`${reason} ${of}`, async () => {
      await build(bench);
      bench.offers();
      const why = await bench.wholeWhy('asked');
      for (const { facts, ...one } of [why, ...why.behind]) {
        const said = {
          ...{ reason: one.reason, message: one.message, details: detailsOf(facts) },
          suspended: one.reason === 'suspended' ? suspended : null,
        };
        await speak('en');
        expect(whySaid(said)).to.equal(one.message);
        await speak('zh');
        expect(whySaid(said), one.message).to.match(/[\u4e00-\u9fff].*。$/);
      }
    });
  }
});
