/**
 * The code blocks of a page, and what the page says about them in comments that nobody sees when
 * it is rendered. The comment stands right before its block:
 *
 * `run` in the reader's shell. `background`: in a terminal of its own. `file: name` is saved.
 * `says`: what the block before prints, `…` standing for anything. `check`: types only.
 * `settings`: exports that the reader gives. `elsewhere: file` is run by that test.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Block {
  /** `docs/tutorial.md:12`, for people. */
  readonly place: string;
  readonly language: string;
  /** The word before the colon of the comment; null where there is no comment. */
  readonly mark: string | null;
  readonly argument: string;
  readonly code: string;
}

const BLOCK = /(?:^<!-- *(\w+)(?:: *(.*?))? *-->\n+)?^```(\w*)\n([\s\S]*?)^```$/gm;

export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(BLOCK)].map((match) => {
    const [all, mark, argument = '', language = '', code = ''] = match;
    const fenceAt = match.index + all.indexOf('```');
    const line = text.slice(0, fenceAt).split('\n').length;
    return { place: `${page}:${line}`, language, mark: mark ?? null, argument, code };
  });
}

/** The first line of `expected` that `said` has not, in the order given; null if it has all. */
export function missingLine(said: string, expected: string): string | null {
  let rest = said;
  for (const line of expected.split('\n').map((each) => each.trim())) {
    if (line === '') continue;
    const pattern = line
      .split('…')
      .map((part) => part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&').replace(/ +/g, '[ \\t]+'))
      .join('.*?');
    const match = new RegExp(pattern).exec(rest);
    if (match === null) return line;
    rest = rest.slice(match.index + match[0].length);
  }
  return null;
}
