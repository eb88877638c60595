/**
 * What is kept of a change that somebody has made: who, from where, what, and how it was before and after. Secrets
 * never come in, and nothing of it is long.
 */
import { AUDIT_STATE_LENGTH_MAX } from '../bounds.ts';

/** Who asks for a change, and for which. */
export interface Author {
  /** The name of a token; null: none was needed. */
  readonly actor: string | null;
  readonly role: string;
  readonly address: string;
  /** As `actions.ts` names it. */
  readonly action: string;
  /** In which; null: in none. */
  readonly namespace: string | null;
}

/** A row. Steps and stores make one, and nobody ever changes it. */
export interface AuditRecord extends Author {
  readonly at: number;
  /** What was changed, by its name; null: what has none. */
  readonly target: string | null;
  /** `refused`: to somebody who may not. */
  readonly outcome: 'done' | 'refused';
  /** By which many were chosen: JSON text. */
  readonly filter: string | null;
  /** How many. */
  readonly count: number | null;
  /** What of it has changed, as it was and as it is: JSON text of an object. Null: it was, or is, not there. */
  readonly before: string | null;
  readonly after: string | null;
  readonly reason: string | null;
}

/** Something as people know it, by the names of the API; instants in epoch milliseconds under `..._at` and `..._until`. */
export type Fields = Readonly<Record<string, unknown>>;

/** What became of something. */
export interface Outcome {
  readonly target: string | null;
  /** All of it; null: it was not there. */
  readonly before: Fields | null;
  readonly after: Fields | null;
  readonly filter?: Fields | null;
  readonly count?: number | null;
  readonly reason?: string | null;
}

/** Null: for nobody. */
export function changeMadeBy(
  author: Author | null,
  at: number,
  outcome: Outcome,
): AuditRecord | null {
  return author && changeMade(author, at, outcome);
}

export function changeMade(author: Author, at: number, outcome: Outcome): AuditRecord {
  const { target, before, after, filter = null, count = null, reason = null } = outcome;
  const names = [...new Set(Object.keys({ ...before, ...after }))].filter(
    (name) => textOf(before?.[name]) !== textOf(after?.[name]),
  );
  return asKept({
    ...author,
    at,
    target,
    outcome: 'done',
    filter: filter && bounded(filter, Object.keys(filter)),
    count,
    before: before && bounded(before, names),
    after: after && bounded(after, names),
    reason,
  });
}

/** @param count of tries that this stands for. */
export function changeRefused(
  author: Author,
  at: number,
  target: string | null,
  count: number,
): AuditRecord {
  const nothing = { filter: null, before: null, after: null, reason: null };
  return asKept({ ...author, ...nothing, at, target, outcome: 'refused', count });
}

/** No database changes a character of it, or it would not be what was hashed; JSON text has escapes for such ones. */
function asKept(record: AuditRecord): AuditRecord {
  const { actor, target, reason } = record;
  return { ...record, actor: plain(actor), target: plain(target), reason: plain(reason) };
}

/** Without halves of characters, and control characters but those of lines. */
function plain(text: string | null): string | null {
  return text && text.replace(/(?![\t\n\r])[\p{Cc}\p{Cs}]/gu, '\uFFFD');
}

/** What is not said, and null, are the same. */
function textOf(value: unknown): string {
  return JSON.stringify(value ?? null);
}

/** What does not fit any more is left out by its value, and its length told. */
function bounded(fields: Fields, names: readonly string[]): string {
  let length = 0;
  const entries = names.map((name) => {
    const text = withoutSecrets(textOf(fields[name]));
    if (length + text.length > AUDIT_STATE_LENGTH_MAX) {
      return `${JSON.stringify(name)}:{"omitted_length":${text.length}}`;
    }
    length += text.length;
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${entries.join(',')}}`;
}

/** Whoever has the address of a receiver may have a password in it, or behind its question mark. */
function withoutSecrets(json: string): string {
  const named = json.replace(/(\w:\/\/)[^\s"/?#@]*@/g, '$1***@');
  // Matches wherever it begins, or a long text without a question mark would be read once for each beginning.
  return named.replace(
    /(https?:\/\/[^\s"?#]*\??)([^\s"#]*)/gi,
    (_, address: string, rest: string) => (rest === '' ? address : `${address}***`),
  );
}
