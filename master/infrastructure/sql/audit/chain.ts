/**
 * What makes rows a chain: those of a commit are hashed together with the hash before them, under a key; and where the
 * chain begins and ends is sealed with it. So a row that is changed, comes in, goes or changes its place is found by
 * whoever has the key. Pure.
 */
import { createHmac } from 'node:crypto';
import type { Value } from '../rows.ts';

/** The last row of a commit. */
export interface Link {
  readonly seq: number;
  readonly hash: string;
}

export interface Head {
  /** Behind which the oldest row stands. */
  readonly first: Link;
  readonly last: Link;
  /** The row before which somebody has changed the head by hand; null: nobody has, as far as rows are kept. */
  readonly brokenSeq: number | null;
}

export const NO_LINK: Link = { seq: 0, hash: '' };

/** @param before the hash of the rows before. */
export function hashOf(key: string, before: string, rows: readonly (readonly Value[])[]): string {
  const hmac = createHmac('sha256', key).update(before);
  for (const row of rows) hmac.update('\n').update(JSON.stringify(row));
  return hmac.digest('base64url');
}

export function sealed(key: string, head: Head): string {
  const text = JSON.stringify(head);
  return `${sealOf(key, text)} ${text}`;
}

/** Null: it was sealed with none of these. */
export function unsealed(keys: readonly string[], value: string): Head | null {
  const space = value.indexOf(' ');
  const text = value.slice(space + 1);
  const isOurs = keys.some((key) => sealOf(key, text) === value.slice(0, Math.max(space, 0)));
  return isOurs ? (JSON.parse(text) as Head) : null;
}

/** Other than any hash of rows. */
function sealOf(key: string, text: string): string {
  return createHmac('sha256', key).update('head\n').update(text).digest('base64url');
}
