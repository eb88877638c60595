/** How long a call of the client may take, whatever its master does. */
import { createClient, SodaError } from '@soda-scheduler/client';
import { expect } from 'chai';
import { FakeHttpApi, problem } from '../helpers/fake-http-api.ts';

const user = { group: 'video' };
const task = (id: string) => ({ type: 'transcode', id });

async function errorOf(promise: Promise<unknown>): Promise<SodaError> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(SodaError);
  return error as SodaError;
}

describe('client, in a hurry', () => {
  const master = new FakeHttpApi();
  beforeEach(() => master.start());
  afterEach(() => master.stop());

  it('gives a call up once its time is over, whatever it waits for', async () => {
    const hurried = createClient({ url: master.url, timeoutMs: 900 });
    await createClient({ url: master.url }).submit(task('a'), user);
    const says = async (call: Promise<unknown>) => {
      const begun = performance.now();
      const error = await errorOf(call);
      expect(performance.now() - begun).to.be.within(800, 9_000);
      return error;
    };
    let release: () => void = () => undefined;
    const silence = new Promise<void>((resolve) => (release = resolve));
    master.intercept = async (_request, usual) => silence.then(usual);
    for (const call of [
      () => hurried.get('a'),
      () => hurried.submit(task('b'), user),
      () => Promise.all([hurried.submit(task('c'), user), hurried.submit(task('d'), user)]),
      () => hurried.wait('a'),
    ]) {
      const silent = await says(call());
      expect(silent.message).to.match(/^no answer from http:\/\/127\.0\.0\.1:\d+ within 0\.9 s$/);
      expect(silent).to.include({ status: 0, isTransient: true });
    }
    release();
    master.intercept = () => problem(503, 'The master is starting.', { 'retry-after': '60' });
    const asked = await says(hurried.get('a'));
    expect(asked.message).to.equal('The master is starting; given up after 0.9 s');
    expect(asked).to.include({ status: 503 });
    // Of a wait it is the time of each question.
    let askedCount = 0;
    master.intercept = () => {
      askedCount += 1;
      if (askedCount === 6) master.finish('a', 'succeeded');
      return undefined;
    };
    expect(await hurried.wait('a')).to.include({ state: 'succeeded' });
    const abort = new AbortController();
    master.intercept = async (_request, usual) => silence.then(usual);
    abort.abort(new Error('enough'));
    const stopped: unknown = await hurried
      .get('a', { signal: abort.signal })
      .catch((error: unknown) => error);
    expect(stopped).to.equal(abort.signal.reason);
    for (const timeoutMs of [0, -1, Number.NaN, 1e12]) {
      expect(() => createClient({ url: master.url, timeoutMs })).to.throw(
        TypeError,
        /^timeoutMs: exp/,
      );
    }
  });
});
