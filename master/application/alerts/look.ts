/** One look by all rules at all namespaces, and at the disk: what is found, and what nobody knows. Decides nothing. */
import type { Finding } from '../../domain/alerts/alert.ts';
import { findDisk, findingsIn, type Looked } from '../../domain/alerts/findings.ts';
import type { IsKnown } from '../../domain/alerts/book.ts';
import { type AlertRule, forgetfulMs, hasToSettle } from '../../domain/alerts/rule.ts';
import type { Clock, Disk } from '../ports.ts';
import { inPieces, letOthers } from '../turnstile.ts';

/** Namespaces by name; null: what is of none. */
export interface LookedAt {
  /** By the names of the rules that were looked by. */
  readonly found: ReadonlyMap<string, readonly Finding[]>;
  readonly unknown: ReadonlySet<string | null>;
  /** Before that nothing was counted. */
  readonly knownSince: ReadonlyMap<string | null, number>;
  /** When each namespace was looked at last, also those that are not led any more. */
  readonly lookedAt: ReadonlyMap<string | null, number>;
  /** When the first look was. */
  readonly begunAt: number;
  /** Of some namespace it is known how it stands. */
  readonly isAnyKnown: boolean;
  /** Executors may yet come back. */
  readonly isEarly: boolean;
}

/** Longer than any rule looks back. */
const KEPT_MS = 8 * 86_400_000;

interface Look {
  readonly now: number;
  readonly isEarly: boolean;
  readonly before: Pick<LookedAt, 'lookedAt' | 'begunAt'> | null;
}

export interface Watched {
  readonly clock: Clock;
  /** The namespaces that are led; `state` is null where nothing is known of it now. */
  readonly look: () => readonly (Omit<Looked, 'state' | 'now' | 'isEarly'> & {
    readonly state: Looked['state'] | null;
  })[];
  readonly disk: Disk;
}

/** Others have their turn again and again. @param before null: this is the first look. */
export async function lookBy(
  rules: readonly AlertRule[],
  { clock, look, disk }: Watched,
  { now, isEarly, before }: Look,
): Promise<LookedAt> {
  const found = new Map<string, Finding[]>(rules.map(({ name }) => [name, []]));
  const unknown = new Set<string | null>();
  const knownSince = new Map<string | null, number>();
  const lookedAt = new Map(before?.lookedAt);
  let isAnyKnown = false;
  for (const { state, ...looked } of look()) {
    knownSince.set(looked.namespace, looked.recent.since);
    lookedAt.set(looked.namespace, now);
    if (state === null) unknown.add(looked.namespace);
    else {
      isAnyKnown = true;
      const all = await inPieces(findingsIn({ ...looked, state, now, isEarly }, rules), clock);
      for (const [name, findings] of all) found.get(name)?.push(...findings);
    }
    await letOthers(clock);
  }
  const space = await disk();
  if (space === null) unknown.add(null);
  else {
    for (const rule of rules.filter(({ kind }) => kind === 'disk')) {
      const finding = findDisk(rule, space);
      if (finding !== null) found.get(rule.name)?.push(finding);
    }
  }
  for (const [namespace, at] of lookedAt) if (now - at > KEPT_MS) lookedAt.delete(namespace);
  const begunAt = before?.begunAt ?? now;
  return { found, unknown, knownSince, lookedAt, begunAt, isAnyKnown, isEarly };
}

/** By what that look has seen. */
export function knownBy(looked: LookedAt, now: number): IsKnown {
  const { found, unknown, knownSince, lookedAt, begunAt, isEarly } = looked;
  /** Of one that is not led there is nothing in memory: what was found by what was counted ends by its time alone. */
  const since = (namespace: string): number =>
    knownSince.get(namespace) ?? lookedAt.get(namespace) ?? begunAt;
  return (namespace, rule) => {
    if (unknown.has(namespace)) return false;
    if (rule === null) return true;
    if (isEarly && hasToSettle(rule)) return false;
    // One that was set meanwhile was not looked by.
    if (!found.has(rule.name)) return false;
    const leastMs = forgetfulMs(rule);
    return namespace === null || leastMs === 0 || now - since(namespace) > leastMs;
  };
}
