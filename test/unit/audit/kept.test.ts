/** What is kept of a change: without secrets, and in a time that grows with its length alone. */
import { expect } from 'chai';
import { type Author, changeMade, type Fields } from '../../../master/domain/model/audit.ts';

const author: Author = {
  actor: 'ann',
  role: 'admin',
  address: '127.0.0.1',
  action: 'type.set',
  namespace: 'default',
};

const made = (after: Fields) => changeMade(author, 0, { target: 'x', before: null, after }).after;

describe('what the audit keeps', () => {
  it('masks passwords and what is behind a question mark, and no more', () => {
    for (const [address, masked] of [
      ['https://ann:word@host/x', 'https://***@host/x'],
      ['HTTP://host/x?token=word#end', 'HTTP://host/x?***#end'],
      ['http://host/?', 'http://host/?'],
      ['see http://a/?b and http://c?d', 'see http://a/?*** and http://c?***'],
      ['what? http', 'what? http'],
    ] as const) {
      expect(made({ address })).to.equal(JSON.stringify({ address: masked }));
    }
  });

  it('reads a long text of many addresses once', () => {
    const before = process.cpuUsage();
    expect(made({ text: 'http://'.repeat(9_000) })).to.include('omitted_length');
    expect(process.cpuUsage(before).user / 1_000, 'it took seconds').to.be.below(500);
  });
});
