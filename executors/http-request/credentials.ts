/** Secrets of the executor for hosts, read once: from its environment or a file, never from a task. */
import { readFile } from 'node:fs/promises';
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { isHost } from '../requests/guarded-requests.ts';
import type { RequestSettings } from './params.ts';

export interface Credential {
  readonly host: string;
  readonly header: string;
  readonly value: string;
}

/** @throws where one is not there, for a person to read. Never names a value. */
export async function readCredentials({
  credentials,
}: RequestSettings): Promise<readonly Credential[]> {
  return Promise.all(
    credentials.map(async ({ host, header, env, file }, index) => {
      const where = `credentials.${index}`;
      if ((env === undefined) === (file === undefined)) {
        throw new Error(`${where}: expected either env or file`);
      }
      const text = file === undefined ? process.env[env ?? ''] : await readFile(file, 'utf8');
      const value = text?.trim() ?? '';
      if (value === '') throw new Error(`${where}: ${env ?? file} is empty, or not there`);
      if (!/^[\x20-\x7e]+$/.test(value)) throw new Error(`${where}: expected visible characters`);
      return { host, header: header.toLowerCase(), value };
    }),
  );
}

/**
 * What goes to that address besides what the task says, which it replaces.
 * @throws {NonRetryableError} everybody on the way could read it: a task may write `http://` where the operator has thought of
 * https. Whoever lists the port has thought of that port.
 */
export function credentialsFor(
  credentials: readonly Credential[],
  url: URL,
): Record<string, string> {
  const own = credentials.filter(({ host }) => isHost(url, host));
  const bare = own.find(({ host }) => url.protocol === 'http:' && !/:\d+$/.test(host));
  if (bare !== undefined) {
    throw new NonRetryableError(
      `url: the credentials of ${bare.host} go over https only; to allow http, list them for ${bare.host}:80`,
    );
  }
  return Object.fromEntries(own.map(({ header, value }) => [header, value]));
}

/** As a server may say it again: with the scheme before it, and without. */
export function secretsIn(own: Readonly<Record<string, string>>): string[] {
  return Object.values(own).flatMap((value) => {
    const token = /^[A-Za-z]+ +(\S{6,})$/.exec(value)?.[1];
    return token === undefined ? [value] : [value, token];
  });
}
