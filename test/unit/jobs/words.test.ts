/** What has become of nominal times, in sentences. */
import { expect } from 'chai';
import { occurrenceInWords } from '../../../master/access/routes/jobs/occurrence-words.ts';

describe('what has become of a time', () => {
  it('is said in a sentence, with the calendar that has decided', () => {
    const said = (state: 'ran' | 'merged' | 'skipped' | 'refused', reason: string | null) =>
      occurrenceInWords({ state, reason, calendar: reason?.includes('day') ? 'china' : null });
    expect(said('ran', null)).to.equal(null);
    expect(said('skipped', 'misfire')).to.equal(
      'Noticed too late, and late ones are skipped (misfire).',
    );
    expect(said('merged', 'a day off (feast): with the one of 2026-11-30')).to.equal(
      'A day off (feast): with the one of 2026-11-30 (calendar china).',
    );
    expect(said('skipped', 'black-out: release')).to.equal('Black-out: release.');
    expect(said('refused', 'there is no limit drm.')).to.equal('Refused: there is no limit drm.');
  });
});
