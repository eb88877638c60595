/** The `soda` command: what it prints, and how it ends; as a process where that may make a difference. */
import { expect } from 'chai';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { problem } from '../../helpers/fake-http-api.ts';
import { commandSuite } from '../../helpers/soda/command.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const receiver = path.join(root, 'examples/dist/callback-receiver/main.js');

describe('soda', function () {
  const { api, folder, start, spawned, run } = commandSuite();

  it('stops a master that still waits for its database when it is told to', async () => {
    const child = start(['master'], {
      SODA_DATABASE_URL: 'mysql://nobody:none@127.0.0.1:1/none',
      SODA_DATA_DIR: folder,
      SODA_PORT: '0',
    });
    for await (const line of createInterface(child.stdout)) {
      if (line.includes('the store does not answer yet')) child.kill('SIGTERM');
    }
    expect(child.exitCode ?? (await once(child, 'close'))[0]).to.equal(0);
  });

  const submit = (...more: string[]) =>
    run(['task', 'submit', '--type', 'hello', '--group', 'dev', ...more]);

  describe('help and usage', () => {
    it('explains itself without a master', async () => {
      const { code, out } = await spawned(['--help']);
      expect(code).to.equal(0);
      expect(out).to.include('SODA_URL').and.to.include('Exit codes:');
      const commands = ['task submit', 'executor drain', 'doctor', 'master'];
      const helps = commands.map(async (command) => {
        const help = await run([...command.split(' '), '--help']);
        expect(help.code, command).to.equal(0);
        expect(help.out, command).to.include(`Usage: soda ${command}`);
      });
      await Promise.all(helps);
      expect((await spawned(['--version'])).out).to.match(/^\d+\.\d+\.\d+\n$/);
    });

    it('ends with 2 on wrong usage and says what is wrong', async () => {
      const wrong: [RegExp, string[]][] = [
        [/unknown command 'tusk'; did you mean task\?/, ['tusk']],
        [/unknown command 'show'; did you mean get\?/, ['task', 'show', 'a']],
        [/unknown command 'lst'; did you mean list\?/, ['executor', 'lst']],
        [/unknown command 'qqqqqq'\n/, ['task', 'qqqqqq']],
        [/required option '--type <type>'/, ['task', 'submit', '--group', 'dev']],
        [/Allowed choices are waiting/, ['task', 'list', '--state', 'sleeping']],
        [/It takes one value only/, ['task', 'list', '--state', 'failed', '--state', 'expired']],
        [/It takes one value only/, ['task', 'list', '--label', 'a', '--label', 'b']],
        [/--limit.*Expected a whole number from 1 on/, ['task', 'list', '--limit', '-1']],
        [/--limit.*Expected a whole number from 1 on/, ['booking', 'list', '--limit', '0']],
        [/--limit.*Expected a whole number from 1 on/, ['job', 'runs', 'a', '--limit', '-1']],
        [/expected the http or https URL/, ['task', 'list', '--url', 'localhost']],
        [/one without a user or password/, ['task', 'list', '--url', 'https://a:secret@localhost']],
        [/one without a user or password/, ['doctor', '--url', 'http://a:secret@localhost']],
        [/--params: .*JSON/, ['task', 'submit', '--type', 't', '--group', 'g', '--params', '{']],
        [/--params: ENOENT/, ['task', 'submit', '--type', 't', '--group', 'g', '--params', '@no']],
        [/soda: --port: expected a whole number/, ['master', '--port', 'none', '--print-config']],
      ];
      const runs = wrong.map(async ([reason, args]) => {
        const { code, err } = await (args[0] === 'tusk' || args[0] === 'master' ? spawned : run)(
          args,
        );
        expect(err, args.join(' ')).to.match(reason);
        expect(code, args.join(' ')).to.equal(2);
      });
      await Promise.all(runs);
      expect(api.received).to.have.length(0);
    });
  });

  describe('task', () => {
    it('submits what the options say and prints the id', async () => {
      await writeFile(path.join(folder, 'params.json'), '{"input":"a.mov"}');
      const { code, out } = await run([
        ...['task', 'submit', '--type', 'hello', '--group', 'dev'],
        ...['--id', 'a', '--params', '@params.json', '--priority', 'high', '--label', 'hd', 'eu'],
        ...['--max-attempts', '3', '--deadline', '2027-01-01T00:00:00Z', '--project', 'films'],
        ...['--start-timeout', '600', '--start-timeout-action', 'alert'],
        ...['--retry-interval', '1,5,30', '--assign-timeout', '9', '--disk-bytes', '5e9'],
      ]);
      expect({ code, out }).to.deep.equal({ code: 0, out: 'a\n' });
      expect(api.received[0]?.body).to.deep.equal({
        task: {
          id: 'a',
          type: 'hello',
          params: { input: 'a.mov' },
          priority: 'high',
          labels: ['hd', 'eu'],
          deadline: '2027-01-01T00:00:00Z',
          retry: { max_attempts: 3, interval: [1, 5, 30] },
          assign_timeout: 9,
          start_timeout: 600,
          start_timeout_action: 'alert',
          needs: { disk_bytes: 5_000_000_000 },
        },
        user: { group: 'dev', project: 'films' },
      });
      await spawned(
        ['task', 'submit', '--type', 'hello', '--priority', '-60', '--params', '-'],
        { SODA_GROUP: 'env', SODA_TOKEN: 'secret' },
        '[1]',
      );
      expect(api.received[1]?.headers.authorization).to.equal('Bearer secret');
      expect(api.received[1]?.body).to.deep.include({ user: { group: 'env' } });
      expect(api.received[1]?.body.task).to.deep.include({ params: [1], priority: -60 });
    });

    it('lists with tabs into a pipe, and as a JSON value a line', async () => {
      for (const id of ['a', 'b', 'c']) await submit('--id', id);
      const { out } = await spawned(['task', 'list', '--limit', '2']);
      const ids = out.split('\n').map((line) => line.split('\t')[0]);
      expect(ids).to.deep.equal(['c', 'b', '']);
      const lines = (await run(['task', 'list', '--json'])).out.trim().split('\n');
      expect(lines.map((line) => JSON.parse(line).task_id)).to.deep.equal(['c', 'b', 'a']);
    });

    it('shows a task without the control characters in it', async () => {
      await submit('--id', 'a');
      api.finish('a', 'failed');
      const message = 'bad\u001b[31m codec\nsecond\u009b1m \u202edriht\u2066';
      api.change('a', { error: { message } });
      const { out } = await run(['task', 'get', 'a']);
      expect(out)
        .to.match(/^state: +failed$/m)
        .and.to.match(/^error: +bad \[31m codec second 1m  driht $/m);
      for (const command of ['get', 'list']) {
        const named = command === 'get' ? ['a'] : [];
        const shown = await run(['task', command, ...named, '--json']);
        expect(shown.out).to.match(/^[ -~]*\n$/);
        expect(JSON.parse(shown.out)).to.deep.include({ task_id: 'a', error: { message } });
      }
    });

    it('watches until the end, which decides how it ends', async () => {
      await submit('--id', 'a');
      const states = ['running', 'succeeded'];
      api.intercept = (request) => {
        if (request.method === 'GET' && states[0] === 'running')
          api.change('a', { state: 'running' });
        else if (request.method === 'GET') api.finish('a', 'succeeded', { frames: 3 });
        states.shift();
        return undefined;
      };
      const watched = await run(['task', 'watch', 'a']);
      expect(watched.code).to.equal(0);
      expect(watched.out).to.match(/^running.*\nsucceeded.*\n\{"frames":3\}\n$/);
      api.intercept = () => undefined;
      api.finish('a', 'failed');
      api.change('a', { failure_reason: 'non_retryable', error: { message: 'no codec' } });
      const failed = await run(['task', 'watch', 'a']);
      expect(failed.code).to.equal(1);
      expect(failed.err).to.equal('soda: the task is failed: non_retryable: no codec\n');
    });

    it('says nothing twice when only the time of the progress changes', async () => {
      await submit('--id', 'a');
      let asked = 0;
      api.intercept = ({ method }) => {
        if (method !== 'GET') return undefined;
        asked += 1;
        const progress = { percent: 50, state: null, at: new Date(asked).toISOString() };
        if (asked < 4) api.change('a', { state: 'running', progress, waiting: null });
        else api.finish('a', 'succeeded');
        return undefined;
      };
      const { out } = await run(['task', 'watch', 'a']);
      const lines = out.trim().split('\n');
      expect(lines.filter((line) => line.startsWith('running'))).to.deep.equal(['running, 50 %']);
    });

    it('leaves the task alone when watching is interrupted', async () => {
      await submit('--id', 'a');
      const child = start(['task', 'watch', 'a']);
      const lines = createInterface(child.stdout);
      await once(lines, 'line');
      const hint = text(child.stderr);
      child.kill('SIGINT');
      const [code, signal] = await once(child, 'exit');
      expect({ code, signal }).to.deep.equal({ code: 130, signal: null });
      expect(await hint).to.equal('The task goes on: soda task watch a\n');
      expect(api.paths()).to.not.include('POST /task/a/cancel');
    });

    it('steers', async () => {
      await submit('--id', 'a');
      expect((await run(['task', 'cancel', 'a', '--reason', 'old'])).out).to.include(
        'requested: a',
      );
      expect((await run(['task', 'retry', 'a', '--json'])).out).to.equal(
        '{"task_id":"a","code":200}\n',
      );
      expect((await run(['task', 'redeliver', 'a'])).code).to.equal(0);
      expect(api.paths().slice(1)).to.deep.equal([
        'POST /task/a/cancel',
        'POST /task/a/retry',
        'POST /task/a/redeliver',
      ]);
    });

    it('changes a task that waits', async () => {
      api.intercept = () => [200, { task_id: 'a', code: 200 }];
      const at = '2026-12-01T08:00:00Z';
      expect((await run(['task', 'change', 'a', '--priority', 'urgent'])).out).to.equal(
        'changed: a\n',
      );
      await run(['task', 'change', 'a', '--priority', '-60', '--run-at', at]);
      expect(api.received.map(({ method, body }) => [method, body])).to.deep.equal([
        ['PATCH', { priority: 'urgent' }],
        ['PATCH', { priority: -60, run_at: at }],
      ]);
      await run(['task', 'change', 'a', '--run-at', '1796112000000']);
      expect(api.received[2]?.body).to.deep.equal({ run_at: 1_796_112_000_000 });
      const nothing = await run(['task', 'change', 'a']);
      expect(nothing).to.include({ code: 2 });
      expect(nothing.err).to.match(/nothing to change/);
    });

    it('ends with a code that says what went wrong', async () => {
      expect(await spawned(['task', 'get', 'none'])).to.include({
        code: 3,
        err: 'soda: No such task is retained.\n',
      });
      api.intercept = () => problem(409, 'the task is running');
      expect((await run(['task', 'retry', 'a'])).code).to.equal(4);
      api.intercept = () => problem(401, 'The token is not known.');
      expect(await run(['task', 'get', 'a'])).to.include({
        code: 2,
        err: 'soda: The token is not known.\nsoda: it comes from SODA_TOKEN, or from --token\n',
      });
      api.intercept = () => [502, '<html>', { 'content-type': 'text/html' }];
      const behind = await run(['task', 'get', 'a']);
      expect(behind.code).to.equal(5);
      expect(behind.err).to.match(
        /^soda: HTTP 502 .*\nsoda: this is the answer of a proxy .*: is the master up\?\n$/,
      );
      api.intercept = () => problem(500, 'The master failed.');
      const [failed, gone] = await Promise.all([
        run(['task', 'get', 'a']),
        run(['task', 'get', 'a', '--url', 'http://127.0.0.1:1']),
      ]);
      expect(failed.code).to.equal(1);
      expect(gone.code).to.equal(5);
      expect(gone.err).to.match(
        /^soda: no answer from http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED.*; is the master running there\?$/m,
      );
    });
  });

  describe('executor', () => {
    it('drains, waits until nothing runs, and resumes', async () => {
      const executor = {
        executor_id: 'e1',
        state: 'busy',
        types: ['hello'],
        labels: [],
        reserve: [],
      };
      api.executors = [{ ...executor, task_id: 'a', host: 'h', last_seen_at: null } as never];
      expect((await run(['executor', 'list'])).out).to.equal('e1\tbusy\thello\t\ta\th\t\t\t\t\t\n');
      const until = '2026-11-20T12:00:31.000Z';
      api.executors = api.executors.map((one) => ({ ...one, lease_until: until }));
      const silent = (await run(['executor', 'list'])).out.split('\t');
      expect(silent[8]).to.equal(`silent, its lease ends ${until}`);
      let asked = 0;
      api.intercept = ({ path: asksFor }) => {
        if (asksFor === '/executors' && ++asked === 2)
          api.executors = api.executors.map((one) => ({ ...one, task_id: null }));
        return undefined;
      };
      const drained = await run(['executor', 'drain', 'e1', '--timeout', '5', '--wait']);
      expect(drained).to.include({ code: 0, out: 'drained: e1\n' });
      expect(asked).to.equal(2);
      expect((await run(['executor', 'resume', 'e1'])).code).to.equal(0);
      expect((await run(['executor', 'drain', 'e2'])).code).to.equal(3);
      api.executors = api.executors.map((one) => ({ ...one, lasting: false }));
      const passing = 'draining: e1 (until its process ends: its id was made up for it)\n';
      expect((await run(['executor', 'drain', 'e1'])).out).to.equal(passing);
    });

    it('sets labels in place of its own, and gives them back', async () => {
      api.executors = [{ executor_id: 'e1', lasting: true } as never];
      const set = (...args: string[]) => run(['executor', 'set', 'e1', ...args]);
      const lasting = await set('--labels', 'gpu,zone:b', '--reserve-own');
      expect(lasting).to.include({ code: 0, out: 'set: e1\n' });
      expect((await set('--labels-own', '--reserve', '', '--json')).code).to.equal(0);
      const sent = api.received.map(({ method, path: to, body }) => [method, to, body]);
      expect(sent).to.deep.equal([
        ['PATCH', '/executor/e1', { labels: ['gpu', 'zone:b'], reserve: null }],
        ['PATCH', '/executor/e1', { labels: null, reserve: [] }],
      ]);
      expect((await set()).code, 'nothing to set').to.equal(2);
      expect((await set('--labels', 'a', '--labels-own')).code, 'both').to.equal(2);
      expect((await run(['executor', 'set', 'e2', '--labels', 'a'])).code).to.equal(3);
    });
  });

  describe('master and dev', () => {
    it('prints the settings it would run with, secrets left out', async () => {
      await writeFile(path.join(folder, 'token'), 'a-very-secret-token');
      const { out } = await spawned(['master', '--print-config', '--lease', '30'], {
        SODA_NOTIFY_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}`,
      });
      expect(JSON.parse(out)).to.include({ leaseMs: 30_000, notifySecrets: '(set)' });
      expect(out).to.not.include('whsec_');
    });

    it('says what to do about a port that is in use, or data that cannot be written', async () => {
      const used = new URL(api.url).port;
      const busy = await spawned(['dev', '--port', used, '--data-dir', 'busy']);
      expect(busy.code).to.equal(1);
      expect(busy.err).to.match(
        /^soda: port \d+ of 127\.0\.0\.1 is in use, perhaps by another master/m,
      );
      expect(busy.err).to.match(/choose another port with --port or SODA_PORT/);
      expect(busy.err).to.match(/^soda: soda dev --port.*--data-dir/m);
      expect(busy.err).to.not.match(/the master (listens|takes work)/);
      await writeFile(path.join(folder, 'a-file'), '');
      for (const data of ['a-file', 'a-file/below']) {
        const refused = await spawned(['master', '--port', '0', '--data-dir', data]);
        expect(refused.code, data).to.equal(1);
        expect(refused.err, data).to.match(
          /^soda: the data directory a-file\S* cannot be .* \(E\w+\): set SODA_DATA_DIR/,
        );
      }
    });

    it('keeps what it stores from other users, and says that it takes work when it does', async () => {
      const master = start(['master', '--port', '0', '--data-dir', 'private/data']);
      const events: string[] = [];
      for await (const line of createInterface(master.stdout)) {
        events.push((JSON.parse(line) as { event: string }).event);
        if (events.at(-1) === 'ready') break;
      }
      expect(events.filter((event) => ['starting', 'term', 'ready'].includes(event))).to.deep.equal(
        ['starting', 'term', 'ready'],
      );
      const modeOf = async (name: string) =>
        (await stat(path.join(folder, 'private/data', name))).mode & 0o777;
      expect(await modeOf('.')).to.equal(0o700);
      for (const name of ['soda.db', 'soda.db-wal', 'notify-secret']) {
        expect(await modeOf(name), name).to.equal(0o600);
      }
    });

    it('takes a task, calls back with a signature, and stops when told to', async () => {
      const dev = start(['dev', '--port', '0', '--data-dir', 'data', '--json']);
      const url = JSON.parse(await firstLine(createInterface(dev.stdout))).url as string;
      const secret = (await readFile(path.join(folder, 'data/notify-secret'), 'utf8')).trim();
      const printed = start(['0'], { SODA_NOTIFY_SECRET: secret }, receiver);
      const callbacks = createInterface(printed.stdout);
      const received = firstLine(callbacks);
      const at = /http:\S+/.exec(await firstLine(createInterface(printed.stderr)))?.[0] ?? '';

      const env = { SODA_URL: url };
      const ask = (...args: string[]) => run(args, env);
      const { out } = await ask(
        ...['task', 'submit', '--type', 'hello', '--group', 'dev', '--notify-url', `${at}done`],
      );
      const id = out.trim();
      expect((await ask('task', 'cancel', id)).code).to.equal(0);
      expect(JSON.parse(await received)).to.include({ task_id: id, code: 499, state: 'canceled' });
      expect((await ask('task', 'watch', id)).code).to.equal(1);
      expect((await ask('task', 'cancel', id)).code).to.equal(4);
      const { out: found } = await ask('doctor');
      expect(found).to.match(/^master\tok\t.*ready, version \d/m);
      expect(found).to.match(/^duties\tok\tall \d+ are done in time$/m);

      const forged = await fetch(at, { method: 'POST', body: '{"task_id":"forged"}' });
      expect(forged.status).to.equal(401);

      dev.kill('SIGINT');
      expect(await once(dev, 'exit')).to.deep.equal([0, null]);
      printed.kill();
      await once(printed, 'exit');
    });
  });
});

async function firstLine(lines: Interface): Promise<string> {
  const [line] = (await once(lines, 'line')) as [string];
  return line;
}
