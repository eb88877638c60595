/** Schemas of params: what is allowed in one, what a misfit is told, and that nothing takes long. */
import { expect } from 'chai';
import { Problem } from '../../../master/access/http/problem.ts';
import { ParamsSchema } from '../../../master/access/body/params-schema.ts';

const misfits = (schema: object, params: unknown) =>
  new ParamsSchema(schema)
    .errorsOf(JSON.stringify(params))
    .map(({ field, message }) => `${field}: ${message}`);

function refusal(schema: unknown): string {
  try {
    new ParamsSchema(schema as object).errorsOf('null');
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return (error.errors ?? []).map(({ field, message }) => `${field}: ${message}`).join('; ');
  }
  return expect.fail('it was taken');
}

describe('the schema of params', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    required: ['input', 'tracks'],
    additionalProperties: false,
    properties: {
      input: { type: 'string', pattern: '^s3://[a-z]+/.+$', format: 'uri' },
      tracks: { type: 'array', items: { $ref: '#/$defs/track' }, minItems: 1 },
      codec: { enum: ['h264', 'av1'] },
    },
    $defs: { track: { type: 'object', properties: { kbits: { type: 'integer', minimum: 1 } } } },
  };

  it('names the path of all that does not fit, ten of them', () => {
    expect(misfits(schema, { input: 's3://a/b', tracks: [{ kbits: 1 }] })).to.deep.equal([]);
    expect(
      misfits(schema, { input: 'x', tracks: [{}, { kbits: 0 }], codec: 'vp8', a: 1 }),
    ).to.have.members([
      'task.params.input: must match pattern "^s3://[a-z]+/.+$"',
      'task.params.tracks[1].kbits: must be >= 1',
      'task.params.codec: expected one of ["h264","av1"]',
      'task.params.a: not a known field',
    ]);
    expect(misfits(schema, { tracks: [] })).to.have.members([
      'task.params.input: required',
      'task.params.tracks: must NOT have fewer than 1 items',
    ]);
    expect(misfits(schema, null)).to.deep.equal(['task.params: must be object']);
    expect(misfits({ items: { type: 'string' } }, Array(100).fill(1))).to.have.length(10);
    // Too much to look for all that is wrong.
    expect(misfits({ items: { type: 'string' } }, Array(20_000).fill(1))).to.have.length(1);
  });

  it('takes multiples of fractions as people reckon, and nothing beside them', () => {
    const takes = (multipleOf: number, value: number) =>
      misfits({ multipleOf }, value).length === 0;
    for (const [step, value] of [
      [0.1, 0.3],
      [0.1, -1.1],
      [0.01, 19.99],
      [0.01, 123_456_789.01],
      [0.1, 1e308],
      [2.5, 7.5],
      [2, 1e21],
      [3, 0],
    ] as const) {
      expect(takes(step, value), `${value} of ${step}`).to.equal(true);
    }
    for (const [step, value] of [
      [0.1, 0.35],
      [0.01, 19.999],
      [0.1, 1e-20],
      [1000.5, 5e-324],
      [2, 3],
      [1, 1.0000001],
      [2, 9_007_199_254_740_991],
    ] as const) {
      expect(takes(step, value), `${value} of ${step}`).to.equal(false);
    }
    expect(misfits({ multipleOf: 0.1 }, 0.35)).to.deep.equal([
      'task.params: must be multiple of 0.1',
    ]);
  });

  it('takes what is called like something that every object has', () => {
    const odd = {
      type: 'object',
      required: ['toString'],
      properties: { valueOf: { type: 'string' } },
    };
    expect(misfits(odd, {})).to.deep.equal(['task.params.toString: required']);
    expect(misfits(odd, { toString: 1, valueOf: 'x' })).to.deep.equal([]);
  });

  it('may be made of what has an end only, and is not fetched', () => {
    const cases: [unknown, string][] = [
      [
        { $ref: 'https://example.com/s' },
        'params_schema.$ref: expected #/$defs/ and a name: nothing is fetched',
      ],
      [{ $ref: '#' }, 'params_schema.$ref: expected #/$defs/ and a name: nothing is fetched'],
      [{ $ref: '#/$defs/a' }, 'params_schema.$ref: there is no such schema'],
      [{ $dynamicRef: '#a' }, 'params_schema.$dynamicRef: not a keyword that is known here'],
      [{ $id: 'file:///etc/passwd' }, 'params_schema.$id: not a keyword that is known here'],
      [
        { properties: { a: { typ: 'string' } } },
        'params_schema.properties.a.typ: not a keyword that is known here',
      ],
      [{ properties: 3 }, 'params_schema.properties: expected an object of schemas'],
      [{ items: [] }, 'params_schema.items: expected a schema: an object, true or false'],
      [
        { $schema: 'http://json-schema.org/draft-07/schema#' },
        'params_schema.$schema: expected https://json-schema.org/draft/2020-12/schema',
      ],
      [
        { type: 'strng' },
        'params_schema.type: expected array, boolean, integer, null, number, object, string, or a list of these',
      ],
      [{ minimum: 'x' }, 'params_schema.minimum: expected a number'],
      [{ required: [5] }, 'params_schema.required: expected a list of names, each once'],
      [
        { items: { required: ['a', 'a'] } },
        'params_schema.items.required: expected a list of names, each once',
      ],
      [
        { dependentRequired: { a: 'b' } },
        'params_schema.dependentRequired: expected a list of names for each name',
      ],
      [{ maxLength: -1 }, 'params_schema.maxLength: expected a whole number of at least 0'],
      [{ minItems: 0.5 }, 'params_schema.minItems: expected a whole number of at least 0'],
      [{ multipleOf: 0 }, 'params_schema.multipleOf: expected a number above 0'],
      [{ enum: [] }, 'params_schema.enum: expected a list of values'],
      [{ uniqueItems: 'yes' }, 'params_schema.uniqueItems: expected true or false'],
      [
        { $defs: { a: { items: { $ref: '#/$defs/a' } } }, $ref: '#/$defs/a' },
        'params_schema.$ref.items.$ref: refers to itself, without an end',
      ],
    ];
    for (const [given, message] of cases) expect(refusal(given)).to.equal(message);
    const twice = (i: number) => ({
      allOf: [{ $ref: `#/$defs/d${i}` }, { $ref: `#/$defs/d${i}` }],
    });
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`d${i}`, i === 29 ? {} : twice(i + 1)]),
    );
    expect(refusal({ $defs, ...twice(0) })).to.contain('larger than 150 values');
    const properties = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`p${i}`, {}]));
    expect(refusal({ properties })).to.contain('larger than 150 values');
  });

  it('runs no code that stands in it', () => {
    const evil = `x"]; globalThis.hacked = true; //\`\${globalThis.hacked = true}`;
    const odd = {
      title: evil,
      properties: { [evil]: { const: evil, description: evil } },
      required: [evil],
      dependentRequired: { [evil]: [evil] },
      enum: [{ [evil]: evil }],
      $defs: { evil: { const: evil } },
    };
    expect(misfits(odd, { [evil]: evil })).to.deep.equal([]);
    expect(globalThis).not.to.have.property('hacked');
  });

  for (const pattern of [
    '(a+)+$',
    'a|b',
    '(?=a)',
    '^a*a*a*a*$',
    'a*a*a*',
    '\\1',
    '^a?a?a?a?a',
    '\\p{L}+',
    'a{1,2}{3}',
  ]) {
    it(`has no pattern whose time nobody knows: ${pattern}`, () => {
      expect(refusal({ pattern })).to.match(/^params_schema\.pattern: expected /);
      expect(refusal({ patternProperties: { [pattern]: true } })).to.contain('expected ');
    });
  }

  it('refuses params that would take long to check, before it checks them', () => {
    const cases: [object, unknown][] = [
      [{ pattern: '^a*a*a*$' }, `${'a'.repeat(2_000)}b`],
      [{ uniqueItems: true }, Array.from({ length: 5_000 }, (_, i) => ({ i }))],
      [
        { items: { anyOf: Array.from({ length: 60 }, (_, i) => ({ const: i })) } },
        Array(20_000).fill(-1),
      ],
    ];
    for (const [given, params] of cases) {
      const before = process.cpuUsage();
      expect(misfits(given, params)[0]).to.match(/^task\.params: too large to be checked/);
      expect(process.cpuUsage(before).user / 1_000).to.be.below(1_000);
    }
    // What is allowed is of the order of milliseconds.
    expect(misfits({ pattern: '^a*a*a*$' }, `${'a'.repeat(110)}b`)).to.have.length(1);
  });

  const many = (schema: object) => ({ allOf: Array.from({ length: 60 }, () => schema) });
  const long = 'a'.repeat(100_000);
  for (const [what, given, params] of [
    ['an exact count in a pattern', { pattern: 'a{9999}b' }, long],
    ['a least count in a pattern', { pattern: 'a{999,}b' }, 'a'.repeat(900)],
    ['a count in the name of a field', { patternProperties: { 'a{999}b': true } }, { [long]: 1 }],
    ['many characters in a pattern', { pattern: `${'a'.repeat(999)}b` }, long],
    [
      'each of the lists without equals',
      many({ uniqueItems: true }),
      Array.from({ length: 200 }, (_, i) => ({ i })),
    ],
    [
      'long texts that are compared',
      { uniqueItems: true },
      Array.from({ length: 400 }, (_, i) => `${'a'.repeat(600)}${i + 1_000}`),
    ],
    ['each of the lengths', many({ maxLength: 200_000 }), long],
    ['each of the least lengths', many({ minLength: 1 }), long],
  ] as const) {
    it(`counts for the work of a check ${what}`, () => {
      expect(misfits(given, params)[0]).to.match(/^task\.params: too large to be checked/);
    });
  }

  it('takes the patterns that people write, with their counts', () => {
    const name = '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$';
    const fits = (pattern: string, text: string) =>
      expect(misfits({ properties: { a: { pattern } } }, { a: text })).to.deep.equal([]);
    fits(name, 'a'.repeat(63));
    fits('^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$', crypto.randomUUID());
    fits('^[a-z]{1,64}/[a-z]{1,255}$', `${'a'.repeat(60)}/${'b'.repeat(200)}`);
    fits('^\\d{4}-\\d{2}-\\d{2}$', '2026-01-01');
    fits('^s3://[a-z]+/.+$', `s3://bucket/${'x'.repeat(1_000)}`);
  });
});
