/** An alert: something that a rule found and that somebody has to know of, from when it was raised until it is cleared. */
import type { AlertKind, Severity } from './rule.ts';

/** Of what a rule found it, and what is to be said of it. */
export interface Finding {
  /** Null: of the master itself. */
  readonly namespace: string | null;
  /** Null: it is not about one type. */
  readonly type: string | null;
  /** Null: it is not about tasks of one group alone. */
  readonly group: string | null;
  /** Tells it from others of its rule, and people what it is about: `type transcode`, `task a-1`. */
  readonly subject: string;
  /** What is so, by which limit, in a sentence or two. */
  readonly message: string;
  /** The least that would mend it; null: nobody knows. */
  readonly change: string | null;
  /** JSON text of an object: what the message says, or came with it; null: there is nothing more to say. */
  readonly fields: string | null;
  /** For how long it is so is not known: what is raised goes on, else it is raised once it was found for so long. */
  readonly unsureMs?: number;
  /** What would mend it was not looked for: what was known of it holds, as long as it is so for the same cause. */
  readonly isUnasked?: boolean;
  /** Receivers were told of it under that id, before it could be written: it is raised so, whatever it takes else. */
  readonly toldAs?: { readonly id: string; readonly raisedAt: number };
}

export interface Alert extends Omit<Finding, 'toldAs' | 'unsureMs' | 'isUnasked'> {
  readonly id: string;
  /** By name. */
  readonly rule: string;
  readonly kind: AlertKind;
  readonly severity: Severity;
  readonly raisedAt: number;
  /** When it was found, or said, last. */
  readonly seenAt: number;
  /** How often it was said: of a message. */
  readonly count: number;
  /** Null: it goes on. */
  readonly clearedAt: number | null;
  /** When receivers were told last; null: nobody was. */
  readonly toldAt: number | null;
  /** How often it was told again. */
  readonly repeatCount: number;
  readonly silencedUntil: number | null;
  readonly silencedBy: string | null;
  readonly silenceReason: string | null;
}

/** What an executor says. */
export interface Said {
  readonly severity: Severity;
  readonly message: string;
  /** JSON text of an object; undefined: there is nothing more to say. */
  readonly fields: string | undefined;
}

/** What receivers are to be told of it. */
export interface Telling {
  readonly event: 'raised' | 'repeated' | 'cleared';
  readonly alert: Alert;
}

/** Raised once at a time for each. */
export function keyOf({
  rule,
  namespace,
  subject,
}: Pick<Alert, 'rule' | 'namespace' | 'subject'>): string {
  return JSON.stringify([rule, namespace, subject]);
}

export function isSilenced({ silencedUntil }: Pick<Alert, 'silencedUntil'>, now: number): boolean {
  return silencedUntil !== null && silencedUntil > now;
}
