/** Where things are on a master, and what people copy of it. */
import { expect } from 'chai';
import { createClient } from '@soda-scheduler/client';
import {
  API_BASE,
  apiBaseOf,
  executorPathOf,
  NAMESPACE_PATTERN,
  namespaceOf,
  withoutApiBase,
} from '@soda-scheduler/protocol';
import { rights } from '../../master/access/rights.ts';

describe('paths', () => {
  it('have no name in them that would be taken out on the way', async () => {
    const client = createClient({ url: 'http://127.0.0.1:1' });
    for (const call of [
      client.types.override('.', null),
      client.types.put('..', {}),
      client.drainExecutor('.'),
      client.cancel('..'),
      client.deleteNamespace('..'),
    ]) {
      const error = await call.catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(TypeError);
      expect((error as Error).message).to.match(/^no name may be \. or \.\.: /);
    }
  });

  it('of the default namespace are those of 2.0.0', () => {
    expect(apiBaseOf('default')).to.equal('/scheduler/v2');
    expect(executorPathOf('default')).to.equal('/scheduler/v2/executor');
  });

  it('of another namespace name it', () => {
    expect(apiBaseOf('video')).to.equal('/scheduler/v2/ns/video');
    expect(executorPathOf('video')).to.equal('/scheduler/v2/ns/video/executor');
  });

  for (const [copied, url, namespace] of [
    ['http://h:1', 'http://h:1', null],
    ['http://h:1/proxy', 'http://h:1/proxy', null],
    ['http://h:1/scheduler/v2/', 'http://h:1', null],
    ['http://h:1/proxy/scheduler/v2/tasks?limit=1', 'http://h:1/proxy?limit=1', null],
    ['http://h:1/scheduler/v2/ns/video', 'http://h:1', 'video'],
    ['ws://h:1/p/scheduler/v2/ns/video/executor', 'ws://h:1/p', 'video'],
    ['http://h:1/scheduler/v2/ns/video/task/t-1', 'http://h:1', 'video'],
    ['http://h:1/scheduler/v2/namespaces', 'http://h:1', null],
    ['http://h:1/scheduler/v2/other', 'http://h:1/scheduler/v2/other', null],
  ] as const) {
    it(`finds the master in ${copied}`, () => {
      expect(withoutApiBase(copied)).to.equal(url);
      expect(namespaceOf(copied, undefined)).to.equal(namespace ?? 'default');
    });
  }

  it('finds it in the address of any route', () => {
    const elsewhere = new Set(['/', '/livez', '/readyz', '/metrics', '/openapi.json', '/docs']);
    const paths = Object.keys(rights).map((name) => name.slice(name.indexOf('/')));
    const routes = paths.filter((path) => !elsewhere.has(path) && !/^\/(assets|docs)\//.test(path));
    const kept = routes.filter(
      (path) => withoutApiBase(`http://h:1${API_BASE}${path}`) !== 'http://h:1',
    );
    expect(kept).to.deep.equal([]);
  });

  it('takes the namespace that is asked for, and no other than the url names', () => {
    expect(namespaceOf('http://h:1', 'video')).to.equal('video');
    const empty = () => namespaceOf('http://h:1', '');
    expect(empty, 'a variable that is not set').to.throw(TypeError, /^namespace: .*""$/);
    expect(namespaceOf('http://h:1/scheduler/v2', 'video')).to.equal('video');
    expect(namespaceOf('http://h:1/scheduler/v2/ns/video', 'video')).to.equal('video');
    const other = () => namespaceOf('http://h:1/scheduler/v2/ns/video', 'audio');
    expect(other).to.throw(TypeError, 'the url names "video", and "audio" is asked for');
    expect(() => namespaceOf('http://h:1', 'Video')).to.throw(TypeError, /^namespace: .*"Video"$/);
  });

  it('have room for names of small letters, digits and hyphens', () => {
    for (const name of ['default', 'a', '0', 'video-eu-2', 'x'.repeat(32)]) {
      expect(NAMESPACE_PATTERN.test(name), name).to.equal(true);
    }
    for (const name of ['', 'Video', 'a_b', 'a.b', 'a/b', 'x'.repeat(33), 'a\n']) {
      expect(NAMESPACE_PATTERN.test(name), name).to.equal(false);
    }
  });
});
