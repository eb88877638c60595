/** Finding the items of a batch in its bytes, against what `JSON.parse` makes of the same. */
import { expect } from 'chai';
import { findItems } from '../../../master/access/body/batch-items.ts';
import { BrokenJson, type Range, RefusedJson } from '@soda-scheduler/protocol';
import { runAtOnce } from '../../../master/access/body/pieces.ts';
import { Random } from '../../sim/random.ts';

function itemsOf(body: string): string[] {
  const bytes = Buffer.from(body);
  const items: Range[] = [];
  runAtOnce(findItems(bytes, items));
  return items.map(({ start, end }) => bytes.toString('utf8', start, end));
}

function refusal(body: string): unknown {
  try {
    return itemsOf(body);
  } catch (error) {
    return error;
  }
}

describe('the items of a batch', () => {
  it('are the texts between the commas, whatever they hold', () => {
    const random = new Random(11);
    const words = [
      '{"a":"]"}',
      '[[],{}]',
      '"\\"],"',
      '"\\\\"',
      '12',
      '-1.5e3',
      'null',
      '"ü汉"',
      '{}',
    ];
    const space = () => random.pick(['', ' ', '\n', '\t\r\n ']);
    for (let round = 0; round < 3_000; round++) {
      const items = Array.from({ length: random.between(1, 6) }, () => random.pick(words) ?? '');
      const list = items.map((item) => space() + item + space()).join(',');
      const key = random.pick(['"tasks"', '"t\\u0061sks"']);
      const body = `${space()}{${space()}${key}${space()}:${space()}[${list}]${space()}}${space()}`;
      expect(itemsOf(body), body).to.deep.equal(items);
    }
  });

  it('are found where they are longer than what is looked at in one go', () => {
    const long = `"${'x'.repeat(200_000)}\\""`;
    const body = `${' '.repeat(150_000)}{"tasks":[${long},{"a":${long}}${'\n'.repeat(70_000)}]}`;
    expect(itemsOf(body)).to.deep.equal([long, `{"a":${long}}`]);
    const steps = [...findItems(Buffer.from(body), [])].length;
    expect(steps, 'it yields').to.be.greaterThan(8);
  });

  it('break where the list around them breaks', () => {
    for (const [body, at] of [
      ['{"tasks":[1', 11],
      ['{"tasks":[1}', 11],
      ['{"tasks":[}', 10],
      ['{"tasks":[1,]}', 12],
      ['{"tasks":[1 2]}', 12],
      ['{"tasks" [1]}', 9],
      ['{"tasks":[1]', 12],
      ['{"tasks":[1]} x', 14],
      ['{"tasks":[1],}', 13],
      ['{tasks:[1]}', 1],
      ['{"tasks":[[[[', 13],
      ['{"tasks":["abc', 14],
      ['{"tasks":["abc\\', 15],
      ['{"tas', 5],
      ['{', 1],
    ] as const) {
      expect(refusal(body), body).to.be.instanceOf(BrokenJson).and.to.include({ at });
    }
  });

  it('stand alone, in a list of 1 to 1000', () => {
    for (const [body, path] of [
      ['[]', ''],
      ['7', ''],
      ['{}', 'tasks'],
      ['{"tasks":[]}', 'tasks'],
      ['{"tasks":{}}', 'tasks'],
      [`{"tasks":[${Array(1001).fill('1').join(',')}]}`, 'tasks'],
      ['{"tasks":[1],"tasks":[1]}', 'tasks'],
      ['{"tasks":[1],"user":{}}', 'user'],
      ['{"__proto__":1}', '__proto__'],
    ] as const) {
      const error = refusal(body);
      expect(error, body).to.be.instanceOf(RefusedJson);
      expect((error as RefusedJson).path.join(), body).to.equal(path);
    }
    expect(itemsOf(`{"tasks":[${Array(1000).fill('1').join(',')}]}`)).to.have.length(1000);
  });
});
