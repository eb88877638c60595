/** What the page says, in the language of whoever reads it. What masters and executors have written stays as it is. */
import { en } from './en.ts';
import { zh } from './zh.ts';

export type TextName = keyof typeof en;
export type Language = 'en' | 'zh';

export const languages: Readonly<Record<Language, string>> = { en: 'English', zh: '中文' };
const texts: Readonly<Record<Language, Readonly<Record<TextName, string>>>> = { en, zh };

let spoken: Language = 'en';

export function speak(language: Language): void {
  spoken = language;
}

/** As browsers name it. */
export function language(): string {
  return spoken === 'zh' ? 'zh-CN' : 'en-GB';
}

export function languageOfBrowser(): Language {
  const first = navigator.languages.find((one) => /^(en|zh)\b/i.test(one)) ?? 'en';
  return first.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

/** `one|many`, as `n` says; `{name}` stands for a value. */
export function t(name: TextName, values: Readonly<Record<string, string | number>> = {}): string {
  const [one = '', many = one] = texts[spoken][name].split('|');
  const text = values['n'] === 1 ? one : many;
  return text.replaceAll(/\{(\w+)\}/g, (_, key: string) => {
    const value = values[key] ?? '';
    return typeof value === 'number' ? value.toLocaleString(language()) : value;
  });
}

/** What stands for a word of the API; one of a newer master stands for itself. */
export function wordOf(kind: string, word: string): string {
  const name = `${kind}.${word}`;
  return name in en ? t(name as TextName) : word;
}
