/**
 * Where the values of the configuration come from: flags, variables, files. Knows no single field but
 * the tokens, and never puts a secret into a message.
 */
import { readFileSync, statSync } from 'node:fs';

export interface ConfigField {
  /** The environment variable. `fromFile` fields have another one, with `_FILE` at its end. */
  readonly env: string;
  /** `--lease`. Of a secret: `--admin-token-file`, because a command line is no secret. */
  readonly flag: string;
  /** The flag as a property, as commander names it: `adminTokenFile`. */
  readonly flagKey: string;
  /** What the flag takes, `seconds`; null for a switch. */
  readonly value: string | null;
  readonly description: string;
  /** Null: none. */
  readonly default: string | null;
  readonly secret: boolean;
  readonly fromFile: boolean;
}

export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By `flagKey`; keys that are not of this table are the caller's. */
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
}

/** What is given for one field, as text; null: nothing. Notes what is wrong with it. */
export function rawValue(
  field: ConfigField,
  { env, flags }: ConfigSources,
  problems: string[],
  warnings: string[],
): string | null {
  const flag = flags[field.flagKey];
  const fileVariable = `${field.env}_FILE`;
  if (flag !== undefined) {
    if (field.secret) return readSecret(field.flag, String(flag), problems, warnings);
    if (field.fromFile && withoutPassword(String(flag)).includes('***')) {
      const remedy = `put it into a file and name that in ${fileVariable}`;
      warnings.push(
        `${field.flag}: a password on the command line is seen by everybody: ${remedy}`,
      );
    }
    return String(flag);
  }
  // An empty variable counts as absent: that is how compose files and shells say "not set".
  const direct = env[field.env] || null;
  const file = field.fromFile ? env[fileVariable] || null : null;
  if (direct !== null && file !== null) {
    problems.push(`${field.env}: set, and ${fileVariable} too: keep one of them`);
    return direct;
  }
  if (file !== null) return readSecret(fileVariable, file, problems, warnings);
  return direct ?? field.default;
}

/** What it was said by, for whoever has to say it otherwise. */
export function asGiven(
  { env, flag, flagKey }: ConfigField,
  flags: ConfigSources['flags'],
): string {
  return flags[flagKey] === undefined ? env : flag;
}

function readSecret(
  source: string,
  file: string,
  problems: string[],
  warnings: string[],
): string | null {
  try {
    // The first process of a container has a machine to itself; compose gives it secrets that all may read.
    if ((statSync(file).mode & 0o004) !== 0 && process.pid !== 1) {
      warnings.push(`${source}: every user of this machine can read the file: chmod o-r ${file}`);
    }
    const text = readFileSync(file, 'utf8').trim();
    if (text !== '') return text;
    problems.push(`${source}: the file is empty`);
  } catch (error) {
    problems.push(`${source}: the file cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  return null;
}

/**
 * All three tokens or none. With some of them, it would have to be guessed whether the others'
 * doors are meant to be open or shut.
 */
export function tokenProblems(raw: Readonly<Record<string, string | null>>): string[] {
  const tokens = (['adminToken', 'submitToken', 'executorToken'] as const).map((name) => ({
    env: `SODA_${name.replace('Token', '').toUpperCase()}_TOKEN`,
    value: raw[name] ?? null,
  }));
  const missing = tokens.filter(({ value }) => value === null).map(({ env }) => env);
  if (missing.length > 0) {
    const host = raw['host'] ?? '';
    if (!/^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1)$/i.test(host)) {
      return [
        `SODA_HOST: beyond loopback all three tokens are required; ${missing.join(', ')} not set`,
      ];
    }
    if (missing.length < tokens.length) {
      return [`${missing.join(', ')}: not set; set all three tokens, or none of them on loopback`];
    }
    return [];
  }
  const distinct = new Set(tokens.map(({ value }) => value)).size;
  return distinct === tokens.length ? [] : ['SODA_*_TOKEN: two of the three tokens are the same'];
}

/** For people. */
export function withoutPassword(text: string): string {
  const url = text.startsWith('sqlite:') ? null : urlOf(text);
  if (url === null) return text;
  if (url.password !== '') url.password = '***';
  return url.href;
}

function urlOf(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}
