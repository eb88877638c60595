/** What a process says of those before it under the same executor id, on the same host. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const MODULE = new URL('../../../executor-sdk/dist/session/incarnation-record.js', import.meta.url);

describe('the record of incarnations', function () {
  let folder = '';
  const living: (() => void)[] = [];

  before(function () {
    // Elsewhere there is no telling, and nothing is claimed.
    if (process.platform !== 'linux') this.skip();
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'soda-record-'));
  });
  afterEach(() => {
    for (const end of living.splice(0)) end();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A process that begins as `incarnation` of executor `e1`, and lives until it is ended. */
  async function begin(
    incarnation: string,
    { isLastingId = true, fences = false, directory = folder } = {},
  ) {
    const settings = { executorId: 'e1', url: 'ws://master', incarnation, isLastingId };
    const script = `
      import { IncarnationRecord } from ${JSON.stringify(fileURLToPath(MODULE))};
      const record = IncarnationRecord.begin(${JSON.stringify(settings)});
      const { bootId, died, fenced } = record;
      if (${fences}) record.willEnd({ task_id: 't1', attempt: 3 });
      console.log(JSON.stringify({ bootId, died, fenced }));
      process.stdin.setEncoding("utf8").on('data', (said) => { record[said](); console.log('{}'); });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, XDG_RUNTIME_DIR: directory },
    });
    living.push(() => child.kill('SIGKILL'));
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    return {
      said: JSON.parse(said.toString()) as { bootId: string; died: string[]; fenced: unknown[] },
      async kill() {
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      },
      async call(method: 'onTold' | 'left') {
        child.stdin.write(method);
        await once(child.stdout, 'data');
      },
    };
  }

  it('names those that are gone, until the master has heard of them', async () => {
    const one = await begin('one');
    expect(one.said).to.deep.include({ died: [], fenced: [] });
    expect(one.said.bootId).to.match(/^[0-9a-f-]{36}\/\d+$/);
    await one.kill();
    const two = await begin('two');
    expect(two.said.died).to.deep.equal(['one']);
    await two.kill();
    const three = await begin('three');
    expect(three.said.died).to.deep.equal(['one', 'two']);
    await three.call('onTold');
    await three.kill();
    expect((await begin('four')).said.died).to.deep.equal(['three']);
  });

  it('names none that lives, nor one whose id was made up', async () => {
    await begin('one');
    expect((await begin('two')).said.died).to.deep.equal([]);
    const passing = await begin('three', { isLastingId: false });
    await passing.kill();
    expect((await begin('four')).said.died).to.deep.equal([]);
  });

  it('forgets who has said goodbye, and leaves nothing behind', async () => {
    const one = await begin('one');
    await one.call('left');
    await one.kill();
    const [name = ''] = readdirSync(folder);
    expect(readdirSync(join(folder, name))).to.deep.equal([]);
    expect((await begin('two')).said.died).to.deep.equal([]);
  });

  it('keeps what a process ended together with itself', async () => {
    const one = await begin('one', { fences: true });
    await one.kill();
    expect((await begin('two')).said).to.deep.include({
      died: ['one'],
      fenced: [{ task_id: 't1', attempt: 3 }],
    });
  });

  it('goes without where no directory can be made', async () => {
    for (const directory of ['/proc', '/proc/soda', join(folder, 'none')]) {
      const one = await begin('one', { directory });
      expect(one.said, directory).to.deep.include({ died: [], fenced: [] });
      await one.kill();
    }
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('is for its user alone; where others may write nothing is believed', async () => {
    const one = await begin('one');
    await one.kill();
    const [name = ''] = readdirSync(folder);
    const [file = ''] = readdirSync(join(folder, name));
    expect(statSync(join(folder, name)).mode & 0o777).to.equal(0o700);
    expect(statSync(join(folder, name, file)).mode & 0o777).to.equal(0o600);
    chmodSync(join(folder, name), 0o777);
    expect((await begin('two')).said.died).to.deep.equal([]);
  });
});
