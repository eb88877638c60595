/**
 * By what a repetition of a request is recognised: 128 bits over what it means. Outside of
 * `params` that is their meaning, with defaults filled in. The params are opaque: white space and
 * the order of keys do not count, numbers and strings do as they are spelled.
 */
import { hash } from 'node:crypto';
import type { Submission } from '../../application/master-handle.ts';
import { canonicalJson } from './canonical-json.ts';

type Digestible = Omit<Submission, 'id' | 'requestHash' | 'asked'>;

/** Tells digests apart that are made in different ways. Those of 2.0.0 have none. */
const MARK = '2:';

export function digestOf(request: Digestible): string {
  // What is null was not asked for: a field that is added later changes no digest made before.
  const meaning = { ...meaningOf(request), ...laterMeaningOf(request) };
  const text = JSON.stringify(meaning, (_, value: unknown) => value ?? undefined);
  return MARK + shortHash(`${text}\n${canonicalJson(request.params)}`);
}

/** What its type has given a task is no part of the request. `holder`: the digest of the task whose id this request has, in whichever way it was made. */
export function isSameRequest(submission: Submission, holder: string): boolean {
  if (holder === '') return false;
  if (holder.startsWith(MARK)) return holder === submission.requestHash;
  const { asked: request = submission } = submission;
  // What 2.0.0 did not know it cannot have been asked for.
  const isKnown = Object.values(laterMeaningOf(request)).every((value) => value === null);
  return isKnown && holder === formerDigestOf(request);
}

/** As 2.0.0 made it: such digests stand in rows for as long as those are retained. */
function formerDigestOf(request: Digestible): string {
  return shortHash(JSON.stringify(meaningOf(request, sortKeys(JSON.parse(request.params)))));
}

/** What came since, null where it is the default. */
function laterMeaningOf(request: Digestible) {
  const { startTimeoutMs, startTimeoutAction, diskBytes, uses, booking = null } = request;
  const action = startTimeoutAction === 'alert' ? 'alert' : null;
  const taken = uses.length === 0 ? null : uses;
  return { startTimeoutMs, startTimeoutAction: action, diskBytes, uses: taken, booking };
}

/** What 2.0.0 knew, in its order: a field that is added belongs into `laterMeaningOf`. */
function meaningOf(request: Digestible, params?: unknown) {
  return {
    type: request.type,
    params,
    labels: [...request.labels].sort(),
    requires: [...request.requires].sort(),
    user: request.user,
    notifyUrl: request.notifyUrl,
    priority: request.priority,
    runAt: request.runAt,
    retry: request.retry,
    assignTimeoutMs: request.assignTimeoutMs,
    executionTimeoutMs: request.executionTimeoutMs,
    stallTimeoutMs: request.stallTimeoutMs,
    deadlineAt: request.deadlineAt,
  };
}

function shortHash(text: string): string {
  return hash('sha256', text).slice(0, 32);
}

/** A copy with the keys of every object in order. The depth was checked: it may recurse. */
function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const sorted: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    sorted[key] = sortKeys(inner);
  }
  return sorted;
}
