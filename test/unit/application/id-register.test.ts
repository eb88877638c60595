/** Of two submits with one id, the second is looked up after the first has ended. */
import { expect } from 'chai';
import { IdRegister } from '../../../master/application/engine/id-register.ts';

interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

function defer<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((done, fail) => {
    resolve = done;
    reject = fail;
  });
  return { promise, resolve, reject };
}

/** Lookups are answered when the test says so. */
class Lookups {
  readonly asked: (readonly string[])[] = [];
  readonly #answers: Deferred<Map<string, string>>[] = [];

  findIds(ids: readonly string[]): Promise<Map<string, string>> {
    const answer = defer<Map<string, string>>();
    this.asked.push(ids);
    this.#answers.push(answer);
    return answer.promise;
  }

  answer(taken: Record<string, string> = {}): void {
    this.#answers.shift()?.resolve(new Map(Object.entries(taken)));
  }

  fail(): void {
    this.#answers.shift()?.reject(new Error('the store is away'));
  }
}

/** Everything that can go on without an answer has gone on. */
const settled = () => new Promise<void>((resolve) => void setImmediate(resolve));

describe('IdRegister', () => {
  let lookups: Lookups;
  let register: IdRegister;
  beforeEach(() => {
    lookups = new Lookups();
    register = new IdRegister(lookups);
  });

  it('submits with the hashes of the ids that are taken, and passes on the answer', async () => {
    const submitted = register.during(['a', 'b'], async (taken) => [...taken]);
    lookups.answer({ b: 'hash' });
    expect(await submitted).to.deep.equal([['b', 'hash']]);
    expect(lookups.asked).to.deep.equal([['a', 'b']]);
  });

  it('looks an id up only when the earlier submit of it has ended', async () => {
    const first = defer<string>();
    const one = register.during(['a'], () => first.promise);
    const two = register.during(['b', 'a'], async () => 'second');
    lookups.answer();
    await settled();
    expect(lookups.asked).to.deep.equal([['a']]);
    first.resolve('first');
    expect(await one).to.equal('first');
    await settled();
    expect(lookups.asked).to.deep.equal([['a'], ['b', 'a']]);
    lookups.answer();
    expect(await two).to.equal('second');
  });

  it('lets one go on at a time, however many wait for the same id', async () => {
    let under = 0;
    const submit = async () => {
      under++;
      await settled();
      expect(under--, 'at a time').to.equal(1);
    };
    const all = Promise.all(Array.from({ length: 5 }, () => register.during(['a'], submit)));
    for (let i = 0; i < 5; i++) {
      while (lookups.asked.length <= i) await settled();
      lookups.answer();
    }
    await all;
    expect(lookups.asked).to.have.length(5);
  });

  it('does not keep submits of other ids waiting', async () => {
    const first = defer<string>();
    const one = register.during(['a'], () => first.promise);
    lookups.answer();
    const two = register.during(['b'], async () => 'second');
    await settled();
    lookups.answer();
    expect(await two).to.equal('second');
    first.resolve('first');
    await one;
  });

  it('looks up together what comes while a lookup is under way', async () => {
    const all = ['a', 'b', 'c'].map((id) => register.during([id], async (taken) => taken.get(id)));
    await settled();
    expect(lookups.asked).to.deep.equal([['a']]);
    lookups.answer();
    await settled();
    expect(lookups.asked.slice(1)).to.deep.equal([['b', 'c']]);
    lookups.answer({ c: 'hash' });
    expect(await Promise.all(all)).to.deep.equal([undefined, undefined, 'hash']);
  });

  it('frees the ids when the lookup or the submit fails', async () => {
    const failed = register.during(['a'], async () => 'never').catch(String);
    lookups.fail();
    expect(await failed).to.equal('Error: the store is away');
    const thrown = register.during(['a'], () => Promise.reject(new Error('refused'))).catch(String);
    await settled();
    lookups.answer();
    expect(await thrown).to.equal('Error: refused');
    const submitted = register.during(['a'], async () => 'free');
    await settled();
    lookups.answer();
    expect(await submitted).to.equal('free');
  });
});
