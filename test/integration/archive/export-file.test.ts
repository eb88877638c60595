/** One export at a time writes a file. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { ExportFile } from '../../../cli/history/export-file.ts';
import { eventually } from '../../helpers/system/wait.ts';

/** Long enough to be gone, where that is all there is to go by. */
const silent = (): Date => new Date(Date.now() - 11 * 60_000);

describe('the file of an export', () => {
  let directory: string;
  let name: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'soda-export-'));
    name = path.join(directory, 'all.ndjson');
  });
  afterEach(() => rm(directory, { recursive: true }));

  const open = () =>
    ExportFile.open(name, 'asked', () => ({ query: {}, cursor: null, bytes: 0, count: 0 }));
  const refused = () =>
    open().then(
      () => 'opened',
      (error: Error) => error.message,
    );

  it('is written by one at a time, and gone on with by the next', async () => {
    const tries = await Promise.allSettled([open(), open(), open()]);
    const [file, ...others] = tries.filter((one) => one.status === 'fulfilled');
    expect(others).to.deep.equal([]);
    for (const one of tries) {
      if (one.status === 'rejected') expect(one.reason.message).to.match(/^another export writes/);
    }
    await file?.value.write('one\n', { query: {}, cursor: 'c', count: 1 });
    await file?.value.close();
    const next = await open();
    expect(next.progress.count).to.equal(1);
    expect(await refused()).to.match(/^another export writes/);
    await next.finish();
    expect(await readdir(directory)).to.deep.equal(['all.ndjson']);
    expect(await refused()).to.match(/is there already/);
  });

  it('is free once its process is gone, as far as that can be known', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    await writeFile(`${name}.lock`, JSON.stringify({ pid, host: hostname() }));
    const file = await open();
    await file.close();
    await writeFile(`${name}.lock`, JSON.stringify({ pid, host: 'elsewhere' }));
    expect(await refused()).to.include(`(process ${pid} on elsewhere)`);
    await utimes(`${name}.lock`, silent(), silent());
    await (await open()).close();
    await writeFile(`${name}.lock`, '');
    expect(await refused()).to.include(`delete ${name}.lock`);
  });

  it('is free once its process has ended, though its parent has not asked for that', async function () {
    // Told by Linux only.
    if (process.platform !== 'linux') this.skip();
    const first = await open();
    const held = JSON.parse(await readFile(`${name}.lock`, 'utf8')) as object;
    await first.close();
    // The shell would ask: its process ends once it is one that does not.
    const parent = spawn('sh', ['-c', 'exec 3<&0; cat <&3 & echo $!; exec sleep 60 3<&-']);
    try {
      const pid = Number((await once(parent.stdout, 'data')).toString());
      const nameOfParent = () => readFile(`/proc/${parent.pid}/comm`, 'utf8');
      await eventually('its parent is no shell', async () => (await nameOfParent()) === 'sleep\n');
      parent.stdin.end();
      const isOver = async () => / Z /.test(await readFile(`/proc/${pid}/stat`, 'utf8'));
      await eventually('it has ended', isOver);
      const { startedAt: _, ...same } = held as { readonly startedAt: string };
      await writeFile(`${name}.lock`, JSON.stringify({ ...same, pid }));
      await (await open()).close();
    } finally {
      parent.kill();
    }
  });

  it('is free once its process is gone, and another has its id', async function () {
    // Told by Linux only.
    if (process.platform !== 'linux') this.skip();
    const first = await open();
    const held = JSON.parse(await readFile(`${name}.lock`, 'utf8')) as object;
    await first.close();
    // Of a container that starts again, and of a host that does.
    for (const earlier of [{ startedAt: '1' }, { bootId: 'an-earlier-one' }]) {
      await writeFile(`${name}.lock`, JSON.stringify({ ...held, ...earlier }));
      await (await open()).close();
    }
    await writeFile(`${name}.lock`, JSON.stringify(held));
    expect(await refused()).to.include(`(process ${process.pid} on ${hostname()})`);
  });

  it('is not free to a container of the same name while another writes it', async function () {
    // Told by Linux only.
    if (process.platform !== 'linux') this.skip();
    const first = await open();
    const held = JSON.parse(await readFile(`${name}.lock`, 'utf8')) as object;
    // It says again and again that it writes.
    const long = silent();
    await utimes(`${name}.lock`, long, long);
    const { now } = performance;
    performance.now = () => now.call(performance) + 2_000;
    try {
      await first.write('one\n', { query: {}, cursor: 'c', count: 1 });
    } finally {
      performance.now = now;
    }
    expect((await stat(`${name}.lock`)).mtimeMs).to.be.greaterThan(long.getTime() + 60_000);
    await first.close();
    // Here there is no such process.
    const { pid } = spawnSync(process.execPath, ['--version']);
    await writeFile(`${name}.lock`, JSON.stringify({ ...held, pid, pidSpace: 'pid:[1]' }));
    expect(await refused()).to.match(/^another export writes/);
    await utimes(`${name}.lock`, long, long);
    await (await open()).close();
  });

  it('is left alone by one that stood still until another took it', async () => {
    const first = await open();
    await first.write('one\n', { query: {}, cursor: 'c', count: 1 });
    // As another has them by now.
    const others = { lock: '{"pid":1,"host":"elsewhere"}', resume: '{}', part: 'its own' };
    for (const [end, text] of Object.entries(others)) await writeFile(`${name}.${end}`, text);
    const { now } = performance;
    performance.now = () => now.call(performance) + 2_000;
    const isFailed =
      /^another export writes .* \(process 1 on elsewhere\): this one had stood still/;
    const messageOf = (work: Promise<void>) =>
      work.then(
        () => '',
        (error: Error) => error.message,
      );
    try {
      const write = first.write('two\n', { query: {}, cursor: 'd', count: 2 });
      expect(await messageOf(write)).to.match(isFailed);
    } finally {
      performance.now = now;
    }
    expect(await messageOf(first.finish())).to.match(isFailed);
    await first.close();
    for (const [end, text] of Object.entries(others)) {
      expect(await readFile(`${name}.${end}`, 'utf8'), end).to.equal(text);
    }
  });
});
