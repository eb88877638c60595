/** What the API says of a field that is wrong. */
import { expect } from 'chai';
import {
  alertListQuery,
  alertReceiverRequest,
  drainRequest,
  executorChange,
  listQuery,
  namespaceSettings,
  submitRequest,
} from '@soda-scheduler/protocol/schemas';
import { checkShape } from '../../../master/access/body/fields.ts';
import { Problem } from '../../../master/access/http/problem.ts';

const task = (fields: object) => ({ task: { type: 'a', ...fields }, user: { group: 'g' } });

describe('what is wrong with a field', () => {
  const cases: readonly (readonly [Parameters<typeof checkShape>[0], unknown, string])[] = [
    [submitRequest, {}, 'task: required: expected an object'],
    [submitRequest, null, 'body: expected an object, given null'],
    [
      submitRequest,
      task({ execution_timeout: 0 }),
      'task.execution_timeout: expected a number above 0, given 0',
    ],
    [
      submitRequest,
      task({ assign_timeout: 3601 }),
      'task.assign_timeout: expected a number of at most 3600, given 3601',
    ],
    [
      submitRequest,
      task({ retry: { max_attempts: 1.5 } }),
      'task.retry.max_attempts: expected a whole number, given 1.5',
    ],
    [
      submitRequest,
      task({ labels: Array(9).fill('a') }),
      'task.labels: expected at most 8 entries, given a list of 9 entries',
    ],
    [
      submitRequest,
      { task: { type: 'a' }, user: { group: '' } },
      'user.group: expected at least 1 character, given text of 0 characters',
    ],
    [
      submitRequest,
      task({ start_timeout_action: 'explode' }),
      'task.start_timeout_action: expected one of fail, alert',
    ],
    [
      submitRequest,
      task({ exection_timeout: 5 }),
      'task.exection_timeout: not a known field; did you mean execution_timeout?',
    ],
    [submitRequest, { ...task({}), usr: {} }, 'usr: not a known field; did you mean user?'],
    [submitRequest, task({ unheard_of_at_all: 1 }), 'task.unheard_of_at_all: not a known field'],
    [drainRequest, { timeout: '5' }, 'timeout: expected a number, given text of 1 character'],
    [executorChange, { labels: [5] }, 'labels[0]: expected text, given 5'],
    [namespaceSettings, { paused: true }, 'paused: expected an object, given true'],
    [listQuery, { grup: 'a' }, 'grup: not a known field; did you mean group?'],
    [alertListQuery, { cursor: 'x y' }, 'cursor: expected the `next_cursor` of a page'],
    [
      alertReceiverRequest,
      { channel: 'mail', to: ['ann'] },
      'to[0]: expected an address, as ann@example.com',
    ],
    [listQuery, { type: 'a b' }, 'type: expected 1 to 64 characters of A-Z a-z 0-9 _ . : -'],
  ];
  for (const [schema, body, expected] of cases) {
    it(expected, () => {
      try {
        checkShape(schema, body);
      } catch (error) {
        const { errors = [] } = error as Problem;
        expect(error).to.be.instanceOf(Problem);
        expect(errors.map(({ field, message }) => `${field}: ${message}`)).to.deep.equal([
          expected,
        ]);
        return;
      }
      expect.fail('it was taken');
    });
  }

  it('is told for programs too, as far as nobody has words of his own for it', () => {
    const wrong = {
      priority: 'high',
      execution_timeout: 0,
      assign_timeout: 3601,
      labels: Array(9).fill('a'),
      start_timeout_action: 'explode',
      booking: 'x',
      exection_timeout: 5,
      requires: 5,
    };
    let errors: Problem['errors'] = [];
    try {
      checkShape(submitRequest, { task: wrong, user: { group: '' } });
    } catch (error) {
      ({ errors = [] } = error as Problem);
    }
    const kinds = errors.map(({ field, kind, values }) => [field, kind, values]);
    expect(kinds).to.have.deep.members([
      ['task.type', 'required', undefined],
      ['task.execution_timeout', 'above', { of: 'number', limit: 0 }],
      ['task.assign_timeout', 'at_most', { of: 'number', limit: 3600 }],
      ['task.labels', 'at_most', { of: 'entries', limit: 8 }],
      ['task.requires', 'wrong_type', { of: 'array' }],
      ['task.start_timeout_action', 'one_of', { words: 'fail, alert' }],
      ['task.booking', undefined, undefined],
      ['task.exection_timeout', 'unknown_field', undefined],
      ['user.group', 'at_least', { of: 'characters', limit: 1 }],
    ]);
  });

  it('is said in little time of a body of nothing but wrong names', () => {
    const names = Object.fromEntries(
      Array.from({ length: 1000 }, (_, n) => [`${'x'.repeat(n % 2 === 0 ? 60 : 10_000)}${n}`, n]),
    );
    let errors: Problem['errors'];
    try {
      checkShape(submitRequest, { ...task({}), ...names });
    } catch (error) {
      ({ errors } = error as Problem);
    }
    expect(errors).to.have.length(20);
  });
});
