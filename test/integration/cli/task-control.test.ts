/** `soda task` commands that steer one task, against a whole master. */
import { expect } from 'chai';
import { commandSuite } from '../../helpers/soda/command-suite.ts';

describe('soda task steers one task', function () {
  this.timeout(60_000);
  const { run } = commandSuite();
  const soda = (...line: string[]) => run(['task', ...line]);

  it('changes what waits, copies it with changes, and forgets what has ended', async () => {
    await soda('submit', '--id', 'a', '--type', 'encode', '--group', 'news', '--params', '{"n":1}');
    const changed = await soda('change', 'a', '--params', '{"n":12345678901234567890}');
    expect(changed.out).to.equal('changed: a\n');
    const both = await soda('change', 'a', '--unset', 'labels', '--label', 'x');
    expect(both).to.deep.include({ code: 2 });
    const copied = await soda('copy', 'a', '--id', 'b', '--priority', 'high');
    expect(copied).to.deep.include({ out: 'b\n', code: 0 });
    expect((await soda('get', 'b')).out)
      .to.match(/^params: +{"n":12345678901234567890}$/m)
      .and.to.match(/^priority: +high$/m);
    expect((await soda('delete', 'a')).err).to.match(/cancel/);
    await soda('suspend', 'b', '--reason', 'the disk is needed');
    expect((await soda('get', 'b')).out)
      .to.match(/^suspended: +since \S+: the disk is needed$/m)
      .and.to.match(/^why: +It is suspended, until somebody resumes it: the disk is needed$/m);
    await soda('cancel', 'a');
    expect((await soda('delete', 'a')).out).to.equal('deleted: a\n');
    expect((await soda('get', 'a')).code).to.equal(3);
  });
});
