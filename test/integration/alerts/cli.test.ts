/** `soda alert`, against a whole master: from a receiver to what it hears. */
import { expect } from 'chai';
import { HookReceiver } from '../../helpers/alerts/receivers.ts';
import { commandSuite } from '../../helpers/soda/command-suite.ts';

describe('soda alert', function () {
  this.timeout(60_000);
  const { run } = commandSuite();
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
      new RegExp(`^${id}\\tcritical\\tmessage\\tdefault\\t0 s\\tops\\tdisk\\t\\n$`),
    );
    expect((await soda(`silence ${id}`)).code).to.equal(2);
    expect((await soda(`silence ${id} --until +4h`)).out).to.match(/^silenced: al-\w+, until 2/);
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
});
