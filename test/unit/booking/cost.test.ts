/** What bookings cost: what is written of them, and who is looked at. */
import { expect } from 'chai';
import type { Output } from '../../../master/domain/effects.ts';
import { asked, type Asked, FROM } from './asked.ts';
import { MINUTE, Scheduler, SECOND } from '../../helpers/domain.ts';

describe('what a booking costs', () => {
  let scheduler: Scheduler;
  const book = (fields: Partial<Asked> = {}) =>
    scheduler.command({ type: 'bookingRequested', booking: asked(fields) }).reply;
  const passTo = (at: number) => scheduler.pass(at - scheduler.now);
  const writes = ({ changes }: Output) =>
    changes.filter((change) => change.op === 'put' && change.table === 'booking').length;
  const idleMs = ({ changes }: Output) =>
    changes
      .flatMap((change) =>
        change.op === 'insert' && change.table === 'usage' ? [...change.row.counts.values()] : [],
      )
      .map(({ figures }) => figures.booked_idle_ms ?? 0)
      .find((ms) => ms > 0);

  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('e1');
  });

  it('is no row for each attempt that ends, and its usage is known at the end', () => {
    book();
    passTo(FROM);
    let count = 0;
    for (let index = 0; index < 8; index++) {
      scheduler.run('e1', { id: `short-${index}`, booking: 'bk-1' });
      scheduler.pass(10 * SECOND);
      count += writes(scheduler.end('e1'));
    }
    expect(count).to.equal(2);
    const out = passTo(FROM + 10 * MINUTE);
    expect(idleMs(out)).to.equal(10 * MINUTE - 80 * SECOND);
  });
});
