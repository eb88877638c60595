/** Values found in JSON text, as they are written. */
import { expect } from 'chai';
import { jsonAt, jsonElements, jsonObject, jsonText, rawJson } from '@soda-scheduler/protocol';
import { Random } from '../../sim/random.ts';

describe('values found in JSON text', () => {
  it('are those that JSON.parse finds', () => {
    const random = new Random(11);
    const spaces = ['', '', ' ', '\n\t', '\r  '];
    const space = () => random.pick(spaces);
    const scalars = [
      '1',
      '-0',
      '1.50e+3',
      'true',
      'null',
      '""',
      '"a\\\\"',
      '"\\"}"',
      '"[{,:"',
      '"\\u0061"',
    ];
    const keys = ['a', 'b', '\\u0061', 'c\\"', '', 'a\\\\'];
    const written = (depth: number): string => {
      const shape = depth === 0 ? 0 : random.between(0, 2);
      if (shape === 0) return random.pick(scalars) ?? '';
      const count = random.between(0, 3);
      const parts = Array.from({ length: count }, () => {
        const value = `${space()}${written(depth - 1)}${space()}`;
        return shape === 1 ? value : `${space()}"${random.pick(keys)}"${space()}:${value}`;
      });
      return shape === 1 ? `[${parts.join(',') || space()}]` : `{${parts.join(',') || space()}}`;
    };
    for (let count = 0; count < 2_000; count++) {
      const text = `${space()}${written(4)}${space()}`;
      check(text, JSON.parse(text), []);
    }

    function check(text: string, value: unknown, path: (string | number)[]): void {
      const slice = jsonAt(text, path);
      expect(slice?.trim(), text).to.equal(slice);
      expect(JSON.parse(slice ?? '?'), text).to.deep.equal(value);
      if (typeof value !== 'object' || value === null) return;
      const isArray = Array.isArray(value);
      for (const [key, inner] of Object.entries(value)) {
        check(text, inner, [...path, isArray ? Number(key) : key]);
      }
      if (isArray) {
        expect(jsonElements(slice ?? '').map((element) => JSON.parse(element))).to.deep.equal(
          value,
        );
        expect(jsonAt(text, [...path, value.length])).to.equal(undefined);
      } else expect(jsonElements(slice ?? '')).to.deep.equal([]);
      expect(jsonAt(text, [...path, 'none'])).to.equal(undefined);
    }
  });

  it('may be nested to any depth', () => {
    const deep = `${'[{"a":'.repeat(50_000)}1${'}]'.repeat(50_000)}`;
    expect(jsonAt(`{"x":${deep} ,"y":2}`, ['y'])).to.equal('2');
    expect(jsonAt(`{"x":${deep} }`, ['x'])).to.equal(deep);
  });

  it('takes a key for what it means, however that is written', () => {
    const text = String.raw`{"a\"b":1,"a\\b":2,"\u0061":3}`;
    const at = (name: string) => jsonAt(text, [name]);
    expect([at('a"b'), at('a\\b'), at('a'), at('a\\"b')]).to.deep.equal(['1', '2', '3', undefined]);
  });
});

describe('raw JSON', () => {
  it('is written as it is, without the white space around it', () => {
    const text = '{"b": 1.0,\n"a":12345678901234567890,"\\u0061b":1e2}';
    expect(jsonText(rawJson(`\n ${text}\t\r\n`))).to.equal(text);
    expect(jsonText({ a: 1 })).to.equal('{"a":1}');
    expect(jsonText(undefined)).to.equal(undefined);
    const object = jsonObject({ x: 1, y: undefined }, { z: text, none: undefined, nil: null });
    expect(object).to.equal(`{"x":1,"z":${text},"nil":null}`);
    expect(jsonObject({}, { z: '1.0' })).to.equal('{"z":1.0}');
  });

  it('says where it is not JSON, and what is refused', () => {
    const refusal = (text: string) => {
      try {
        rawJson(text);
      } catch (error) {
        expect(error).to.be.instanceOf(SyntaxError);
        return (error as Error).message;
      }
      return '';
    };
    expect(refusal('{"a":1,\n  b:2}')).to.equal(
      'not JSON: unexpected character at line 2 column 3',
    );
    expect(refusal('[1,')).to.equal('not JSON: it ends too early at line 1 column 4');
    expect(refusal('')).to.equal('not JSON: it ends too early at line 1 column 1');
    expect(refusal('{"a":[{"b":1,"b":1}]}')).to.equal('a[0].b: this key is there twice');
    expect(refusal('[1e999,{"__proto__":1}]')).to.equal('');
  });

  it('is no part of a value', () => {
    expect(() => jsonText({ a: rawJson('1') })).to.throw(TypeError, 'whole value');
  });
});
