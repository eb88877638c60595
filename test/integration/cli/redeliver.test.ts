/** Commands on several tasks, and `soda task redeliver` on those that a search finds. */
import { expect } from 'chai';
import { createClient } from '@soda-scheduler/client';
import { problem } from '../../helpers/fake-http-api.ts';
import { commandSuite } from '../../helpers/soda/command.ts';

describe('soda task, on many', function () {
  const { api, start, run: runSoda } = commandSuite();

  const run = (...args: string[]) => runSoda(['task', ...args]);
  const sorted = (text: string) => text.trim().split('\n').sort();
  const posts = () => api.paths().filter((path) => path.startsWith('POST'));

  async function submit(ids: readonly string[], state?: 'gave_up' | 'delivered') {
    const client = createClient({ url: api.url });
    await Promise.all(ids.map((id) => client.submit({ id, type: 'hello' }, { group: 'dev' })));
    if (state === undefined) return;
    for (const id of ids) {
      api.finish(id, 'succeeded');
      const tried = { tries: 12, last_status: 503, last_error: 'HTTP 503' };
      const notification = { url: 'http://x/', next_try_at: null, delivered_at: null, ...tried };
      api.change(id, { notification: { ...notification, state } });
    }
    api.received.length = 0;
  }

  it('steers several, and tells of each that is refused', async () => {
    await submit(['a', 'b']);
    const cancelled = await run('cancel', 'a', 'none', 'b');
    expect(sorted(cancelled.out)).to.deep.equal(['cancel requested: a', 'cancel requested: b']);
    expect(cancelled).to.include({ code: 3, err: 'soda: none: No such task is retained.\n' });
    const retried = await run('retry', 'none', 'a', 'a', '--json');
    expect(sorted(retried.out)).to.deep.equal([
      '{"task_id":"a","code":200}',
      '{"task_id":"none","code":404,"message":"No such task is retained."}',
    ]);
    expect(posts().filter((path) => path.endsWith('/a/retry'))).to.have.length(1);
    expect((await run('redeliver', 'a', 'b')).code).to.equal(0);
  });

  it('stops at what would befall all of them', async () => {
    api.intercept = () => problem(401, 'A valid bearer token is required.');
    const ids = Array.from({ length: 100 }, (_, index) => `t-${index}`);
    const refused = await run('retry', ...ids);
    expect(refused.code).to.equal(2);
    expect(refused.err).to.match(/^soda: A valid bearer token/);
    expect(posts()).to.have.length.below(20);
  });

  it('tells at first what it would send again, and sends nothing', async () => {
    await submit(
      Array.from({ length: 12 }, (_, index) => `lost-${index}`),
      'gave_up',
    );
    await submit(['taken'], 'delivered');
    const { code, out, err } = await run('redeliver', '--notification', 'gave_up');
    expect(code).to.equal(0);
    expect(out.trim().split('\n')).to.have.length(10);
    expect(out).to.match(/^lost-11\tsucceeded\thello\tdev\tgave_up\t12\tHTTP 503$/m);
    expect(err).to.equal(
      'Nothing was sent. --yes sends these 12 again, the newest 10 of them above.\n',
    );
    const json = await run('redeliver', '--notification', 'gave_up', '--limit', '3', '--json');
    expect(JSON.parse(json.out)).to.include({ count: 3 });
    expect(posts()).to.deep.equal([]);
  });

  it('sends again what is found, page by page, and says what became of each', async () => {
    const ids = Array.from({ length: 450 }, (_, index) => `t-${index}`);
    await submit(ids, 'gave_up');
    let [open, most] = [0, 0];
    api.intercept = async ({ path, method }, usual) => {
      if (method !== 'POST') return usual();
      open += 1;
      most = Math.max(most, open);
      await new Promise(setImmediate);
      open -= 1;
      if (path === '/task/t-3/redeliver') return problem(404, 'No such task is retained.');
      if (path === '/task/t-5/redeliver') return problem(400, 'Not so.');
      return usual();
    };
    const sent = await run('redeliver', '--notification', 'gave_up', '--group', 'dev', '--yes');
    expect(sorted(sent.out)).to.deep.equal([
      '1: No such task is retained.',
      '1: Not so.',
      'done 448, skipped 1, failed 1',
    ]);
    expect(sent.code).to.equal(1);
    expect(new Set(posts())).to.have.length(450);
    expect(most).to.be.within(1, 8);
    const pages = api.received.filter(({ path }) => path === '/tasks');
    expect(pages.map(({ query }) => query.get('notification'))).to.deep.equal(
      Array(3).fill('gave_up'),
    );
    expect(pages[0]?.query.get('group')).to.equal('dev');
    const some = ['redeliver', '--notification', 'gave_up', '--limit', '2', '--yes', '--json'];
    const lines = (await run(...some)).out.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).to.deep.equal([
      { task_id: 't-449', code: 200 },
      { task_id: 't-448', code: 200 },
      { done: 2, skipped: 0, failed: 0, reasons: [] },
    ]);
  });

  it('ends with Ctrl-C, and says how far it came', async () => {
    await submit(
      Array.from({ length: 20 }, (_, index) => `t-${index}`),
      'gave_up',
    );
    const args = ['task', 'redeliver', '--notification', 'gave_up', '--yes'];
    let [count, hung] = [0, 0];
    const child = start(args);
    api.intercept = ({ method }) => {
      if (method !== 'POST' || ++count <= 4) return undefined;
      // All that are under way now wait for an answer that never comes.
      if (++hung === 8) child.kill('SIGINT');
      return new Promise(() => {});
    };
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).to.equal(130);
    expect(out).to.equal('done 4, skipped 0, failed 0\n');
    expect(count).to.equal(12);
  });

  it('asks which, rather than taking all', async () => {
    for (const args of [[], ['a', '--notification', 'gave_up'], ['--type', 'hello', '--yes']]) {
      const refused = await run('redeliver', ...args);
      expect(refused.code, args.join(' ')).to.equal(2);
      expect(refused.err).to.match(/give either ids or --notification/);
    }
    const wrong = await run('list', '--notification', 'lost');
    expect(wrong.err).to.match(/Allowed choices are pending, delivered, gave_up/);
    expect(api.received).to.have.length(0);
  });
});
