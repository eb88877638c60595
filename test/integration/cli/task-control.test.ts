/** `soda task` commands that steer one task, or tell why it waits, against a whole master. */
import { expect } from 'chai';
import { commandSuite } from '../../helpers/soda/command-suite.ts';

describe('soda task steers one task', () => {
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

  it('puts what waits first and last of its type, in the order in which it is named', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await soda('submit', '--id', id, '--type', 'encode', '--group', id < 'c' ? 'news' : 'sport');
    }
    const order = async () => {
      const { out } = await soda('list', '--sort', 'order', '--json');
      return (JSON.parse(`[${out.trim().split('\n').join()}]`) as { task_id: string }[])
        .map(({ task_id }) => task_id)
        .join('');
    };
    const first = await soda('first', 'e', 'd', 'none');
    expect(first.out.split('\n').sort().join('\n').trim()).to.equal(
      'first of its type: d\nfirst of its type: e',
    );
    expect([first.code, first.err]).to.deep.equal([3, 'soda: none: no such task\n']);
    expect((await soda('last', 'b', 'a')).code).to.equal(0);
    expect(await order()).to.equal('edcfba');
    expect((await soda('get', 'e')).out).to.match(/^place: +put first of its type$/m);
    expect((await soda('get', 'c')).out).not.to.match(/^place:/m);
    expect((await run(['bulk', 'first', 'a', 'c', '--yes'])).code).to.equal(0);
    expect((await run(['bulk', 'last', '--group', 'sport', '--yes'])).code).to.equal(0);
    expect(await order()).to.equal('abcdef');
    await soda('cancel', 'c');
    expect((await soda('first', 'c')).err).to.match(/canceled: only a waiting task/);
  });
});

describe('soda task why', () => {
  const { run } = commandSuite();
  const submit = (id: string, ...more: string[]) =>
    run(['task', 'submit', '--id', id, '--type', 'encode', '--group', 'news', ...more]);

  it('says what keeps it, names the command that ends that, and what is left then', async () => {
    await submit('a');
    await run(['type', 'pause', 'encode', '--reason', 'the disk is full']);
    const paused = await run(['task', 'why', 'a']);
    expect(paused.code).to.equal(0);
    expect(paused.out).to.equal(
      [
        'task:    a',
        'state:   waiting',
        'reason:  paused',
        'why:     Nothing of type encode is started until somebody ends it: the disk is full',
        'ahead:   0',
        'change:  Resume type encode.',
        'command: soda type resume encode',
        'then:    No executor of type encode is connected.',
        '',
      ].join('\n'),
    );
    const [, command = ''] = /command: +soda (.*)/.exec(paused.out) ?? [];
    expect((await run(command.split(' '))).out).to.equal('resumed: encode\n');
    const json = JSON.parse((await run(['task', 'why', 'a', '--json'])).out) as object;
    expect(json).to.deep.include({
      task_id: 'a',
      state: 'waiting',
      reason: 'no_executor',
      ahead: 0,
      change: {
        action: 'start_executor',
        target: 'type/encode',
        value: { count: 1, type: 'encode', labels: [], executor_id: null },
        message: 'Start an executor of type encode.',
      },
    });
  });

  it('proposes an override with all that there is in it already', async () => {
    const held = ['limits.max_waiting=9', 'limits.rate=null', 'route.rule=random'];
    const keyed = 'limits.concurrency={"pointer":"/in","max":1}';
    const until = ['--until', '2099-11-25T10:20:30.000Z'];
    await run(['type', 'override', 'encode', ...held, keyed, '--reason', 'one each', ...until]);
    for (const id of ['a', 'b']) await submit(id, '--params', '{"in":1}');
    const { out } = await run(['task', 'why', 'b']);
    const [, command = ''] = /command: +soda (.*)/.exec(out) ?? [];
    const words = (command.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
    expect(await run(words), command).to.include({ code: 0 });
    const { overrides } = JSON.parse((await run(['type', 'get', 'encode', '--json'])).out) as {
      overrides: object[];
    };
    expect(overrides[0]).to.deep.include({
      limits: { max_waiting: 9, rate: null, concurrency: { pointer: '/in', max: 2 } },
      route: { rule: 'random' },
      until: until[1],
    });
  });

  it('tells of one that has ended, and refuses one that is not there', async () => {
    expect((await run(['task', 'why', 'nobody'])).code).to.equal(3);
    await submit('b');
    await run(['task', 'cancel', 'b']);
    expect((await run(['task', 'why', 'b'])).out).to.match(
      /^why: +It was canceled \d s ago, never started\.$/m,
    );
  });
});
