/** Bookings as people have them: from the command line, with real executors, one of which dies before the window. */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { SystemProcess } from '../../helpers/system/process.ts';
import { System, user } from '../../helpers/system/system.ts';
import { eventually } from '../../helpers/system/wait.ts';

const SODA = fileURLToPath(new URL('../../../cli/bin/soda.js', import.meta.url));
const run = promisify(execFile);

describe('bookings, with real executors', () => {
  let system: System;
  const executors = new Map<string, SystemProcess>();

  before(async () => {
    system = await System.start({ databaseUrl: '' });
    for (const id of ['push-1', 'push-2', 'push-3']) {
      executors.set(id, await system.executor({ id, types: ['push'] }));
    }
    for (const executor of executors.values()) await system.connected(executor);
  });
  after(() => system.stop());
  afterEach(function () {
    if (this.currentTest?.state === 'failed') process.stdout.write(system.report());
  });

  /** @returns what it has printed, and how it has ended. */
  async function soda(...args: string[]) {
    const all = [SODA, 'booking', ...args, '--url', system.url];
    return run(process.execPath, all).then(
      ({ stdout }) => ({ code: 0, stdout: stdout.trim(), stderr: '' }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
        code,
        stdout,
        stderr,
      }),
    );
  }
  const create = (...args: string[]) =>
    soda('create', '--type', 'push', '--group', user.group, ...args);
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

  it('books by the command line, and says what is free in place of what is not', async () => {
    const from = new Date(Date.now() + 86_400_000).toISOString();
    const made = await create('--from', from, '--for', '1h', '--count', '3');
    expect(made, made.stderr).to.include({ code: 0 });
    const refused = await create('--from', from, '--for', '30min', '--count', '2');
    expect(refused.code, refused.stderr).to.equal(4);
    const [, typed = ''] = /^soda: {3}soda booking create (.+)$/m.exec(refused.stderr) ?? [];
    expect(typed, refused.stderr).to.match(
      /^--type push --group tests --from \S+ --to \S+ --count 2$/,
    );
    const again = await soda('create', ...typed.split(' '));
    expect(again, again.stderr).to.include({ code: 0 });
    const { stdout } = await soda('list', '--json');
    const ids = stdout
      .split('\n')
      .map((line) => (JSON.parse(line) as { booking_id: string }).booking_id);
    expect(ids.toSorted()).to.deep.equal([made.stdout, again.stdout].toSorted());
    for (const id of ids) expect(await soda('cancel', id)).to.include({ code: 0 });
    expect((await soda('get', made.stdout)).stdout).to.match(/^state: +canceled$/m);
  });

  it('leaves out one window of a recurring booking', async () => {
    const from = new Date(Date.now() + 86_400_000);
    const made = await create('--from', from.toISOString(), '--for', '1h', '--every', '7d');
    const second = new Date(from.getTime() + 7 * 86_400_000).toISOString();
    const skipped = await soda('skip', made.stdout, second);
    expect(skipped, skipped.stderr).to.include({ code: 0 });
    const booking = await system.client.bookings.get(made.stdout);
    expect(booking.skipped.map((at) => Date.parse(at))).to.deep.equal([Date.parse(second)]);
    await system.client.bookings.cancel(made.stdout);
  });

  it('starts a task on its second, on another executor where the bound one dies before', async () => {
    const from = inSeconds(20);
    const made = await create('--from', from, '--for', '20s', '--lead', '18');
    expect(made, made.stderr).to.include({ code: 0 });
    await system.submit([[{ hold: true }]], { id: 'class', type: 'push', booking: made.stdout });
    const bound = await eventually('an executor is bound', async () => {
      const { executors: ids } = await system.client.bookings.get(made.stdout);
      return ids[0];
    });
    executors.get(bound)?.signal('SIGKILL');
    const { executor, at } = await system.started('class');
    expect(executor).to.not.equal(bound);
    expect(at - Date.parse(from)).to.be.within(0, 2_000);
    await system.client.cancel('class');
    expect((await system.ended('class')).state).to.equal('canceled');
  });
});
