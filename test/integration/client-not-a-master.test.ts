/** A client whose address is that of something else: it says so, and takes nothing for done. */
import { createClient, type SodaClient, SodaError } from '@soda-scheduler/client';
import { expect } from 'chai';
import { type Answer, FakeHttpApi } from '../helpers/fake-http-api.ts';

const plain = { 'content-type': 'text/plain' };
/** In place of lists. */
const aWordForEach = { executors: 'a', namespaces: 'a', results: 'a', tasks: 'a', types: 'a' };

describe('a client of what is no master', () => {
  const other = new FakeHttpApi();
  let client: SodaClient;
  before(() => other.start());
  beforeEach(() => {
    other.clear();
    client = createClient({ url: other.url, retryCount: 0 });
  });
  after(() => other.stop());

  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    submit: () => client.submit({ type: 't' }, { group: 'g' }),
    'submit many': () =>
      Promise.all([1, 2].map(() => client.submit({ type: 't' }, { group: 'g' }))),
    get: () => client.get('a'),
    attempt: () => client.attempt('a', 1),
    page: () => client.page(),
    list: () => client.list().next(),
    wait: () => client.wait('a'),
    cancel: () => client.cancel('a'),
    change: () => client.change('a', { priority: 'high' }),
    executors: () => client.executors(),
    'drain an executor': () => client.drainExecutor('e'),
    'wait for a drain': () => client.waitForDrain('e'),
    namespaces: () => client.namespaces().next(),
    'set a namespace': () => client.setNamespace('n'),
    'delete a namespace': () => client.deleteNamespace('n'),
    types: () => client.types.list().next(),
    'put a type': () => client.types.put('t', {}),
    'delete a type': () => client.types.delete('t'),
  };
  const answers: readonly (readonly [what: string, answer: Answer])[] = [
    ['HTTP 200 OK with a page for browsers', [200, '<!DOCTYPE html><html>', plain]],
    ['HTTP 404 Not Found with a page for browsers', [404, '<html><head>', plain]],
    ['HTTP 404 Not Found with JSON that means something else', [404, { detail: 'Not Found' }]],
    ['HTTP 400 Bad Request with JSON that means something else', [400, { errors: { a: 1 } }]],
    ['HTTP 200 OK with nothing in it', [200]],
    ['HTTP 200 OK with other text', [200, 'OK', plain]],
    ['HTTP 200 OK with JSON that means something else', [200, { status: 'ok' }]],
    ['HTTP 200 OK with JSON that means something else', [200, []]],
    ['HTTP 200 OK with JSON that means something else', [200, aWordForEach]],
    ['HTTP 200 OK with JSON that means something else', [200, null]],
    [
      'HTTP 301 Moved Permanently, which leads to https://example.org/login',
      [301, '', { ...plain, location: 'https://example.org/login' }],
    ],
  ];
  for (const [name, call] of Object.entries(calls)) {
    it(`${name}: says what it answers`, async () => {
      for (const [what, answer] of answers) {
        other.intercept = () => answer;
        const error: unknown = await call().then(
          () => null,
          (thrown: unknown) => thrown,
        );
        expect(error, what).to.be.instanceOf(SodaError).with.property('problem', null);
        expect(error)
          .to.have.property('message')
          .which.equals(
            `${other.url} does not look like a Soda Scheduler master: it answers ${what}`,
          );
      }
    });
  }
});
