/** What the page of alerts says of who has heard of one. */
import { expect } from 'chai';
import { toldOf } from '../../../console/pages/alerts/told.ts';

describe('whether anybody has heard of an alert', () => {
  const at = '2026-12-01T08:00:00Z';
  const later = '2026-12-01T12:00:00Z';
  const of = (state: 'pending' | 'delivered' | 'failed', tries: number, time = at) =>
    ({ receiver: 'ops', event: 'raised', state, tries, at: time, error: null }) as const;
  const told = (...deliveries: ReturnType<typeof of>[]) => toldOf({ told_at: later, deliveries });

  it('is when one has taken it, and not when it was to be told', () => {
    expect(told(of('delivered', 1), of('pending', 4, later))).to.equal(at);
    expect(told(of('pending', 4), of('pending', 2))).to.deep.equal({ state: 'pending', tries: 4 });
    expect(told(of('failed', 12))).to.deep.include({ state: 'failed', tries: 12 });
    expect(told(), 'what was forgotten').to.equal(later);
    expect(toldOf({ told_at: null, deliveries: [] })).to.equal(null);
  });
});
