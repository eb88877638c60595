/** The page on acceptance names tests that there are, and what is missing by a word of its own. */
import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../document.ts';

const DIMENSIONS = [
  ...['Function', 'Modifiability', 'Availability', 'Observability'],
  ...['Scalability', 'Performance', 'Security', 'Usability'],
];
const read = (page: string) => readFileSync(join(root, page), 'utf8');
const sections = read('docs/acceptance.md').split(/^## /m).slice(1);
const rowsIn = (section: string) =>
  section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '));

describe('the page on acceptance', () => {
  it('has the eight dimensions, each with rows', () => {
    expect(sections.map((section) => section.split('\n')[0])).to.deep.equal(DIMENSIONS);
    for (const section of sections) expect(rowsIn(section).length).to.be.above(5);
  });

  it('names test files that there are, for each row that does not say that something is missing', () => {
    const [claims, gone] = [[] as string[], [] as string[]];
    for (const section of sections) {
      for (const [asked = '', has = '', shown = ''] of rowsIn(section)) {
        if (/^(asked for|---)$/.test(asked)) continue;
        const files = [...shown.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
        if (files.length === 0 && !has.includes('**')) claims.push(asked);
        gone.push(
          ...files.filter(
            (file) => !/^test\/.*\.test\.ts$/.test(file) || !existsSync(join(root, file)),
          ),
        );
      }
    }
    expect(claims).to.deep.equal([]);
    expect(gone).to.deep.equal([]);
  });
});
