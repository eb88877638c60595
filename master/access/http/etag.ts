/** Versions of what may be changed, as the headers of HTTP name them. */
import { createHash } from 'node:crypto';
import { invalidFields } from './problem.ts';
import type { ApiRequest } from './route.ts';

/** What `If-Match` may be, for the document. */
export const ifMatch = {
  'If-Match': 'The ETag of the version that is to be changed: another one is answered with 412.',
};

/** What `If-None-Match` may be. */
export const ifNoneMatch = {
  'If-None-Match': 'The ETag of an answer: where it is the same still, 304.',
};

/** `shown`: what is shown with it, of which some changes without a version. */
export function etagOf(version: number, shown?: string): string {
  if (shown === undefined) return `"${version}"`;
  const digest = createHash('sha256').update(shown).digest('base64url');
  return `"${version}.${digest.slice(0, 16)}"`;
}

/** The version that `If-Match` names; null: whatever there is. @throws {Problem} */
export function versionOf({ headers }: Pick<ApiRequest, 'headers'>): number | null {
  const { 'if-match': given } = headers;
  if (given === undefined) return null;
  const version = /^"(\d{1,16})(?:\.[\w-]+)?"$/.exec(given)?.[1];
  if (version !== undefined) return Number(version);
  throw invalidFields([{ field: 'If-Match', message: 'expected one ETag, in its quotes: "3"' }]);
}
