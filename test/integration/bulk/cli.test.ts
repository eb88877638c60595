/** `soda bulk` and `soda operation`, against a whole master. */
import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandSuite } from '../../helpers/soda/command-suite.ts';

describe('soda bulk', () => {
  const { run, folder } = commandSuite();
  const soda = (line: string, input = '') => run(line.split(' '), {}, input);
  const submit = (id: string) => soda(`task submit --type encode --group news --id ${id}`);

  it('shows what it would do, and to how many of those that are named it can be', async () => {
    for (const id of ['a', 'b']) await submit(id);
    const shown = await soda('bulk cancel a nobody');
    expect(shown.out).to.match(/^a\twaiting\tencode\tnews\t\S+\n$/);
    expect(shown).to.deep.include({
      code: 2,
      err: 'soda: cancel: 2 tasks that are named; not found: 1. Nothing was done: --yes does it.\n',
    });
    expect((await soda('bulk retry --state failed')).out).to.equal('There is no such task.\n');
    for (const [args, words] of [
      ['', 'which tasks? give ids, filters, or --all'],
      [' a --type encode', 'give one of ids, filters, or --all'],
    ]) {
      expect(await soda(`bulk cancel${args}`)).to.deep.include({
        code: 2,
        err: `soda: ${words}\n`,
      });
    }
    expect(JSON.parse((await soda('bulk cancel --all --json')).out)).to.include({ count: 2 });
    const done = await soda('bulk cancel a nobody --yes');
    expect(done).to.deep.include({ code: 0, out: 'done 1, skipped 1, failed 0\n' });
    expect(done.err).to.equal('soda: nobody: no such task\n');
    await soda('bulk suspend --type encode --yes');
    const audit = (await soda('audit --action task.bulk')).out.trim().split('\n');
    expect(audit.map((line) => line.split('\t').at(-1))).to.deep.equal([
      'suspend of 1: type=encode',
      'cancel of 2: 2 ids',
    ]);
  });

  it('takes ids from a file and from stdin', async () => {
    for (const id of ['a', 'b', 'c']) await submit(id);
    await writeFile(join(folder(), 'ids'), 'a\r\n\nb\n');
    expect((await soda('bulk cancel @ids --yes')).out).to.equal('done 2, skipped 0, failed 0\n');
    expect((await soda('bulk cancel - --yes', 'c\n')).out).to.equal(
      'done 1, skipped 0, failed 0\n',
    );
    expect(await soda('bulk cancel -', '\n')).to.deep.include({
      code: 2,
      err: 'soda: -: it has no ids\n',
    });
    expect(await soda('bulk cancel @none')).to.deep.include({ code: 2 });
  });

  it('lists operations, some of them, or those in a state', async () => {
    await submit('a');
    for (const action of ['suspend', 'resume', 'cancel']) await soda(`bulk ${action} a --yes`);
    const actions = async (line: string) =>
      (await soda(`operation list${line}`)).out
        .split('\n')
        .map((row) => row.split('\t')[1])
        .join(' ')
        .trim();
    expect(await actions('')).to.equal('cancel resume suspend');
    expect(await actions(' --limit 2')).to.equal('cancel resume');
    expect(await actions(' --state done')).to.equal('cancel resume suspend');
    expect(await actions(' --state paused')).to.equal('');
  });
});
