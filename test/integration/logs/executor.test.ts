/** Logs from `ctx.log` to whoever reads them, through a whole master: order, loss, restarts, kills. */
import { fileURLToPath } from 'node:url';
import { createClient, type LogLine } from '@soda-scheduler/client';
import { expect } from 'chai';
import { deferred, watchedExecutor } from '../../helpers/sdk/watched-executor.ts';
import { commandSuite } from '../../helpers/soda/command-suite.ts';
import { SystemProcess } from '../../helpers/system/process.ts';

const SCRIPT = fileURLToPath(new URL('../../helpers/sdk/executor-process.mjs', import.meta.url));
type Executor = ReturnType<typeof watchedExecutor>;
const USER = { group: 'g' };

describe('logs of tasks', () => {
  const { run, url, restart } = commandSuite({ logBytes: '65536' });
  const ending: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ending.splice(0)) await end();
  });

  it('come in their order, and say what is missing where there is too much', async () => {
    const executor = watchedExecutor(url()).handle('test', (_, ctx) => {
      for (let n = 1; n <= 10_000; n++) ctx.log[n === 7 ? 'warn' : 'info'](`line ${n}`, { n });
      return 'done';
    });
    ending.push(() => executor.stop());
    await executor.start();
    const client = createClient({ url: url() });
    await client.submit({ id: 'many', type: 'test' }, USER);
    expect((await client.wait('many')).result, 'no log holds it up').to.equal('done');
    const whole = client.logs('many', {}, { follow: true });
    for await (const line of whole) expect(line.text).to.equal(`line ${line.n}`);

    let dropped = 0;
    const lines: LogLine[] = [];
    const onDropped = (count: number) => (dropped += count);
    for await (const line of client.logs('many', { limit: 1_000 }, { onDropped })) lines.push(line);
    const numbers = lines.map(({ n }) => n);
    expect(numbers).to.deep.equal([...numbers].sort((a, b) => a - b));
    expect([numbers[0], numbers.at(-1)]).to.deep.equal([1, 10_000]);
    expect(lines.length + dropped).to.equal(10_000);
    expect(dropped).to.be.above(5_000);
    expect(lines.every(({ n, fields }) => fields?.['n'] === n)).to.equal(true);

    const { out } = await run(['task', 'logs', 'many', '--level', 'warn']);
    expect(out).to.match(/^\d{4}-\S+ warn {2}line 7 \{"n":7\}\n$/);
    const found = await run(['logs', '--executor', 'e1', '--text', 'line 9,99', '--json']);
    expect(found.out).to.equal('');
    const some = await run(['logs', '--type', 'test', '--text', 'LINE 9999', '--from', '-1h']);
    expect(some.out).to.match(/^many#1 \d{4}-\S+ info {2}line 9999 /);
    expect((await run(['logs', '--text', 'x'])).code).to.equal(2);
    const without = await run(['task', 'logs', 'many', '--text', 'no such words']);
    expect([without.code, without.out]).to.deep.equal([0, '']);
    expect(without.err).to.match(/soda: many has no such line in its log\n$/);
    const none = await run(['task', 'logs', 'many', '--first-error']);
    expect(none.code).to.equal(1);
    await client.delete('many');
    await client.submit({ id: 'many', type: 'none' }, USER);
    expect((await client.logs('many').next()).done, 'of another task under its id').to.equal(true);
  });

  it('are found by the executor of each attempt, when another has had the next', async () => {
    const executors = ['first', 'second'].map((id) =>
      watchedExecutor(url(), { id }).handle('moved', (_, ctx) => {
        ctx.log.warn(`attempt ${ctx.attempt} on ${id}`);
        if (ctx.attempt === 1) throw new Error('not here');
      }),
    );
    const [first, second] = executors as [Executor, Executor];
    for (const one of executors) ending.push(() => one.stop());
    const client = createClient({ url: url() });
    await client.submit({ id: 'moved', type: 'moved', retry: { interval: 1 } }, USER);
    await first.start();
    await first.told('task_ended');
    await first.stop();
    await second.start();
    // Until all of it is written.
    for await (const _ of client.logs('moved', {}, { follow: true }));
    const saidBy = async (id: string) => {
      const found: string[] = [];
      const query = { executor_id: id, from: Date.now() - 60_000 };
      for await (const { text } of client.searchLogs(query)) found.push(text);
      return found;
    };
    expect(await saidBy('first')).to.deep.equal(['attempt 1 on first', 'failed: not here']);
    expect(await saidBy('second')).to.deep.equal(['attempt 2 on second']);
  });

  it('go on after a restart of the master, whoever follows', async () => {
    const more = deferred();
    const executor = watchedExecutor(url()).handle('test', async (_, ctx) => {
      ctx.log.info('before');
      await more.promise;
      ctx.log.info('after');
    });
    ending.push(() => executor.stop());
    await executor.start();
    const client = createClient({ url: url() });
    await client.submit({ id: 'one', type: 'test' }, USER);
    const seen: string[] = [];
    for await (const { n, text } of client.logs('one', {}, { follow: true })) {
      seen.push(`${n} ${text}`);
      if (n > 1) continue;
      await restart();
      more.resolve();
    }
    expect(seen, 'and it ends with the task').to.deep.equal(['1 before', '2 after']);
  });

  it('have the last words of an executor that is killed', async () => {
    const child = new SystemProcess({ name: 'executor', args: [SCRIPT, url(), 'e1'] });
    ending.push(() => child.end());
    const client = createClient({ url: url() });
    await client.submit({ id: 'one', type: 'test', params: { mode: 'log' } }, USER);
    for await (const { text } of client.logs('one', { level: 'error' }, { follow: true })) {
      expect(text).to.equal('last words');
      break;
    }
    child.signal('SIGKILL');
    await child.exited;
    const { out } = await run(['task', 'logs', 'one', '--first-error', '--json']);
    expect(JSON.parse(out)).to.include({ attempt: 1, n: 2, level: 'error', text: 'last words' });
  });
});
