/** From the Markdown of a page to its HTML, and to the parts of it that can be searched. Nothing in a page is taken for HTML. */
import GithubSlugger from 'github-slugger';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import ini from 'highlight.js/lib/languages/ini';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import nginx from 'highlight.js/lib/languages/nginx';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import MarkdownIt from 'markdown-it';
import { nameOf, targetOf, textOf } from './pages.mjs';

const languages = { bash, ini, javascript, json, nginx, sql, typescript, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);

const markdown = new MarkdownIt({
  highlight: (code, language) =>
    hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : '',
});

const CHINESE = /[\p{Script=Han}\u3000-\u303f\uff00-\uffef]/u;
// A line of Chinese goes on in the next one without a space.
markdown.renderer.rules.softbreak = (tokens, at) => {
  const sides = [tokens[at - 1]?.content.at(-1), tokens[at + 1]?.content[0]];
  return sides.every((side) => side !== undefined && CHINESE.test(side)) ? '' : '\n';
};
// A table that is wider than the screen is scrolled by itself.
markdown.renderer.rules.table_open = () => '<div class="wide" tabindex="0"><table>';
markdown.renderer.rules.table_close = () => '</table></div>';

/**
 * @param isPage whether a path of the repository is a page of the site
 * @param imageNamed what an image is called in the site
 * @returns its title, its HTML, and its parts: each heading, with the text below it
 */
export function render(page, isPage, imageNamed) {
  const tokens = markdown.parse(textOf(page), {});
  const slugger = new GithubSlugger();
  const parts = [];
  for (const [at, token] of tokens.entries()) {
    const text = plain(token);
    if (token.type === 'heading_open') {
      const heading = plain(tokens[at + 1]);
      const anchor = slugger.slug(heading);
      token.attrSet('id', anchor);
      parts.push({ level: Number(token.tag[1]), heading, anchor, text: [] });
    } else if (tokens[at - 1]?.type !== 'heading_open' && text !== '')
      parts.at(-1)?.text.push(text);
    for (const [place, child] of (token.children ?? []).entries()) {
      if (child.type === 'link_open') leadOn(token.children, place, page, isPage);
      if (child.type === 'image') {
        const [path] = targetOf(page, child.attrGet('src'));
        child.attrSet('src', imageNamed(path));
        child.attrSet('loading', 'lazy');
      }
    }
  }
  const html = markdown.renderer.render(tokens, markdown.options, {});
  return { title: parts[0]?.heading ?? page, html, parts };
}

function plain({ type, content, children }) {
  if (type === 'fence') return content.trim();
  if (type !== 'inline') return '';
  return children.map((child) => (child.type === 'softbreak' ? ' ' : child.content)).join('');
}

/** What is no page of the site is named, and led to by nothing. */
function leadOn(children, place, page, isPage) {
  const link = children[place];
  const target = targetOf(page, link.attrGet('href'));
  if (target === null) {
    link.attrSet('rel', 'noreferrer');
    return;
  }
  const [path, anchor] = target;
  if (isPage(path)) {
    link.attrSet(
      'href',
      `${path === page && anchor !== '' ? '' : nameOf(path)}${anchor && `#${encodeURI(anchor)}`}`,
    );
    return;
  }
  const end = children.slice(place).find(({ type }) => type === 'link_close');
  [link.tag, end.tag] = ['span', 'span'];
  link.attrs = [['title', path]];
}
