/** Searches all pages in the browser: every word has to be in a heading or below it; headings go first. Needs a server of files: of a folder browsers load neither this nor what is searched. */
const BEST_MAX = 12;
const AROUND = 60;

const box = document.querySelector('.search');
const input = box.querySelector('input');
const list = box.querySelector('ol');
let index = null;

/** Loaded by whoever begins to search; undefined: it could not be. */
function load() {
  index ??= fetch(document.body.dataset.search)
    .then((answer) => answer.json())
    .catch(() => {
      // Whoever types on asks once more.
      index = null;
    });
  return index;
}

async function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const asked = input.value;
  if (words.length === 0) return clear();
  const parts = await load();
  if (input.value !== asked) return;
  if (parts === undefined) return say('What is searched could not be loaded.');
  const best = parts
    .map((part) => ({ part, rank: rankOf(part, words) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank)
    .slice(0, BEST_MAX);
  if (best.length === 0) return say('Nothing has all of these words.');
  show(best.map(({ part }) => shown(part, words)));
}

function say(sentence) {
  show([made('li', 'nothing', sentence)]);
}

function show(items) {
  list.replaceChildren(...items);
  list.hidden = false;
}

/** 0: a word is missing. */
function rankOf([, title, heading, text], words) {
  const [high, middle, low] = [heading, title, text].map((one) => one.toLowerCase());
  let rank = words.length > 0 && high === words.join(' ') ? 20 : 0;
  for (const word of words) {
    // Rather where a word begins than in the middle of one.
    if (` ${high}`.includes(` ${word}`)) rank += 10;
    else if (high.includes(word)) rank += 5;
    else if (middle.includes(word)) rank += 4;
    else if (low.includes(word)) rank += 1;
    else return 0;
  }
  return rank;
}

function shown([href, title, heading, text], [word]) {
  const link = made('a', '', '');
  link.href = href;
  const at = Math.max(0, text.toLowerCase().indexOf(word) - AROUND);
  link.append(
    made('b', '', heading),
    made('span', 'of', heading === title ? '' : title),
    made('span', 'text', `${at > 0 ? '…' : ''}${text.slice(at, at + 3 * AROUND)}`),
  );
  const item = document.createElement('li');
  item.append(link);
  return item;
}

function made(tag, className, text) {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

function clear() {
  input.value = '';
  list.hidden = true;
}

box.hidden = false;
input.addEventListener('focus', () => void load());
input.addEventListener('input', () => void search());
// Of this page: the browser loads nothing anew.
list.addEventListener('click', clear);
box.addEventListener('keydown', (event) => {
  const links = [...list.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement);
  if (event.key === 'Escape') clear();
  else if (event.key === 'Enter' && at < 0) links[0]?.click();
  else if (event.key === 'ArrowDown') links[at + 1]?.focus();
  else if (event.key === 'ArrowUp') (links[at - 1] ?? input).focus();
  else return;
  event.preventDefault();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  input.focus();
});
// On a phone the menu is closed until it is asked for.
if (matchMedia('(max-width: 60rem)').matches) document.querySelector('#menu').open = false;
document.querySelector('.pages [aria-current]')?.scrollIntoView({ block: 'center' });
