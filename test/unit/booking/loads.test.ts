/** Which rows are read in one turn. */
import { expect } from 'chai';
import { Loads } from '../../../master/application/engine/loads.ts';
import { TURN_BOOKING_COUNT_MAX } from '../../../master/domain/bounds.ts';

describe('rows that the state waits for', () => {
  it('are those of many bookings together, each once, and the rest in the next turn', () => {
    const loads = new Loads();
    const all = Array.from({ length: TURN_BOOKING_COUNT_MAX + 36 }, (_, index) => {
      return { type: 'booked', booking: `bk-${index}` } as const;
    });
    loads.add([...all.slice(0, 10), ...all]);
    expect(loads.takeTurn()).to.deep.equal([all.slice(0, TURN_BOOKING_COUNT_MAX)]);
    expect(loads.takeTurn()).to.deep.equal([all.slice(TURN_BOOKING_COUNT_MAX)]);
    expect(loads.size).to.equal(0);
  });
});
