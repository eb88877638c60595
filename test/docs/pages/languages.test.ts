/** Pages that there are in English and in Chinese say the same: headings, code, names, numbers, rows, links. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { blocksOf, root } from '../document.ts';

const pages = ['tutorial', 'operations'].map((name) => [`docs/${name}.md`, `docs/zh/${name}.md`]);

const read = (page: string) => readFileSync(join(root, page), 'utf8');

/** Without blocks of code and comments; what a line break is in the middle of a sentence, is a space. */
const proseOf = (page: string) =>
  read(page)
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/<!--[\s\S]*?-->/g, '');

/** What stands for something of the reader's own is said in his language. */
const namesIn = (page: string) =>
  [
    ...proseOf(page)
      .replaceAll('\n', ' ')
      .matchAll(/`([^`]+)`/g),
  ]
    .map(([, name = '']) => name.replace(/<[^>]*>/g, '<>'))
    .sort();

const numbersIn = (page: string) =>
  (
    proseOf(page)
      .replaceAll('\n', ' ')
      .replace(/`[^`]+`|\]\([^)]*\)/g, '')
      .match(/\d[\d,.]*\d|\d/g) ?? []
  ).sort();

const linesOf = (page: string, beginning: RegExp) =>
  proseOf(page)
    .split('\n')
    .filter((line) => beginning.test(line));

/** Pages that it leads to, without their anchors; to itself, and to the same page in another language, do not count. */
const targetsOf = (page: string, other: string) =>
  [...proseOf(page).matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
    .map(([, target = '']) =>
      /^\w+:/.test(target) ? target : normalize(join(dirname(page), target)),
    )
    .filter((target) => target !== other)
    .sort();

describe('pages in two languages', () => {
  it('have the same code, lists and tables in the README', () => {
    const codeOf = (page: string) =>
      blocksOf(page)
        .filter(({ language }) => language !== 'text')
        .map(({ mark, code }) => ({ mark, code }));
    expect(codeOf('README.zh-CN.md')).to.deep.equal(codeOf('README.md'));
    for (const kind of [/^- /, /^\| /, /^#+ /]) {
      const countIn = (page: string) => linesOf(page, kind).length;
      expect(countIn('README.zh-CN.md')).to.equal(countIn('README.md'));
    }
  });

  for (const [english = '', chinese = ''] of pages) {
    it(`are in step: ${chinese}`, () => {
      const blocks = (page: string) => blocksOf(page).map(({ place: _, ...block }) => block);
      expect(blocks(english).length).to.be.above(5);
      expect(blocks(chinese)).to.deep.equal(blocks(english));
      const levels = (page: string) => linesOf(page, /^#+ /).map((line) => line.split(' ')[0]);
      expect(levels(chinese)).to.deep.equal(levels(english));
      const firsts = (page: string) =>
        linesOf(page, /^\| /).map((line) => line.match(/`[^`]+`/)?.[0]);
      expect(firsts(chinese)).to.deep.equal(firsts(english));
      expect(linesOf(chinese, /^- /)).to.have.length(linesOf(english, /^- /).length);
      expect(namesIn(chinese)).to.deep.equal(namesIn(english));
      expect(numbersIn(chinese)).to.deep.equal(numbersIn(english));
      expect(targetsOf(chinese, english)).to.deep.equal(targetsOf(english, chinese));
    });
  }
});
