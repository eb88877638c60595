/** How an executor describes what was thrown, and prints what it tells. */
import { expect } from 'chai';
import { runInNewContext } from 'node:vm';
import { eventOf, logFormat, printed, thrownIn } from '../../../executor-sdk/events.ts';
import { headlineOf, isBug, stackOf } from '../../../executor-sdk/failure.ts';

describe('what was thrown', () => {
  const hostile = Object.create(Error.prototype, {
    message: {
      get: () => {
        throw new Error('no');
      },
    },
    stack: { value: { toString: null } },
    cause: {
      get: () => {
        throw new Error('no');
      },
    },
  });

  it('is described whatever it is', () => {
    expect(headlineOf(hostile)).to.equal('Error:');
    expect(stackOf(hostile)).to.equal('Error: ');
    for (const thrown of [undefined, null, 'text', 7n, Symbol('s'), Object.create(null), {}]) {
      expect(stackOf(thrown)).to.equal(undefined);
      expect(headlineOf(thrown)).to.match(/^Error: ./);
      expect(isBug(thrown)).to.equal(false);
    }
    expect(headlineOf(new Error('two\nlines\tand more'))).to.equal('Error: two lines and more');
  });

  it('is bounded, and has a part for each cause', () => {
    let error = new Error('€'.repeat(100_000));
    for (let depth = 1; depth <= 20; depth++) {
      error = new Error(`${depth} ${'€'.repeat(100_000)}`, { cause: error });
    }
    const stack = stackOf(error) ?? '';
    expect(Buffer.byteLength(stack)).to.be.within(3_000, 4_096);
    expect(stack.match(/caused by Error: \d+/g)).to.have.length(5);
    expect(stack).not.to.contain('\ufffd');
  });

  it('ends where causes go round', () => {
    const first = new Error('first');
    const second = new Error('second', { cause: first });
    first.cause = second;
    expect(stackOf(first)?.match(/Error: /g)).to.have.length(2);
    const gathered = new AggregateError([new Error('refused')], 'all of them');
    expect(stackOf(gathered)).to.contain('caused by Error: refused');
  });

  it('is a bug if the innermost cause is one of the program', () => {
    const bug = new TypeError('x is not a function');
    const outside = new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') });
    const realm = runInNewContext('try { nothing } catch (error) { error }') as unknown;
    expect([bug, realm, new SyntaxError('m'), new Error('m', { cause: bug })].map(isBug))
      .to.deep //
      .equal([true, true, true, true]);
    expect([outside, new RangeError('m'), new Error('m')].map(isBug)).to.deep.equal([
      false,
      false,
      false,
    ]);
    expect(stackOf(realm)).to.match(/^ReferenceError: nothing is not defined\n +at/);
  });
});

describe('lines of an executor', () => {
  const context = { executorId: 'e1', at: new Date(0) };
  const text = { ...context, format: 'text' } as const;

  it('say as text what does not go as it should', () => {
    const about = { taskId: 't1', attempt: 1 };
    const started = eventOf({ type: 'task_started', message: 'started', ...about });
    expect(printed(started, text)).to.equal('');
    const dropped = eventOf({ type: 'result_dropped', message: 'the lease was lost', ...about });
    expect(printed(dropped, text)).to.equal(
      '1970-01-01T00:00:00.000Z soda executor: the lease was lost\n',
    );
  });

  it('cannot be broken, nor hold what a terminal obeys', () => {
    const error = new Error('a\u001b[2J\u2028b\nsoda executor: c\u202ed');
    const event = eventOf({ type: 'handler_failed', ...thrownIn('it failed', error) });
    const lines = printed(event, text).trimEnd().split('\n');
    expect(lines[0]).to.match(/it failed: Error: a\\u001b\[2J b soda executor: c\\u202ed$/);
    expect(lines.slice(1).every((line) => line.startsWith('    '))).to.equal(true);
    expect(lines.join('')).not.to.contain('\u001b');
    const json = printed(event, { ...context, format: 'json' });
    for (const char of ['\n', '\u2028', '\u001b', '\u202e'])
      expect(json.trimEnd()).not.to.contain(char);
    expect(JSON.parse(json)).to.deep.include({ ts: context.at.toISOString(), level: 'warn' });
  });

  it('are text or JSON, and nothing else', () => {
    expect(logFormat({})).to.equal('text');
    expect(logFormat({ SODA_LOG: 'json' })).to.equal('json');
    expect(() => logFormat({ SODA_LOG: 'yes' })).to.throw(TypeError, 'SODA_LOG: expected json');
  });
});
