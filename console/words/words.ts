/** What the page says, in the language of whoever reads it. What masters and executors have written stays as it is. */
import type { en } from './en.ts';

export type TextName = keyof typeof en;
type Texts = Readonly<Record<TextName, string>>;
export type Language = 'en' | 'zh';

export const languages: Readonly<Record<Language, string>> = { en: 'English', zh: '中文' };
/** A browser loads the one that is spoken. */
const texts: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: async () => (await import('./en.ts')).en,
  zh: async () => (await import('./zh.ts')).zh,
};

let spoken: Language = 'en';
let said: Partial<Texts> = {};

/** Before anything is said. @throws it cannot be loaded: what was spoken before goes on. */
export async function speak(language: Language): Promise<void> {
  said = await texts[language]();
  spoken = language;
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
