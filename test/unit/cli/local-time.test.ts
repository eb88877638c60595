/** Times of bookings as the CLI shows them: by the clock of their zone, whatever zones Node knows here. */
import { expect } from 'chai';
import { localTime } from '../../../cli/booking/words.ts';

describe('the time of a booking', () => {
  const at = '2026-12-01T12:00:00.000Z';

  it('is told by the clock of its zone', () => {
    expect(localTime(at, 'Asia/Shanghai')).to.equal('2026-12-01T20:00:00+08:00');
  });

  it('is told by UTC where its zone is not known here', () => {
    expect(localTime(at, 'Mars/Olympus')).to.equal('2026-12-01T12:00:00Z');
  });
});
