/** Which trace a request is part of: what is read of its header, and what is ignored. */
import { readTraceparent, traceIdOf } from '@soda-scheduler/protocol';
import { expect } from 'chai';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const GOOD = `00-${TRACE}-${PARENT}-01`;

describe('traceparent', () => {
  it('is read as the standard has it', () => {
    expect(readTraceparent(GOOD)).to.equal(GOOD);
    expect(traceIdOf(GOOD)).to.equal(TRACE);
    const later = { [`cc-${TRACE}-${PARENT}-01`]: GOOD, [`cc-${TRACE}-${PARENT}-01-more`]: GOOD };
    for (const [given, read] of Object.entries(later)) {
      expect(readTraceparent(given)).to.equal(read);
    }
    // What a flag means that is not known yet is not handed on.
    expect(readTraceparent(`00-${TRACE}-${PARENT}-ff`)).to.equal(`00-${TRACE}-${PARENT}-03`);
  });

  for (const [why, header] of Object.entries({
    empty: '',
    'version ff': `ff-${TRACE}-${PARENT}-01`,
    'more than version 00 has': `${GOOD}-more`,
    'more, and no dash before it': `cc-${TRACE}-${PARENT}-01more`,
    'capital letters': GOOD.toUpperCase(),
    'no trace': `00-${'0'.repeat(32)}-${PARENT}-01`,
    'no parent': `00-${TRACE}-${'0'.repeat(16)}-01`,
    'a short trace': `00-${TRACE.slice(1)}-${PARENT}-01`,
    'two of them': `${GOOD}, ${GOOD}`,
    'no flags': `00-${TRACE}-${PARENT}-`,
  })) {
    it(`is ignored: ${why}`, () => expect(readTraceparent(header)).to.equal(null));
  }
});
