/** `soda alert`, against a whole master: from a receiver to what it hears. */
import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HookReceiver } from '../../helpers/alerts/receivers.ts';
import { commandSuite } from '../../helpers/soda/command-suite.ts';
import { commandSuite as besideFakeMaster } from '../../helpers/soda/command.ts';

describe('soda alert', () => {
  const { folder, run } = commandSuite();
  const soda = (line: string) => run(['alert', ...line.split(' ')]);

  it('tells a receiver what is sent, lists and silences it, and changes rules', async () => {
    const hook = await new HookReceiver().open();
    const url = hook.url('/hook');
    const set = await soda(
      `receivers set ops --channel json --hook ${url} --template {"t":"{{title}}"}`,
    );
    expect(set).to.deep.include({ code: 0, out: 'set: ops\n' });
    expect((await soda('test ops')).out).to.equal('taken: ops\n');
    expect((await hook.next()).text).to.equal('{"t":"[test] message: test"}');
    const sent = await soda('send disk --severity critical --field host=nas-1');
    const id = /^raised: (al-\w+)\n$/.exec(sent.out)?.[1] ?? '';
    expect((await hook.next()).text).to.equal('{"t":"[critical] message: disk"}');
    await hook.close();
    expect((await soda('test ops')).err).to.match(/^soda: ops has not taken it: /);
    expect((await soda('list')).out).to.match(
      new RegExp(`^${id}\\tcritical\\tmessage\\tdefault\\t\\d+ s\\tops\\tdisk\\t\\n$`),
    );
    expect((await soda(`silence ${id}`)).code).to.equal(2);
    expect((await soda(`silence ${id} --until +4h --reason late`)).out).to.match(
      /^silenced: al-\w+, until 2/,
    );
    expect((await soda('list')).out).to.include('silenced until');
    expect((await soda('list --state cleared')).out).to.equal('');

    expect((await soda('rules set disk --threshold 5 --receiver ops')).out).to.equal('set: disk\n');
    expect((await soda('rules set disk --repeat never')).err).to.equal('');
    expect((await soda('rules set mine --off')).err).to.match(/a new rule needs --kind/);
    const rules = (await soda('rules list')).out;
    expect(rules).to.match(/^disk\tdisk\t5\t\tcritical\tops\t\t$/m);
    expect(rules).to.match(/^no_executor\tno_executor\t60\t\tcritical\tall\t14400\t$/m);
    expect((await soda('rules delete disk')).out).to.equal('deleted: disk\n');
    expect((await soda('receivers delete ops')).code).to.equal(0);
    expect((await soda('receivers delete ops')).code).to.equal(3);
  });

  it('takes the secrets of a receiver from a file, or from stdin', async () => {
    await writeFile(join(folder(), 'url'), 'https://127.0.0.1/of-a-file\n');
    const set = (input: string, ...options: string[]) => {
      const args = ['alert', 'receivers', 'set', 'ops', '--channel', 'webhook', ...options];
      return run([...args, '--json'], {}, input);
    };
    const secret = Buffer.from('a secret of more than enough bytes').toString('base64');
    const { code, out, err } = await set(`whsec_${secret}\n`, '--hook', '@url', '--secret', '-');
    expect([code, err]).to.deep.equal([0, '']);
    expect(JSON.parse(out)).to.include({ url: 'https://127.0.0.1/***', has_secret: true });
    const none = await set(' \n', '--hook', '-');
    expect(none).to.deep.include({ code: 2, err: 'soda: --hook: there is nothing in -\n' });
    expect((await set('', '--hook', '@no-url')).err).to.match(/^soda: --hook: ENOENT/);
  });
});

describe('soda alert, of what it is answered', () => {
  const { api, run } = besideFakeMaster();

  it('says that an alert is not raised where too many are', async () => {
    const [code, said] = [200, { code: 200, alerts: [], omitted: 1 }];
    api.intercept = () => [code, said];
    const sent = await run(['alert', 'send', 'disk']);
    expect([sent.code, sent.out]).to.deep.equal([1, '']);
    expect(sent.err).to.match(/^soda: not raised: too many/);
    const json = await run(['alert', 'send', 'disk', '--json']);
    expect(json).to.deep.equal({ code: 1, out: `${JSON.stringify(said)}\n`, err: '' });
    api.intercept = () => [code, { ...said, alerts: ['al-1'] }];
    expect((await run(['alert', 'send', 'disk'])).out).to.equal('raised: al-1\n');
  });

  it('says that there is no receiver, and how one is made', async () => {
    api.intercept = ({ path }, usual) => {
      if (path.includes('/alert-receivers')) return [200, { receivers: [], next_cursor: null }];
      return path.includes('/alerts') ? [200, { alerts: [], next_cursor: null }] : usual();
    };
    const { code, err } = await run(['alert', 'list']);
    expect(code).to.equal(0);
    expect(err).to.match(/there is no receiver \(soda alert receivers set --help\)\n$/);
  });

  it('tests a receiver once, whatever becomes of the answer', async () => {
    api.intercept = () => 'drop';
    expect((await run(['alert', 'test', 'ops'])).code).to.equal(5);
    api.intercept = () => new Promise<never>(() => undefined);
    const hanging = await run(['alert', 'test', 'ops', '--request-timeout', '2']);
    expect(hanging.err).to.match(/no answer .* within 2 s/);
    expect(api.paths()).to.deep.equal(['POST /alerts/test', 'POST /alerts/test']);
  });
});
