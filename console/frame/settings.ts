/** What somebody has chosen for this browser: language, colours, how times are shown, which view comes first. */
import { type Language, speak } from '../words/words.ts';

export interface Settings {
  readonly language: Language;
  readonly theme: 'auto' | 'light' | 'dark';
  readonly times: 'since' | 'clock';
  /** The saved view that the menu opens, by namespace. */
  readonly views: Readonly<Record<string, string>>;
}

const KEY = 'soda';

/** A browser may keep nothing, or something of another version. */
export function readSettings(): Settings {
  const preset: Settings = {
    language: languageOfBrowser(),
    theme: 'auto',
    times: 'since',
    views: {},
  };
  try {
    return { ...preset, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Settings>) };
  } catch {
    return preset;
  }
}

/** Makes them hold from here on. */
export async function followSettings(settings = readSettings()): Promise<Settings> {
  await speak(settings.language);
  const { dataset } = document.documentElement;
  if (settings.theme === 'auto') delete dataset['theme'];
  else dataset['theme'] = settings.theme;
  document.documentElement.lang = settings.language;
  return settings;
}

/** Only what differs from the browser's own is kept. */
export async function changeSettings(changed: Partial<Settings>): Promise<Settings> {
  const settings = { ...readSettings(), ...changed };
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // Then they hold for this page.
  }
  return followSettings(settings);
}

function languageOfBrowser(): Language {
  const first = navigator.languages.find((one) => /^(en|zh)\b/i.test(one)) ?? 'en';
  return first.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}
