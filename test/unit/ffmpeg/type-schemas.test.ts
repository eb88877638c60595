/** What the executors of video refuse of a text, held against the schemas of their types: a master refuses it at once. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { parseParams as parseEdit } from '../../../examples/ffmpeg/edit/params.ts';
import { parseParams as parseLadder } from '../../../examples/ffmpeg/ladder/params.ts';
import { parseParams as parseTranscode } from '../../../examples/ffmpeg/params.ts';
import { parseParams as parsePush } from '../../../examples/live-push/params.ts';
import { ParamsSchema } from '../../../master/access/body/params-schema.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type Parser = (params: unknown) => unknown;

const root = join(import.meta.dirname, '../../..');
const URLS = ['https://h/a', 's3://films/a', { resolve: 'http://h/a' }] as const;
const output = { path: 'b.mp4' };
const edit = { timeline: [{ input: 'a' }], canvas: { resolution: '640x360' }, outputs: [output] };
const push = { starts_at: '2027-01-31T19:00:00+08:00', main: 'a.mp4' };

/** Each type with params that it takes: together they have a text in every place that takes one. */
const types: readonly (readonly [file: string, Parser, readonly Json[]])[] = [
  [
    'ffmpeg/type.yaml',
    parseTranscode,
    ['a.mp4', ...URLS].flatMap((input) => [
      { input, outputs: [output] },
      { outputs: [{ path: 's3://films/b.mp4', input }] },
    ]),
  ],
  [
    'ffmpeg/edit/type.yaml',
    parseEdit,
    [
      ...['a.mp4', ...URLS].map((a) => ({ ...edit, inputs: { a } })),
      { ...edit, inputs: { a: 'a.mp4' }, outputs: [{ path: 's3://films/b.mp4' }] },
    ],
  ],
  [
    'ffmpeg/ladder/type.yaml',
    parseLadder,
    [
      ...['a.mp4', ...URLS].map((input) => ({ input, output: 'b', profile: 'class' })),
      { input: 'a', output: 's3://films/b', encrypt: { key: 'k', uri: 'https://keys/k' } },
    ],
  ],
  [
    'live-push/type.yaml',
    parsePush,
    [
      { ...push, url: 'rtmp://live/app/key', ends_at: '2027-01-31T20:00:00Z' },
      { ...push, url: 'srt://live:9000?streamid=a', warmup: 'b.mp4', fallback: 'c.mp4' },
      { ...push, path: 'a.ts', video: { resolution: '640x360' } },
    ],
  ],
];

/** Nobody knows which of them a program drops, or a terminal obeys. */
const ODD = [
  ...Array.from({ length: 0x21 }, (_, n) => n),
  ...Array.from({ length: 0x21 }, (_, n) => 0x7f + n),
  ...[0x61c, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029],
  ...[0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069],
  ...[0xd800, 0xdfff, 0xfeff, 0xe9, 0x6d4b, 0x6a9, 0x1f469],
].map((code) => String.fromCodePoint(code));

const schemaOf = (file: string) => {
  const { params_schema } = parse(readFileSync(join(root, 'examples', file), 'utf8')) as {
    params_schema: object;
  };
  return params_schema;
};

/** Copies with `odd` within one of the texts each, and where that is. */
function withOdd(value: Json, odd: string, path = 'task.params'): [field: string, value: Json][] {
  if (typeof value === 'string') {
    // Within a name, and not in what tells its kind, nor in its extension.
    const at = value.lastIndexOf('.') > 0 ? value.lastIndexOf('.') : value.length;
    return [[path, value.slice(0, at) + odd + value.slice(at)]];
  }
  if (Array.isArray(value)) {
    return value.flatMap((inner: Json, n) =>
      withOdd(inner, odd, `${path}[${n}]`).map(([field, changed]): [string, Json] => [
        field,
        value.with(n, changed) as Json,
      ]),
    );
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    withOdd(inner, odd, `${path}.${name}`).map(([field, changed]): [string, Json] => [
      field,
      { ...(value as { readonly [name: string]: Json }), [name]: changed },
    ]),
  );
}

/** Where in the schema texts are taken that nothing bounds. */
function unbounded(schema: unknown, path = ''): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { type, pattern } = schema as { type?: unknown; pattern?: unknown };
  const isText = [type].flat().includes('string') && typeof pattern !== 'string';
  return [
    ...(isText ? [path] : []),
    ...Object.entries(schema).flatMap(([name, inner]) => unbounded(inner, `${path}/${name}`)),
  ];
}

describe('the schemas of the types of video', () => {
  for (const [file, parser, examples] of types) {
    it(`of ${file} refuse the characters that the executor refuses, and no others`, () => {
      const schema = new ParamsSchema(schemaOf(file));
      const refusals = new Set<string>();
      for (const example of examples) {
        parser(example);
        expect(schema.errorsOf(JSON.stringify(example))).to.deep.equal([]);
        for (const odd of ODD) {
          for (const [field, params] of withOdd(example, odd)) {
            const isTaken = takes(parser, params);
            const errors = schema.errorsOf(JSON.stringify(params));
            const what = `${field}: ${JSON.stringify(params)}`;
            if (isTaken) expect(errors, what).to.deep.equal([]);
            else
              expect(
                errors.map((error) => error.field),
                what,
              ).to.deep.equal([field]);
            if (!isTaken) refusals.add(field);
          }
        }
      }
      expect(unbounded(schemaOf(file)), 'texts without a pattern').to.deep.equal([]);
      expect(refusals.size).to.be.above(4);
    });
  }

  it('take an edit of as many inputs as there may be, each with a long signature', () => {
    const names = Array.from({ length: 32 }, (_, n) => `i${n}`);
    const url = `https://bucket.s3.example/film.mp4?X-Amz-Signature=${'a'.repeat(2_000)}`;
    const params = {
      inputs: Object.fromEntries(names.map((name) => [name, url])),
      timeline: names.map((input) => ({ input, start: 0, end: 1 })),
      outputs: [output],
    };
    parseEdit(params);
    const schema = new ParamsSchema(schemaOf('ffmpeg/edit/type.yaml'));
    expect(schema.errorsOf(JSON.stringify(params))).to.deep.equal([]);
  });
});

function takes(parser: Parser, params: unknown): boolean {
  try {
    parser(params);
    return true;
  } catch {
    return false;
  }
}
