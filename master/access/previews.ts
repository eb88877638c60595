/**
 * Proofs that somebody was shown what an operation would do: what the preview has counted and frozen, signed
 * together with who asked and for what. Whoever hands it back may begin that operation, for ten
 * minutes. It needs no row, and holds over restarts of the master. Never logs or gives out a secret.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { AskedBulk, Frozen } from '../application/operations/operations-handle.ts';
import { WORK_KEPT_MS_MIN } from '../domain/bounds.ts';
import type { Bulk } from '../domain/long-work/work.ts';
import type { Actor } from './auth.ts';

/** As long as what it has begun is known, so that it begins nothing twice. */
export const PREVIEW_MS = WORK_KEPT_MS_MIN;

/** Who asks for what. */
export interface Asker {
  readonly namespace: string;
  readonly actor: Pick<Actor, 'name' | 'role' | 'scope' | 'digest'>;
  readonly asked: AskedBulk & Pick<Bulk, 'change'>;
}

interface Sealed extends Frozen {
  readonly expiresAt: number;
}

export function sealPreview(
  sealed: Sealed,
  asker: Asker,
  [newest = '']: readonly string[],
): string {
  const { seqMax, endedBefore, count, isExact, expiresAt } = sealed;
  const text = JSON.stringify([seqMax, endedBefore, count, isExact, expiresAt]);
  const body = Buffer.from(text).toString('base64url');
  return tokenOf(newest, body, asker);
}

/** Null: it is of another caller, another request, or not of this installation. */
export function openPreview(
  token: string,
  asker: Asker,
  secrets: readonly string[],
): Sealed | null {
  const [body = ''] = token.split('.', 1);
  const given = Buffer.from(token);
  // To the letter: of its text follows which operation it is.
  const isOurs = secrets.some((secret) => {
    const expected = Buffer.from(tokenOf(secret, body, asker));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isOurs) return null;
  const text = Buffer.from(body, 'base64url').toString();
  const [seqMax, endedBefore, count, isExact, expiresAt] = JSON.parse(text) as [
    number,
    number,
    number,
    boolean,
    number,
  ];
  return { seqMax, endedBefore, count, isExact, expiresAt };
}

/** Whoever begins it twice means one: the answer may have been lost. */
export function operationIdOf(token: string): string {
  return `op-${createHash('sha256').update(token).digest('hex').slice(0, 24)}`;
}

function tokenOf(secret: string, body: string, { namespace, actor, asked }: Asker): string {
  const { name, role, scope, digest } = actor;
  const { action, filter, ids, change } = asked;
  // What other proofs are made of is an array of five: no text is both.
  const about = { for: 'bulk', body, namespace, actor: { name, role, scope, digest } };
  const text = JSON.stringify({ ...about, action, filter, ids, change });
  const mac = createHmac('sha256', Buffer.from(secret, 'base64url')).update(text);
  return `${body}.${mac.digest('base64url')}`;
}
