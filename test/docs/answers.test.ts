/** The table of codes in the page on the HTTP API is the table that the master answers by. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Answer, answers } from '../../master/access/http/answers.ts';
import { root } from './document.ts';

describe('the codes of the HTTP API', () => {
  it('stand in the page as the master has them', () => {
    const page = readFileSync(join(root, 'docs/http-api.md'), 'utf8');
    const [, section = ''] = page.split('\n## Codes\n');
    const shown = section.split('\n\n').find((part) => part.startsWith('| code |'));
    expect(shown).to.equal(tableOf(Object.values(answers)));
  });

  it('name no wait where it does not help to ask again', () => {
    for (const [kind, { status, again, retryAfter }] of Object.entries(answers)) {
      if (retryAfter !== undefined) expect(again, kind).to.equal(true);
      expect(again === true, kind).to.equal(status === 408 || status === 429 || status >= 500);
    }
  });
});

function tableOf(all: readonly Answer[]): string {
  const statuses = [...new Set(all.map(({ status }) => status))].sort((a, b) => a - b);
  const rows = statuses.map((status) => {
    const same = all.filter((answer) => answer.status === status);
    const means = same.map((answer) => answer.means).join(' ');
    return `| ${status} | ${means} |${same.map(againOf)[0]} |`;
  });
  return ['| code | meaning | again? |', '| --- | --- | --- |', ...rows].join('\n');
}

function againOf({ status, again, retryAfter }: Answer): string {
  if (status < 400) return '';
  if (again === undefined) return ' no';
  return retryAfter === undefined ? ' yes' : ' after `Retry-After`';
}
