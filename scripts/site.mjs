/**
 * Builds the pages of `docs/`, and what they lead to in the repository, into `master/dist/docs/`, from where the master
 * serves them: pages that need no script, a script that searches them, and nothing of any other host. Whatever serves files
 * may serve them; pages can be opened from that folder, too, without the search. What is there already is left alone.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, extname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { findPages, nameOf, readIndex } from '../site/pages.mjs';

const FOLDER = 'master/dist/docs';
const PAGE = join(FOLDER, 'index.html');

/** @returns what there is, by name. */
export async function makeSite() {
  // Loaded here: most builds need none.
  const { render } = await import('../site/render.mjs');
  const { transform } = await import('esbuild');
  const files = new Map();
  const add = (name, bytes) => {
    const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 8);
    const full = `${basename(name, extname(name))}-${digest}${extname(name)}`;
    files.set(full, Buffer.from(bytes));
    return full;
  };
  const small = async (file) =>
    (
      await transform(readFileSync(file, 'utf8'), {
        loader: extname(file).slice(1),
        minify: true,
        charset: 'utf8',
      })
    ).code;

  const pages = findPages();
  const isPage = (path) => pages.includes(path);
  const rendered = pages.map((page) => ({
    page,
    ...render(page, isPage, (image) => add(image, readFileSync(image))),
  }));
  const found = rendered.flatMap(({ page, title, parts }) =>
    parts.map(({ heading, anchor, text }) => [
      `${nameOf(page)}#${anchor}`,
      title,
      heading,
      text.join('\n'),
    ]),
  );
  const shared = {
    ICON: add('icon.svg', readFileSync('console/icon.svg')),
    STYLE: add('style.css', await small('site/style.css')),
    SCRIPT: add('search.js', await small('site/search.js')),
    SEARCH: add('search.json', JSON.stringify(found)),
  };
  const template = readFileSync('site/page.html', 'utf8');
  const sections = readIndex();
  for (const { page, title, html, parts } of rendered) {
    const fields = {
      LANGUAGE: /zh[-/]/i.test(page) ? 'zh-CN' : 'en',
      TITLE: escaped(title === 'Documentation' ? 'Soda Scheduler' : `${title} - Soda Scheduler`),
      ...shared,
      PAGES: sections.map((section) => menuOf(section, page)).join(''),
      PARTS: partsOf(parts),
      BODY: html,
    };
    files.set(nameOf(page), Buffer.from(filled(template, fields)));
  }
  return files;
}

/** What the index lists, with the page that is shown marked and its group open. */
function menuOf({ heading, groups }, page) {
  const shown = groups.map(({ title, links }) => {
    const items = links.map((link) => {
      const here = link.page === page ? ' aria-current="page"' : '';
      return `<li><a href="${nameOf(link.page)}"${here}>${escaped(link.text.replaceAll('`', ''))}</a></li>`;
    });
    const list = `<ul>${items.join('')}</ul>`;
    if (title === '') return list;
    const open = links.some((link) => link.page === page) ? ' open' : '';
    return `<details${open}><summary>${escaped(title)}</summary>${list}</details>`;
  });
  return `<h2>${escaped(heading)}</h2>${shown.join('')}`;
}

function partsOf(parts) {
  const second = parts.filter(({ level }) => level === 2);
  if (second.length < 2) return '';
  const items = second.map(
    ({ anchor, heading }) => `<li><a href="#${encodeURI(anchor)}">${escaped(heading)}</a></li>`,
  );
  return `<h2>On this page</h2><ul>${items.join('')}</ul>`;
}

/** Fields go where their names stand in double braces, whatever they have in them. */
export const filled = (template, fields) =>
  template.replace(/\{\{([A-Z]+)\}\}/g, (_, name) => {
    if (fields[name] === undefined) throw new Error(`no field ${name} of the page`);
    return fields[name];
  });

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign]);

export async function buildSite() {
  if (isFresh()) return;
  const files = await makeSite();
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  // The first page last: without it the build begins anew.
  for (const [name, bytes] of files)
    if (name !== basename(PAGE)) writeFileSync(join(FOLDER, name), bytes);
  writeFileSync(PAGE, files.get(basename(PAGE)));
}

/** Whether nothing was written since that it is made of. */
function isFresh() {
  if (!existsSync(PAGE)) return false;
  const builtAt = statSync(PAGE).mtimeMs;
  const filesIn = (folder) => readdirSync(folder).map((name) => join(folder, name));
  const own = fileURLToPath(import.meta.url);
  const folders = [...filesIn('docs/images'), ...filesIn('site')];
  const sources = [own, 'package-lock.json', 'console/icon.svg', ...findPages(), ...folders];
  return sources.every((file) => statSync(file).mtimeMs <= builtAt);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  await buildSite();
}
