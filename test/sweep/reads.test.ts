/** A disk that does not give back what was written: while that is so nothing may be taken for lost. */
import { createClient } from '@soda-scheduler/client';
import { expect } from 'chai';
import { cp, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SystemProcess } from '../helpers/system/process.ts';
import { eventually } from '../helpers/system/wait.ts';
import { liftFault, reading, straceMissing } from './strace.ts';
import { WAITS } from './trial.ts';

const SODA = fileURLToPath(new URL('../../cli/bin/soda.js', import.meta.url));
const COUNT = 40;

describe('a disk that cannot be read', function () {
  this.slow(60_000);
  let folder: string;
  const spawned: SystemProcess[] = [];

  before(async function () {
    const missing = straceMissing();
    if (missing !== null) console.log(`    skipped: ${missing}`);
    if (missing !== null) this.skip();
    folder = await realpath(await mkdtemp(join(tmpdir(), 'soda-reads-')));
    const master = spawn('data');
    const client = createClient({ url: await ready(master), retryCount: 0 });
    for (let count = 0; count < COUNT; count++) {
      await client.submit({ id: `t${count}`, type: 'work' }, { group: 'reads' });
    }
    await master.end('SIGKILL');
  });

  afterEach(async () => {
    await Promise.all(spawned.splice(0).map((master) => master.end('SIGKILL')));
  });

  after(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  function spawn(data: string, under: readonly string[] = []): SystemProcess {
    const env = { SODA_DATA_DIR: join(folder, data), SODA_PORT: '0' };
    const master = new SystemProcess({ name: data, args: [SODA, 'master'], under, env });
    spawned.push(master);
    return master;
  }

  async function ready(master: SystemProcess): Promise<string> {
    const { fields } = await master.said('that it is ready', ({ fields: { event } }) => {
      return event === 'ready';
    });
    return String(fields['url']);
  }

  /** What a master as killed left behind, for one more to begin with. */
  async function copyOf(name: string, file: string): Promise<string> {
    await cp(join(folder, 'data'), join(folder, name), { recursive: true });
    return join(folder, name, file);
  }

  async function expectAll(master: SystemProcess): Promise<void> {
    const client = createClient({ url: await ready(master), retryCount: 0 });
    const found = [];
    for await (const { task_id } of client.list({ limit: 200 })) found.push(task_id);
    expect(found).to.have.length(COUNT);
    expect((await client.get('t7')).state).to.equal('waiting');
  }

  for (const file of ['soda.db', 'soda.db-wal']) {
    it(`at the start keeps the master from beginning with less than there is: ${file}`, async () => {
      const name = `start-${file}`;
      const log = join(folder, `${name}.log`);
      const master = spawn(name, reading(await copyOf(name, file), log, 1));
      await master.said('that it waits', ({ fields }) => fields['msg'] === WAITS, 20_000);
      await liftFault(master);
      await expectAll(master);
      expect(await readFile(log, 'utf8')).to.contain('(INJECTED)');
    });
  }

  it('when the master stops leaves the log of the database as it is', async () => {
    const log = join(folder, 'stop.log');
    const recorded = spawn('recorded', reading(await copyOf('recorded', 'soda.db-wal'), log));
    await ready(recorded);
    await recorded.end('SIGKILL');
    const count = (await readFile(log, 'utf8')).split('pread64(').length - 1;
    expect(count).to.be.greaterThan(10);

    const file = await copyOf('stop', 'soda.db-wal');
    const master = spawn('stop', reading(file, log, count + 1));
    await ready(master);
    await master.end('SIGTERM');
    expect(await readFile(log, 'utf8')).to.contain('(INJECTED)');
    const next = spawn('stop');
    await expectAll(next);
    await eventually('it writes', async () => {
      return (await next.end('SIGTERM')).code === 0;
    });
  });
});
