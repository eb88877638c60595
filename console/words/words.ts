/** What the page says, in the language of whoever reads it. What masters and executors have written stays as it is. */
import type { en } from './en.ts';
import type { enLater } from './en/later.ts';

export type TextName = keyof typeof en | keyof typeof enLater;
type Texts = Readonly<Partial<Record<TextName, string>>>;
export type Language = 'en' | 'zh';

export const languages: Readonly<Record<Language, string>> = { en: 'English', zh: '中文' };
/** A browser loads those of the language that is spoken: what a page begins with, and once another is shown the rest. */
const texts: Readonly<Record<Language, readonly [() => Promise<Texts>, () => Promise<Texts>]>> = {
  en: [
    async () => (await import('./en.ts')).en,
    async () => (await import('./en/later.ts')).enLater,
  ],
  zh: [
    async () => (await import('./zh.ts')).zh,
    async () => (await import('./zh/later.ts')).zhLater,
  ],
};

let spoken: Language = 'en';
let said: Texts = {};
let isAllSaid = false;

/** Before anything is said. @throws it cannot be loaded: what was spoken before goes on. */
export async function speak(language: Language): Promise<void> {
  const parts = texts[language].slice(0, isAllSaid ? 2 : 1);
  const loaded = await Promise.all(parts.map((load) => load()));
  // A page may have come meanwhile that says more.
  if (isAllSaid && parts.length === 1) return speak(language);
  said = Object.assign({}, ...loaded) as Texts;
  spoken = language;
}

/** Before a page is shown that is loaded by itself. @throws it cannot be loaded. */
export async function speakOfAll(): Promise<void> {
  if (isAllSaid) return;
  const before = spoken;
  const rest = await texts[before][1]();
  // Somebody may have chosen another language meanwhile.
  if (before !== spoken) return speakOfAll();
  said = { ...said, ...rest };
  isAllSaid = true;
}

/** As browsers name it. */
export function language(): string {
  return spoken === 'zh' ? 'zh-CN' : 'en-GB';
}

/** `one|many`, as `n` says; `{name}` stands for a value. */
export function t(name: TextName, values: Readonly<Record<string, string | number>> = {}): string {
  const [one = '', many = one] = (said[name] ?? name).split('|');
  const text = values['n'] === 1 ? one : many;
  return text.replaceAll(/\{(\w+)\}/g, (_, key: string) => {
    const value = values[key] ?? '';
    return typeof value === 'number' ? value.toLocaleString(language()) : value;
  });
}

/** What is said before a sentence of the master, all of which are English, to whoever reads another language. */
export function headOf(kind: string, word: string): string {
  return spoken === 'en' ? '' : wordOf(kind, word);
}

/** What a sentence is made of, as far as it is known. */
export type Known = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** A sentence of the language that is spoken, in place of the master's: where it has one, and all is known that it names. */
export function instead(name: string, english: string, known: Known): string {
  const text = said[name as TextName];
  if (text === undefined) return english;
  const named = [...text.matchAll(/\{(\w+)\}/g)].map(([, key = '']) => key);
  if (named.some((key) => known[key] === undefined)) return english;
  return t(name as TextName, known as Readonly<Record<string, string | number>>);
}

/** What stands for a word of the API; one of a newer master stands for itself. */
export function wordOf(kind: string, word: string): string {
  const name = `${kind}.${word}`;
  return name in said ? t(name as TextName) : word;
}
