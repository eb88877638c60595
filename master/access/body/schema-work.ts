/**
 * What a JSON schema may be made of here, and how much work its checks can be. Nobody may hang the master
 * with a schema, whoever has written the params: what nothing bounds is refused, with the path to it.
 */
import type { FieldError } from '../http/problem.ts';

/**
 * Values in a schema, with what its references refer to written out at each of them. It is compiled in one go,
 * at about 0.1 ms for each.
 */
const SCHEMA_VALUES_MAX = 150;
/** Of a text there may be so many steps for each of its characters, to this power. */
const PATTERN_POWER_MAX = 3;
const DIALECT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;
const REFERENCE = /^#\/\$defs\/([^/~%]+)$/;

/** What one check of a schema costs: see `workOf`. */
export interface SchemaCost {
  /** For each value of the params. */
  readonly values: number;
  /** For each text, by each power of its length, so many steps over a character. */
  readonly texts: readonly number[];
  /** How many keywords compare values with one another. */
  readonly comparisons: number;
}

/** Keywords by what they hold; those of no kind here are not known. */
const one = [
  'not',
  'if',
  'then',
  'else',
  'contains',
  'items',
  'additionalProperties',
  'propertyNames',
];
const list = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const byName = ['properties', 'patternProperties', 'dependentSchemas'];
const number = { is: Number.isFinite, words: 'a number' };
const count = {
  is: (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0,
  words: 'a whole number of at least 0',
};
const areNames = (value: unknown) =>
  Array.isArray(value) &&
  value.every((name) => typeof name === 'string') &&
  new Set(value).size === value.length;
const types = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
/** What their values must be. */
const plain: Readonly<Record<string, { is: (value: unknown) => boolean; words: string }>> = {
  type: {
    is: (value) => {
      const names: unknown[] = Array.isArray(value) ? value : [value];
      return names.length > 0 && names.every((name) => types.includes(name as string));
    },
    words: `${types.join(', ')}, or a list of these`,
  },
  enum: { is: (value) => Array.isArray(value) && value.length > 0, words: 'a list of values' },
  const: { is: () => true, words: 'a value' },
  multipleOf: {
    is: (value) => Number.isFinite(value) && Number(value) > 0,
    words: 'a number above 0',
  },
  maximum: number,
  exclusiveMaximum: number,
  minimum: number,
  exclusiveMinimum: number,
  maxLength: count,
  minLength: count,
  maxItems: count,
  minItems: count,
  maxContains: count,
  minContains: count,
  maxProperties: count,
  minProperties: count,
  uniqueItems: { is: (value) => typeof value === 'boolean', words: 'true or false' },
  required: { is: areNames, words: 'a list of names, each once' },
  dependentRequired: {
    is: (value) => isObject(value) && Object.values(value).every(areNames),
    words: 'a list of names for each name',
  },
};
/** Told to people, and checked by nobody: so says the dialect of `format` too. */
const words = [
  '$comment',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'format',
  'contentEncoding',
  'contentMediaType',
];
const keywords = new Map<string, 'one' | 'list' | 'byName' | 'plain' | 'words'>([
  ...one.map((name) => [name, 'one'] as const),
  ...list.map((name) => [name, 'list'] as const),
  ...byName.map((name) => [name, 'byName'] as const),
  ...Object.keys(plain).map((name) => [name, 'plain'] as const),
  ...words.map((name) => [name, 'words'] as const),
]);

/** The cost of a schema, or what of it is refused. */
export function costOf(schema: unknown): SchemaCost | FieldError {
  try {
    return new Walk(schema).cost();
  } catch (error) {
    if (error instanceof Refused) return { field: error.field, message: error.message };
    throw error;
  }
}

class Refused extends Error {
  readonly field: string;
  constructor(path: readonly string[], message: string) {
    super(message);
    this.field = ['params_schema', ...path].join('.').slice(0, 512);
  }
}

type Path = readonly string[];
type Fields = Readonly<Record<string, unknown>>;

class Walk {
  readonly #root: unknown;
  readonly #definitions: Fields;
  /** Being written out: a schema that is reached from within itself has no end. */
  readonly #open = new Set<string>();
  #values = 0;
  readonly #texts: number[] = Array(PATTERN_POWER_MAX + 1).fill(0);
  #comparisons = 0;

  constructor(root: unknown) {
    this.#root = root;
    const definitions = isObject(root) ? (root['$defs'] ?? {}) : {};
    if (!isObject(definitions)) throw new Refused(['$defs'], 'expected an object of schemas');
    this.#definitions = definitions;
  }

  cost(): SchemaCost {
    this.#schema(this.#root, [], true);
    const used: SchemaCost = {
      values: this.#values,
      texts: [...this.#texts],
      comparisons: this.#comparisons,
    };
    // Also those that nothing refers to: they are compiled.
    for (const name of Object.keys(this.#definitions)) this.#definition(name, ['$defs', name]);
    return used;
  }

  #definition(name: string, path: Path): void {
    if (this.#open.has(name)) throw new Refused(path, 'refers to itself, without an end');
    if (!Object.hasOwn(this.#definitions, name)) throw new Refused(path, 'there is no such schema');
    this.#open.add(name);
    this.#schema(this.#definitions[name], path, false);
    this.#open.delete(name);
  }

  #schema(schema: unknown, path: Path, isRoot: boolean): void {
    this.#count(path);
    if (typeof schema === 'boolean') return;
    if (!isObject(schema)) throw new Refused(path, 'expected a schema: an object, true or false');
    for (const [name, value] of Object.entries(schema))
      this.#keyword(name, value, [...path, name], isRoot);
  }

  #keyword(name: string, value: unknown, path: Path, isRoot: boolean): void {
    if (isRoot && name === '$defs') return;
    if (isRoot && name === '$schema') {
      if (typeof value === 'string' && DIALECT.test(value)) return;
      throw new Refused(path, 'expected https://json-schema.org/draft/2020-12/schema');
    }
    if (name === '$ref') return this.#reference(value, path);
    if (name === 'pattern') return this.#pattern(value, path);
    if (name === 'uniqueItems' && value === true) this.#comparisons += 1;
    // The characters of a text are counted one by one.
    if (name === 'maxLength' || name === 'minLength') this.#addToTexts(1, 1);
    const kind = keywords.get(name);
    if (kind === undefined) throw new Refused(path, 'not a keyword that is known here');
    if (kind === 'words') return;
    if (kind === 'plain') {
      const { is, words } = plain[name] ?? count;
      if (!is(value)) throw new Refused(path, `expected ${words}`);
      return this.#plain(value, path);
    }
    if (kind === 'one') return this.#schema(value, path, false);
    if (kind === 'list' ? !Array.isArray(value) : !isObject(value)) {
      throw new Refused(path, `expected ${kind === 'list' ? 'a list' : 'an object'} of schemas`);
    }
    for (const [key, inner] of Object.entries(value as Fields)) {
      if (name === 'patternProperties') this.#pattern(key, [...path, key]);
      this.#schema(inner, [...path, key], false);
    }
  }

  #reference(value: unknown, path: Path): void {
    const name = typeof value === 'string' ? REFERENCE.exec(value)?.[1] : undefined;
    if (name === undefined)
      throw new Refused(path, 'expected #/$defs/ and a name: nothing is fetched');
    this.#definition(name, path);
  }

  #pattern(value: unknown, path: Path): void {
    this.#count(path);
    const growth = typeof value === 'string' ? growthOf(value) : null;
    if (growth === null) {
      const message =
        'expected characters, classes ([a-z], \\d), anchors, and repetitions of one of them: no groups, no |';
      throw new Refused(path, message);
    }
    if (growth.length > PATTERN_POWER_MAX + 1) {
      const message = `expected at most ${PATTERN_POWER_MAX} repetitions, and one less without ^ at the beginning`;
      throw new Refused(path, message);
    }
    for (const [power, steps] of growth.entries()) this.#addToTexts(steps, power);
  }

  #addToTexts(steps: number, power: number): void {
    this.#texts[power] = (this.#texts[power] ?? 0) + steps;
  }

  #plain(value: unknown, path: Path): void {
    this.#count(path);
    if (typeof value !== 'object' || value === null) return;
    for (const inner of Object.values(value)) this.#plain(inner, path);
  }

  #count(path: Path): void {
    this.#values += 1;
    if (this.#values <= SCHEMA_VALUES_MAX) return;
    const message = `larger than ${SCHEMA_VALUES_MAX} values, with each $ref written out`;
    throw new Refused(path.slice(0, 1), message);
  }
}

const ATOM = String.raw`(?:\\[dDwWsSbB]|\\[^A-Za-z0-9]|\[\^?(?:\\[^\n]|[^\]\\\n])+\]|[^\\^$.*+?()[\]{}|]|\.)`;
const QUANTIFIER = String.raw`(?:[*+?]|\{\d{1,4}(?:,\d{0,4})?\})\??`;
const PLAIN_PATTERN = new RegExp(`^\\^?(?:${ATOM}(?:${QUANTIFIER})?)*\\$?$`, 'u');
const PIECE = new RegExp(`${ATOM}(${QUANTIFIER})?`, 'gu');

/**
 * How the steps of a pattern grow: by each power of the length of a text, how many of them. A repetition that may
 * end in several places multiplies by the length all that follows it, and so does a beginning anywhere; what must be
 * there is looked for at each of those places, `{n}` of an atom n times. Null: a pattern of which nobody knows.
 */
function growthOf(pattern: string): readonly number[] | null {
  if (!PLAIN_PATTERN.test(pattern)) return null;
  let power = pattern.startsWith('^') ? 0 : 1;
  const growth = [...Array<number>(power).fill(0), 1];
  for (const [, quantifier] of pattern.matchAll(PIECE)) {
    const least = /\d+/.exec(quantifier ?? '')?.[0] ?? 1;
    growth[power] = (growth[power] ?? 0) + Number(least);
    if (quantifier === undefined || /^\{\d+\}\??$/.test(quantifier)) continue;
    power += 1;
    growth.push(1);
  }
  return growth;
}

/** Steps over a character, and characters of two texts that are compared, in the time of a step. */
const TEXT_STEPS = 4;
const COMPARED_CHARACTERS = 256;

/**
 * Steps that a check of these params may take, about. The params are walked once, which takes less.
 * @param params Read from JSON that was checked for its depth.
 */
export function workOf(params: unknown, { values, texts, comparisons }: SchemaCost): number {
  let count = 0;
  let length = 0;
  let textSteps = 0;
  const read = (text: string) => {
    length += text.length;
    for (const [power, many] of texts.entries()) textSteps += many * text.length ** power;
  };
  const visit = (value: unknown): void => {
    count += 1;
    if (typeof value === 'string') read(value);
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) return value.forEach(visit);
    for (const [key, inner] of Object.entries(value)) {
      read(key);
      visit(inner);
    }
  };
  visit(params);
  const compared = comparisons * count * (count + length / COMPARED_CHARACTERS);
  return count * values + compared + textSteps / TEXT_STEPS;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
