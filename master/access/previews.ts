/**
 * Proofs that somebody was shown what an operation would do: what the preview has counted and frozen, signed
 * together with who asked and for what. Whoever hands it back may begin that operation, for ten
 * minutes. It needs no row, and holds over restarts of the master. Never logs or gives out a secret.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { AskedBulk, Frozen } from '../application/operations/operations-handle.ts';
import { WORK_KEPT_MS_MIN } from '../domain/bounds.ts';
import type { Backfill, Bulk } from '../domain/long-work/work.ts';
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

/** Who asks for which times of a job to be run. */
export interface BackfillAsker extends Omit<Asker, 'asked'> {
  readonly job: string;
  readonly asked: Pick<Backfill, 'trigger' | 'from' | 'which' | 'maxRunning'> & {
    readonly to: number;
  };
}

/** As it was counted: by that version of the job, up to that time. */
interface SealedBackfill extends Pick<Backfill, 'until'>, Pick<Frozen, 'count' | 'isExact'> {
  readonly version: number;
  readonly expiresAt: number;
}

export function sealPreview(
  { seqMax, endedBefore, count, isExact, expiresAt }: Sealed,
  asker: Asker,
  secrets: readonly string[],
): string {
  return seal([seqMax, endedBefore, count, isExact, expiresAt], aboutBulk(asker), secrets);
}

/** Null: it is of another caller, another request, or not of this installation. */
export function openPreview(
  token: string,
  asker: Asker,
  secrets: readonly string[],
): Sealed | null {
  const opened = open<[number, number, number, boolean, number]>(token, aboutBulk(asker), secrets);
  if (opened === null) return null;
  const [seqMax, endedBefore, count, isExact, expiresAt] = opened;
  return { seqMax, endedBefore, count, isExact, expiresAt };
}

export function sealBackfill(
  { until, count, isExact, version, expiresAt }: SealedBackfill,
  asker: BackfillAsker,
  secrets: readonly string[],
): string {
  return seal([until, count, isExact, version, expiresAt], aboutBackfill(asker), secrets);
}

/** As `openPreview`. */
export function openBackfill(
  token: string,
  asker: BackfillAsker,
  secrets: readonly string[],
): SealedBackfill | null {
  type Kept = [number, number, boolean, number, number];
  const opened = open<Kept>(token, aboutBackfill(asker), secrets);
  if (opened === null) return null;
  const [until, count, isExact, version, expiresAt] = opened;
  return { until, count, isExact, version, expiresAt };
}

function seal(fields: readonly unknown[], about: object, [newest = '']: readonly string[]): string {
  const body = Buffer.from(JSON.stringify(fields)).toString('base64url');
  return tokenOf(newest, body, about);
}

function open<T>(token: string, about: object, secrets: readonly string[]): T | null {
  const [body = ''] = token.split('.', 1);
  const given = Buffer.from(token);
  // To the letter: of its text follows which operation it is.
  const isOurs = secrets.some((secret) => {
    const expected = Buffer.from(tokenOf(secret, body, about));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  return isOurs ? (JSON.parse(Buffer.from(body, 'base64url').toString()) as T) : null;
}

/** Whoever begins it twice means one: the answer may have been lost. */
export function operationIdOf(token: string): string {
  return `op-${createHash('sha256').update(token).digest('hex').slice(0, 24)}`;
}

function aboutBulk({ namespace, actor, asked: { action, filter, ids, change } }: Asker): object {
  return { for: 'bulk', namespace, actor: nameOf(actor), action, filter, ids, change };
}

function aboutBackfill({ namespace, actor, job, asked }: BackfillAsker): object {
  return { for: 'backfill', namespace, actor: nameOf(actor), job, ...asked };
}

const nameOf = ({ name, role, scope, digest }: Asker['actor']) => ({ name, role, scope, digest });

/** What other proofs are made of is an array of five: no text is both. */
function tokenOf(secret: string, body: string, about: object): string {
  const text = JSON.stringify({ body, ...about });
  const mac = createHmac('sha256', Buffer.from(secret, 'base64url')).update(text);
  return `${body}.${mac.digest('base64url')}`;
}
