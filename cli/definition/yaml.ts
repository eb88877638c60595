/**
 * YAML, for those who ask for it: loading it takes a while. Numbers keep every digit that they are written with, on their
 * way into JSON and back. By these names, since of a package in CommonJS that is loaded later the files that `soda` is
 * built into have a default only.
 */
import {
  type Document,
  parseAllDocuments,
  parseDocument,
  type ScalarTag,
  stringify,
  type Tags,
} from 'yaml';

export { stringify } from 'yaml';

/** A number that is another once it is parsed and written again, such as 1.0. */
class Digits {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const digits: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  // As in JSON: what else YAML has for numbers is one of them.
  test: /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/,
  resolve: (text) => (String(Number(text)) === text ? Number(text) : new Digits(text)),
  identify: (value) => value instanceof Digits,
  stringify: ({ value }) => (value as Digits).text,
};
const options = { customTags: (tags: Tags): Tags => [digits, ...tags] };

export function documentsIn(written: string): readonly Document[] {
  const documents = parseAllDocuments(written, options);
  return 'empty' in documents ? [] : documents;
}

/** Of what a document has, as JSON. */
export function jsonOf(value: unknown): string {
  if (value instanceof Digits) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value);
  return `{${members.map(([name, one]) => `${JSON.stringify(name)}:${jsonOf(one)}`).join(',')}}`;
}

/** @param json as it is written. */
export function yamlOf(json: string): string {
  return stringify(parseDocument(json, options).toJS(), options);
}
