/** The site that is made of the pages: whole, without a dead link, without anything that its policy forbids, and small. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from '../document.ts';

const BYTES_MAX = 4 * 2 ** 20;
const FIRST_PAGE_ZIPPED_BYTES_MAX = 16 * 1024;

describe('the site', () => {
  let files: ReadonlyMap<string, Buffer>;
  let filled: (template: string, fields: Record<string, string>) => string;
  const pages = new Map<string, string>();
  before(async () => {
    const made = (await import(join(root, 'scripts/site.mjs'))) as {
      makeSite: () => Promise<ReadonlyMap<string, Buffer>>;
      filled: typeof filled;
    };
    filled = made.filled;
    files = await made.makeSite();
    for (const [name, bytes] of files) if (name.endsWith('.html')) pages.set(name, String(bytes));
  });

  const attributesIn = (html: string, name: string) =>
    [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) =>
      value.replaceAll('&amp;', '&'),
    );

  it('has every page that the index lists, and what these lead to', () => {
    const index = readFileSync(join(root, 'docs/README.md'), 'utf8');
    const listed = index.match(/\]\([\w/.-]+\.md/g) ?? [];
    expect(listed.length).to.be.above(80);
    expect(pages.size).to.be.at.least(listed.length);
    for (const name of [
      'index',
      'how-to-install',
      'zh-operations',
      'readme',
      'changelog',
      'security',
    ]) {
      expect([...pages.keys()]).to.include(`${name}.html`);
    }
  });

  it('has no link that leads nowhere, to a page or to a part of one', () => {
    const dead = [...pages].flatMap(([page, html]) => {
      const links = [
        ...attributesIn(html, 'href'),
        ...attributesIn(html, 'src'),
        ...attributesIn(html, 'data-search'),
      ];
      expect(links.length, page).to.be.above(50);
      return links
        .filter((link) => !/^(https?|mailto):/.test(link))
        .filter((link) => {
          const [path = '', anchor = ''] = decodeURI(link).split('#');
          const target = path === '' ? html : (pages.get(path) ?? (files.has(path) ? '' : null));
          return target === null || (anchor !== '' && !target.includes(` id="${anchor}"`));
        })
        .map((link) => `${page}: ${link}`);
    });
    expect(dead).to.deep.equal([]);
  });

  it('asks no other host for anything, and has no script or style within a page', () => {
    for (const [page, html] of pages) {
      expect(html, page).to.not.match(
        /<style|<script(?! type="module" src="[\w.-]+"><\/script>)|\son\w+=|\sstyle=/,
      );
      expect(html, page).to.not.match(/<(?:link|script|img)[^>]*(?:src|href)="(?:https?:)?\/\//);
    }
  });

  it('has everything in its place, whatever words a page has', () => {
    const fields = { TITLE: 'BODY of {{BODY}}', BODY: '<h2>TITLE $& {{TITLE}}</h2>' };
    expect(filled('<title>{{TITLE}}</title>{{BODY}}', fields)).to.equal(
      '<title>BODY of {{BODY}}</title><h2>TITLE $& {{TITLE}}</h2>',
    );
    for (const [page, html] of pages) expect(html, page).to.not.match(/\{\{[A-Z]+\}\}/);
  });

  it('marks in the menu where one is, and says in which language', () => {
    expect(pages.get('how-to-install.html')).to.include(
      '<a href="how-to-install.html" aria-current="page">Install</a>',
    );
    expect(pages.get('zh-operations.html')).to.include(
      '<a href="zh-operations.html" aria-current="page">运维</a>',
    );
    expect(pages.get('zh-tutorial.html')).to.match(/^<!doctype html>\n<html lang="zh-CN">/);
    expect(pages.get('tutorial.html')).to.match(/^<!doctype html>\n<html lang="en">/);
  });

  it('shows what is written as it is written, and no comment of it', () => {
    for (const [page, html] of pages) expect(html, page).to.not.match(/<!--|&lt;!--/);
    const tutorial = pages.get('tutorial.html') ?? '';
    expect(tutorial)
      .to.include('<h2 id="4-kill-it">4. Kill it</h2>')
      .and.to.include('class="hljs-keyword"');
    expect(pages.get('http-api.html')).to.include('{task_id}');
  });

  it('finds every heading', () => {
    const [name = ''] = [...files.keys()].filter(
      (file) => file.startsWith('search-') && file.endsWith('.json'),
    );
    const found = JSON.parse(String(files.get(name))) as [string, string, string, string][];
    const headings = [...pages.values()].flatMap((html) => html.match(/<h[1-6] id=/g) ?? []);
    expect(found).to.have.length(headings.length);
    expect(found.find(([href]) => href === 'tutorial.html#4-kill-it')?.[3]).to.include(
      'no goodbye',
    );
  });

  it('is small', () => {
    const size = [...files.values()].reduce((sum, { length }) => sum + length, 0);
    expect(size).to.be.below(BYTES_MAX);
    const first = [...files].filter(([name]) =>
      /^(index\.html|search-\w+\.js$|style-|icon-)/.test(name),
    );
    expect(first).to.have.length(4);
    const zipped = first.reduce((sum, [, bytes]) => sum + gzipSync(bytes).length, 0);
    expect(zipped).to.be.below(FIRST_PAGE_ZIPPED_BYTES_MAX);
  });
});
