/** What `soda job apply` and `soda type apply` say where the master refuses. */
import { expect } from 'chai';
import { SodaError } from '@soda-scheduler/client';
import { apply, type Kind } from '../../../cli/definition/apply.ts';
import type { Output } from '../../../cli/output.ts';

describe('definitions that are applied', () => {
  it('say all that is wrong with them, though what would help cannot be asked for', async () => {
    const asked: (readonly string[])[] = [];
    const kind: Kind<string, { version: number }> = {
      key: 'name',
      get: async () => ({ version: 1 }),
      put: async (_, field) => {
        const errors = [{ field, message: 'not so' }];
        throw new SodaError('refused', { status: 400, problem: { errors } as never });
      },
      isDefined: () => true,
      definitionOf: () => '{}',
      adviceOn: async (_, fields) => {
        asked.push(fields);
        throw new SodaError('you may not', { status: 403 });
      },
      besides: () => ({ fields: {}, lines: () => [] }),
    };
    const both = [
      ['a', 'zone'],
      ['b', 'triggers'],
    ] as const;
    const refused: unknown = await apply(kind, both, {} as Output, true).catch((e: unknown) => e);
    expect(String(refused)).to.include('a: zone: not so').and.include('b: triggers: not so');
    expect(asked).to.deep.equal([['zone'], ['triggers']]);
  });
});
