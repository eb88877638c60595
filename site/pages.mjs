/**
 * Which files of the repository are pages of the site, what they are called there, and where their links lead. A page is
 * what the index of the documentation leads to, itself or by another page; whatever else is linked is no part of the site.
 */
import { readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';

const INDEX = 'docs/README.md';

/** Its text, without the comments by which tests find what to run. */
export function textOf(page) {
  return readFileSync(page, 'utf8').replace(/^<!--[\s\S]*?-->\n+/gm, '');
}

/** All in one folder, so that a link is a name wherever the site is served. */
export function nameOf(page) {
  if (page === INDEX) return 'index.html';
  const path = page.replace(/^docs\//, '').replace(/\.md$/, '');
  return `${path.replaceAll('/', '-').toLowerCase()}.html`;
}

/** Where a link of that page leads, in the repository; null: out of it. The second is the anchor, or empty. */
export function targetOf(page, href) {
  if (/^[a-z][a-z+.-]*:/i.test(href)) return null;
  const [path = '', anchor = ''] = decodeURI(href).split('#');
  return [path === '' ? page : posix.join(posix.dirname(page), path), anchor];
}

/** In the order in which they are found: the index is the first. */
export function findPages() {
  const pages = [INDEX];
  for (const page of pages) {
    for (const [, href = ''] of proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      const [path = ''] = targetOf(page, href) ?? [];
      if (path.endsWith('.md') && !pages.includes(path) && isFile(path)) pages.push(path);
    }
  }
  return pages;
}

function proseOf(page) {
  return textOf(page)
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, '');
}

function isFile(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** What the index lists: headings, and below them what they lead to, in groups that may have a title. */
export function readIndex() {
  const sections = [];
  let group = { title: '', links: [] };
  for (const line of textOf(INDEX).split('\n')) {
    const [, heading] = /^## (.+)/.exec(line) ?? [];
    const [, title] = /^(?:- )?(\p{Lu}[^[\]]*?)(?:, each.*)?:$/u.exec(line) ?? [];
    const [, text, href] = /^ *- \[([^\]]+)\]\(([^)\s]+)\)/.exec(line) ?? [];
    if (heading !== undefined)
      sections.push({ heading, groups: [(group = { title: '', links: [] })] });
    else if (title !== undefined) sections.at(-1)?.groups.push((group = { title, links: [] }));
    else if (text !== undefined) group.links.push({ text, page: targetOf(INDEX, href)[0] });
  }
  return sections;
}
