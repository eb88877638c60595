/**
 * Which executors are meant, as people write it: terms with commas between, all of which must hold. A term is
 * `key=value` or `key!=value`; of what an executor has several of, types and labels, one that is so decides. Knows
 * nothing of where executors come from.
 */
import { invalidFields } from '../http/problem.ts';

/** Of an executor, by the keys of selectors; the empty text where it does not say, null where nobody knows. */
export interface Described {
  readonly id: string;
  readonly type: readonly string[] | null;
  readonly label: readonly string[] | null;
  readonly host: string | null;
  readonly version: string | null;
  readonly state: string;
}

type Key = keyof Described;
const KEYS: readonly string[] = ['id', 'type', 'label', 'host', 'version', 'state'];
const STATES = ['connecting', 'idle', 'offered', 'busy', 'draining', 'gone'];

export interface Term {
  readonly key: Key;
  readonly isNot: boolean;
  readonly value: string;
}

const TERM = /^([a-z]+)(!?)=(?!=)(.*)$/s;

/** @throws {Problem} 400, naming the term that is none. */
export function selectorOf(text: string): Term[] {
  return text.split(',').map((part) => {
    const [, key = '', not = '', value = ''] = TERM.exec(part.trim()) ?? [];
    const shown = part.trim().slice(0, 64);
    if (key === '') throw wrong(`expected key=value or key!=value, not "${shown}"`);
    if (!KEYS.includes(key)) throw wrong(`expected one of ${KEYS.join(', ')}, not "${key}"`);
    if (key === 'state' && !STATES.includes(value)) {
      throw wrong(`expected one of the states ${STATES.join(', ')}, not "${value.slice(0, 64)}"`);
    }
    return { key: key as Key, isNot: not !== '', value };
  });
}

/** Whether all of them hold; of what nobody knows none does, `!=` neither. */
export function isSelected(terms: readonly Term[], one: Described): boolean {
  return terms.every(({ key, isNot, value }) => {
    const has = one[key];
    if (has === null) return false;
    return (typeof has === 'string' ? has === value : has.includes(value)) !== isNot;
  });
}

const wrong = (message: string) => invalidFields([{ field: 'selector', message }]);
