/** How `soda` gets along with a master that is away, or an address that is not quite its own. */
import { expect } from 'chai';
import { once } from 'node:events';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { API_BASE } from '@soda-scheduler/protocol';
import { tellWait } from '../../../cli/connection.ts';
import { problem } from '../../helpers/fake-http-api.ts';
import { commandSuite } from '../../helpers/soda/command.ts';

describe('soda and its way to the master', function () {
  const { api, start, run } = commandSuite();

  const submitted = ['task', 'submit', '--type', 'hello', '--group', 'dev', '--id'];

  it('waits on while the master is away, and says so once', async () => {
    await run([...submitted, 'a']);
    api.executors = [{ executor_id: 'e1', task_id: 'a' } as never];
    const askedCounts = new Map<string, number>();
    api.intercept = ({ method, path }) => {
      const askedCount = (askedCounts.get(path) ?? 0) + 1;
      if (method !== 'GET') return undefined;
      askedCounts.set(path, askedCount);
      if (askedCount > 1 && askedCount <= 6) return 'drop';
      if (askedCount > 6) {
        // Another of the three may not have begun yet.
        if (path === '/executors') api.executors = [];
        else api.finish(path.slice('/task/'.length), 'succeeded');
      }
      return undefined;
    };
    const ends = await Promise.all([
      run(['task', 'watch', 'a']),
      run([...submitted, 'b', '--wait', '--json']),
      run(['executor', 'drain', 'e1', '--wait']),
    ]);
    for (const { code, err } of ends) {
      expect(err).to.match(
        /^soda: no answer from .*; waiting until the master is back\nsoda: the master is back\n$/,
      );
      expect(code).to.equal(0);
    }
  });

  it('says why it waits where it is asked to wait long', async () => {
    const full = problem(429, 'There are 2 tasks waiting, as many as may.', { 'retry-after': '5' });
    api.intercept = () => {
      api.intercept = () => undefined;
      return full;
    };
    const { code, err } = await run([...submitted, 'a']);
    expect(err).to.equal('soda: There are 2 tasks waiting, as many as may. Asking again in 5 s.\n');
    expect(code).to.equal(0);
  });

  it('puts what a master or a proxy says into whole sentences', async () => {
    api.intercept = () => {
      api.intercept = () => undefined;
      return [503, '', { 'retry-after': '5' }];
    };
    expect((await run([...submitted, 'a'])).err).to.equal(
      'soda: HTTP 503 Service Unavailable. Asking again in 5 s.\n',
    );
    let askedCount = 0;
    api.intercept = ({ method }) => {
      if (method !== 'GET') return undefined;
      if (++askedCount <= 4) return problem(503, 'The master is recovering.');
      api.finish('a', 'succeeded');
      return undefined;
    };
    expect((await run(['task', 'watch', 'a'])).err).to.equal(
      'soda: The master is recovering; waiting until the master is back\nsoda: the master is back\n',
    );
  });

  it('says that it asks again after a try that has taken long', () => {
    const said: string[] = [];
    for (const code of ['ECONNREFUSED', 'ECONNABORTED']) {
      const cause = Object.assign(new Error('no'), { code });
      tellWait(new Error(`no answer: ${code}`, { cause }), 0, (line) => said.push(line));
    }
    expect(said).to.deep.equal(['no answer: ECONNABORTED. Asking again.']);
  });

  it('waits no longer than it is told to for a master that stands still', async () => {
    await run([...submitted, 'a']);
    let release: () => void = () => undefined;
    const silence = new Promise<void>((resolve) => (release = resolve));
    api.intercept = async (_request, usual) => silence.then(usual);
    for (const command of [['get'], ['watch']]) {
      const { code, err } = await run(['task', ...command, 'a', '--request-timeout', '0.5']);
      expect(err).to.match(/^soda: no answer from http:\/\/127\.0\.0\.1:\d+ within 0\.5 s\n$/);
      expect(code).to.equal(5);
    }
    expect((await run(['doctor', '--request-timeout', '0.5'])).out).to.include('none within 0.5 s');
    release();
    for (const wrong of ['0', '-1', 'soon', '1e9']) {
      const { code, err } = await run(['task', 'get', 'a', '--request-timeout', wrong]);
      expect(err, wrong).to.include('expected seconds, above 0 and up to 86400');
      expect(code).to.equal(2);
    }
  });

  it('ends with Ctrl-C while the master is away', async () => {
    api.intercept = () => 'drop';
    const child = start(['task', 'watch', 'a']);
    await once(createInterface(child.stderr), 'line');
    child.kill('SIGINT');
    expect(await once(child, 'exit')).to.deep.equal([130, null]);
  });

  it('takes the address also with what was copied behind it', async () => {
    await run([...submitted, 'a']);
    for (const behind of [API_BASE, `${API_BASE}/`, `${API_BASE}/task/submit`]) {
      const env = { SODA_URL: api.url + behind };
      expect(await run(['task', 'get', 'a'], env), behind).to.include({ code: 0 });
      expect((await run(['doctor'], env)).out, behind).to.match(/^master\tok\t/m);
    }
  });

  it('says that the address is of http and not of https, or of somebody else', async () => {
    const secure = https.createServer().listen(0, '127.0.0.1');
    await once(secure, 'listening');
    const { port } = secure.address() as AddressInfo;
    const get = (url: string) => run(['task', 'get', 'a', '--url', url]);
    const [toPlain, toSecure] = await Promise.all([
      get(api.url.replace('http', 'https')),
      get(`http://127.0.0.1:${port}`),
    ]);
    secure.close();
    expect(toPlain.err).to.match(
      /^soda: no answer from .*: it speaks no https there: is it http\?\n$/,
    );
    expect(toSecure.err).to.match(/\nsoda: the connection was closed: is it https there\?\n$/);
    api.intercept = () => [200, '<html>'];
    const other = await get(api.url);
    expect(other.err).to.match(
      /^soda: http:.* does not look like a Soda Scheduler master: .*\nsoda: check SODA_URL, or --url\n$/,
    );
    expect(other.code).to.equal(1);
    api.intercept = () => [404, '<html>'];
    expect(
      (await get(api.url)).code,
      'a task may be there that somebody else does not find',
    ).to.equal(1);
  });
});
