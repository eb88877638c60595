/**
 * Forms as data. A field says where in the body of a request its value stands: so the body follows from what was typed, and
 * what the master finds wrong there can be told beside it.
 */
import type { Problem } from '@soda-scheduler/protocol';
import { instead, t } from '../../words/words.ts';

export interface Field {
  /** The way to it in the body: `limits.max_running`. The master names it so too. */
  readonly name: string;
  readonly label: string;
  /**
   * `words`: several, with spaces between; `choices`: several of `options`; `check`: yes or no; `limit`: a
   * number, or `none`; `digits`: a number that keeps each of them. Default: `text`.
   */
  readonly kind?:
    | 'text'
    | 'number'
    | 'limit'
    | 'digits'
    | 'datetime-local'
    | 'json'
    | 'select'
    | 'words'
    | 'choices'
    | 'check'
    | 'secret';
  readonly options?: readonly string[];
  /** What else may be typed there: one of these is often meant. */
  readonly suggestions?: readonly string[];
  /** What stands for an option. Default: itself. */
  readonly inWords?: (option: string) => string;
  /** What stands there at first. Of a check: `yes`. */
  readonly initial?: string;
  /** What holds where it is left empty. */
  readonly preset?: string;
  /** Of a number: seconds (`s`) are told as people say them too. */
  readonly unit?: string;
  readonly isRequired?: boolean;
  readonly hint?: string;
  /** The heading that it stands under. */
  readonly section?: string;
}

/** What was typed, by the names of fields. */
export type Typed = Readonly<Record<string, string>>;
/** What is wrong, by the names of fields. */
export type Wrong = Readonly<Record<string, string>>;

export const YES = 'yes';
/** In place of a limit. */
export const NONE = 'none';

/** What it says: as typed, or as it stood there at first. */
export function textOf({ name, initial = '' }: Field, typed: Typed): string {
  return typed[name] ?? initial;
}

export function wordsIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}

/** An instant as an input of the browser has it, to the minute; empty where there is none. */
export function localOf(instant: string | number | null | undefined): string {
  const at = new Date(instant ?? Number.NaN);
  if (Number.isNaN(at.getTime())) return '';
  const day = [at.getFullYear(), at.getMonth() + 1, at.getDate()];
  const [year, ...rest] = [...day, at.getHours(), at.getMinutes()].map((part) => String(part));
  const [month, date, hour, minute] = rest.map((part) => part.padStart(2, '0'));
  return `${year?.padStart(4, '0')}-${month}-${date}T${hour}:${minute}`;
}

/** Something is wrong with one field, which the master need not be asked for. */
export class WrongField extends Error {
  override readonly name = 'WrongField';
  readonly field: string;
  /** What is wrong with others. */
  readonly others: readonly WrongField[];

  constructor(field: string, message: string, others: readonly WrongField[] = []) {
    super(message);
    this.field = field;
    this.others = others;
  }
}

/** Each is asked, though one before it is wrong. @throws {WrongField} the first that is, with the others. */
export function checkAll(checks: readonly (() => void)[]): void {
  const wrong: WrongField[] = [];
  for (const check of checks) {
    try {
      check();
    } catch (error) {
      if (!(error instanceof WrongField)) throw error;
      wrong.push(error, ...error.others);
    }
  }
  const [first, ...others] = wrong;
  if (first !== undefined) throw new WrongField(first.field, first.message, others);
}

/** What they say: fields that are left empty are left out. @throws {WrongField} */
export function bodyOf(fields: readonly Field[], typed: Typed): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const field of fields) {
    const value = valueOf(field, textOf(field, typed));
    if (value !== undefined) setAt(body, field.name, value);
  }
  return body;
}

/** Undefined: it is left empty. @throws {WrongField} */
export function valueOf({ name, kind }: Field, text: string): unknown {
  if (kind === 'check') return text === YES;
  if (text.trim() === '') return undefined;
  if (kind === 'limit' && text.trim() === NONE) return null;
  if (kind === 'number' || kind === 'limit') return numberIn(name, text);
  if (kind === 'datetime-local') return new Date(text).toISOString();
  if (kind === 'words' || kind === 'choices') return wordsIn(text);
  if (kind !== 'json') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new WrongField(name, String(error));
  }
}

/** @throws {WrongField} */
export function numberIn(field: string, text: string): number {
  const number = Number(text);
  if (text.trim() !== '' && !Number.isNaN(number)) return number;
  throw new WrongField(field, t('field.no-number', { text }));
}

/** At `a.b` in objects within one another, made where there is none; undefined takes it out, and what is empty then. */
export function setAt(object: Record<string, unknown>, path: string, value: unknown): void {
  const [first = '', ...rest] = path.split('.');
  if (rest.length === 0) {
    if (value === undefined) delete object[first];
    else object[first] = value;
    return;
  }
  const inner = { ...(object[first] as Record<string, unknown> | undefined) };
  setAt(inner, rest.join('.'), value);
  if (Object.keys(inner).length === 0) delete object[first];
  else object[first] = inner;
}

type Fault = Pick<NonNullable<Problem['errors']>[number], 'field' | 'message' | 'kind' | 'values'>;

/** What is wrong, in the language of the page, as far as it has words for that. */
export function faultSaid({ message, kind, values = {} }: Fault): string {
  const { of } = values;
  return kind === undefined
    ? message
    : instead(
        `fault.${kind}${of === undefined || kind === 'characters' ? '' : `.${of}`}`,
        message,
        values,
      );
}

/** What was refused: what is of a field that is there stands beside it, and the rest is `others`. */
export function faultsOf(
  error: unknown,
  fields: readonly Field[],
): { readonly wrong: Wrong; readonly others: readonly Fault[] } {
  const { problem } = error as { readonly problem?: { readonly errors?: readonly Fault[] } };
  const faults: readonly Fault[] =
    error instanceof WrongField ? [error, ...error.others] : (problem?.errors ?? []);
  const wrong: Record<string, string> = {};
  const others: Fault[] = [];
  for (const fault of faults) {
    const of = fields.find(({ name }) => name === fault.field || isWithin(fault.field, name));
    if (of === undefined) others.push(fault);
    else wrong[of.name] = [wrong[of.name], faultSaid(fault)].filter(Boolean).join('; ');
  }
  return { wrong, others };
}

/** `to[0]` is in `to`, and so is `to.x`. */
const isWithin = (path: string, name: string): boolean =>
  path.startsWith(name) && /[.[]/.test(path.charAt(name.length));
