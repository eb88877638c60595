/** The file of the embedded database is taken away from a master that runs. */
import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { loadConfig, type RunningMaster, runMaster, StoreUnusable } from '@soda-scheduler/master';
import { expect } from 'chai';

describe('a master whose database file is lost', () => {
  let folder: string;
  let master: RunningMaster;
  const path = (name: string) => join(folder, name);

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'soda-lost-'));
    master = await start();
    expect(await submit('before')).to.equal(202);
  });

  afterEach(async () => {
    await master.stop();
    rmSync(folder, { recursive: true });
  });

  function start(): Promise<RunningMaster> {
    const outcome = loadConfig({ env: { SODA_PORT: '0', SODA_DATA_DIR: folder }, flags: {} });
    if (!('config' in outcome)) throw new Error(outcome.problems.join('\n'));
    return runMaster(outcome.config, { logTo: new PassThrough().resume() });
  }

  async function submit(id: string): Promise<number> {
    const answer = await fetch(`${master.url}/scheduler/v2/task/submit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ task: { id, type: 'nobody' }, user: { group: 'tests' } }),
    });
    return answer.status;
  }

  const endOf = (): Promise<unknown> => master.stopped.catch((error: unknown) => error);

  it('accepts nothing more, and ends: it was deleted', async () => {
    rmSync(path('soda.db'));
    expect(await submit('late')).to.equal(503);
    const end = await endOf();
    expect(end).to.be.instanceOf(StoreUnusable);
    expect((end as Error).message).to.match(/soda\.db is gone.*backup/);
    expect(existsSync(path('soda.db')), 'no empty one is put in its place').to.equal(false);
  });

  it('accepts nothing more, and ends: another was put in its place', async () => {
    copyFileSync(path('soda.db'), path('other'));
    renameSync(path('other'), path('soda.db'));
    writeFileSync(path('other-wal'), 'of the other');
    renameSync(path('other-wal'), path('soda.db-wal'));
    expect(await submit('late')).to.equal(503);
    expect(String(await endOf())).to.match(/soda\.db is another file/);
    expect(existsSync(path('soda.db-wal')), 'it is left alone').to.equal(true);
  });

  it('ends by itself, with nothing to write', async () => {
    rmSync(path('soda.db'));
    expect(await endOf()).to.be.instanceOf(StoreUnusable);
  });

  it('ends by itself where the log of the database was deleted', async () => {
    rmSync(path('soda.db-wal'));
    expect(String(await endOf())).to.match(/soda\.db-wal is gone/);
  });
});
