/** The page on why a task waits has every reason, with the sentences that the scheduler says. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bookedScenarios } from '../helpers/why/booked.ts';
import { scenarios } from '../helpers/why/scenarios.ts';
import { root } from './document.ts';

describe('the page on why a task waits', () => {
  it('has every reason, as it is said', () => {
    const page = readFileSync(join(root, 'docs/how-to/why-a-task-waits.md'), 'utf8');
    const rows = page.split('\n').filter((line) => line.startsWith('| `'));
    const said = [...scenarios, ...bookedScenarios].map(
      ({ reason, message, change }) => `| \`${reason}\` | ${message} | ${change} |`,
    );
    expect(rows.filter((row) => said.includes(row))).to.have.members(said);
    const reasons = new Set(scenarios.map(({ reason }) => reason));
    expect([...reasons].sort()).to.deep.equal([...ALL].sort());
  });
});

const ALL = [
  'suspended',
  'held',
  'not_due',
  'backing_off',
  'draining',
  'paused',
  'no_executor',
  'labels_unmatched',
  'reserved',
  'not_ready',
  'limited',
  'all_busy',
  'kept',
  'cooling_down',
] as const satisfies readonly (typeof scenarios)[number]['reason'][];
