/** `soda history`: exports that go on, and searches without a master; and the pages that exports are read by. */
import { expect } from 'chai';
import { open, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ExportFile } from '../../../cli/history/export-file.ts';
import { commandSuite } from '../../helpers/soda/command-suite.ts';

describe('soda history', () => {
  const { folder, run, url } = commandSuite();
  const api = () => `${url()}/scheduler/v2`;

  /** They have ended. */
  async function cancel(...tasks: readonly { id: string; params?: string; group?: string }[]) {
    for (const { id, params = '{}', group = 'video' } of tasks) {
      const headers = { 'content-type': 'application/json' };
      const body = `{"task":{"id":"${id}","type":"encode","params":${params}},"user":{"group":"${group}"}}`;
      await fetch(`${api()}/task/submit`, { method: 'POST', headers, body });
      await fetch(`${api()}/task/${id}/cancel`, { method: 'POST' });
    }
  }

  it('export writes each ended task as the API has it, and search finds it there', async () => {
    await cancel({ id: 'a-1', params: '{"crf": 18.50,\n"n":1.0}' }, { id: 'a-2', group: 'news' });
    const { code, out } = await run(['history', 'export', '--out', 'all.ndjson']);
    expect([code, out]).to.deep.equal([0, '2 tasks in all.ndjson\n']);
    const file = join(folder(), 'all.ndjson');
    const text = await (await fetch(`${api()}/task/a-1`)).text();
    const lines = (await readFile(file, 'utf8')).split('\n');
    expect(lines[0]).to.equal(text.trim().replace('\n', ' '));
    expect(lines).to.have.length(3);
    expect((await readdir(folder())).filter((name) => name.startsWith('all'))).to.deep.equal([
      'all.ndjson',
    ]);

    const again = await run(['history', 'export', '--out', 'all.ndjson']);
    expect(again.code).to.equal(2);
    expect(again.err).to.contain('is there already');
    const piped = await run(['history', 'export', '--group', 'news', '--state', 'canceled']);
    expect(piped.out).to.equal(`${lines[1]}\n`);
    const none = await run(['history', 'export', '--state', 'failed']);
    expect([none.code, none.out]).to.deep.equal([0, '']);

    const found = await run(['history', 'search', 'all.ndjson', '--text', '18.50']);
    expect(found.out).to.match(/^a-1\tcanceled\tencode\tvideo\t\S+Z\t.*\n$/);
  });

  it('export begins with what an interrupted one has left, and nothing is there twice', async () => {
    await cancel({ id: 'b-1' }, { id: 'b-2' }, { id: 'b-3' });
    const name = join(folder(), 'some.ndjson');
    const page = await (await fetch(`${api()}/history?limit=1`)).json();
    const { tasks, next_cursor: cursor } = page as { tasks: object[]; next_cursor: string };
    const asked = JSON.stringify({ url: url(), type: 'encode' });
    const to = new Date(Date.now() + 60_000).toISOString();
    const begin = () => ({ query: { type: 'encode', to }, cursor: null, bytes: 0, count: 0 });
    const cut = await ExportFile.open(name, asked, begin);
    await cut.write(`${JSON.stringify(tasks[0])}\n`, {
      query: { type: 'encode', to },
      cursor,
      count: 1,
    });
    await cut.close();
    // What was written of the next page before it was cut off.
    await writeFile(`${name}.part`, '{"task_id":"b-2","ha', { flag: 'a' });

    const other = await run(['history', 'export', '--out', 'some.ndjson']);
    expect(other.code).to.equal(2);
    expect(other.err).to.contain('is of another export');
    const { code, out } = await run([
      'history',
      'export',
      '--type',
      'encode',
      '--out',
      'some.ndjson',
    ]);
    expect([code, out]).to.deep.equal([0, '3 tasks in some.ndjson\n']);
    const lines = (await readFile(name, 'utf8')).trim().split('\n');
    const ids = lines.map((line) => (JSON.parse(line) as { task_id: string }).task_id);
    expect(ids).to.deep.equal(['b-1', 'b-2', 'b-3']);
  });

  it('export notes how far it is once that is on disk, and empties nothing that it cannot go on with', async () => {
    const name = join(folder(), 'cut.ndjson');
    const begin = () => ({ query: {}, cursor: null, bytes: 0, count: 0 });
    const file = await ExportFile.open(name, '{}', begin);
    const noted = async () => JSON.parse(await readFile(`${name}.resume`, 'utf8')).bytes as number;
    const probe = await open(`${name}.part`);
    const handles = Object.getPrototypeOf(probe) as typeof probe;
    const { datasync } = handles;
    const synced: number[] = [];
    handles.datasync = async function (this: typeof probe) {
      synced.push((await this.stat()).size, await noted());
      return datasync.call(this);
    };
    try {
      await file.write('{"n":1}\n', { query: {}, cursor: 'c', count: 1 });
      await file.close();
    } finally {
      handles.datasync = datasync;
      await probe.close();
    }
    expect([synced, await noted()]).to.deep.equal([[8, 0], 8]);

    for (const left of ['', '\0'.repeat(40), 'null', '{"bytes":9,"asked":"{}"}']) {
      await writeFile(`${name}.resume`, left);
      const refused = await ExportFile.open(name, '{}', begin).catch((error: Error) => error);
      expect(refused).to.be.an.instanceOf(Error).with.property('message').that.includes('delete');
      expect(await readFile(`${name}.part`, 'utf8')).to.equal('{"n":1}\n');
    }
  });

  it('search goes through files by day, tells of one that is broken, and finds by each filter', async () => {
    const line = (id: string, day: number, more: object = {}) =>
      JSON.stringify({
        task_id: id,
        type: 'encode',
        state: 'failed',
        namespace: 'films',
        user: { group: 'video \u{1F600}' },
        finished_at: `2026-11-0${day}T12:00:00.000Z`,
        error: { message: `no moov atom in ${id}` },
        ...more,
      });
    const at = (name: string) => join(folder(), name);
    const zip = (...lines: string[]) => gzipSync(`${lines.join('\n')}\n`);
    const other = {
      type: 'pay',
      state: 'succeeded',
      namespace: 'cash',
      user: { group: 'g' },
      error: null,
    };
    await writeFile(at('films.normal.2026-11-02.ndjson.gz'), zip(line('c-3', 2)));
    await writeFile(at('films.normal.2026-11-01.ndjson.gz'), zip(line('c-1', 1), line('c-2', 1)));
    await writeFile(at('cash.short.2026-11-03.2.ndjson.gz'), zip(line('d-1', 3, other)));
    await writeFile(at('films.normal.2026-11-04.ndjson.gz.part'), 'being written');
    const ids = async (...options: string[]) => {
      const { out } = await run(['history', 'search', '.', '--json', ...options]);
      const lines = out.split('\n').slice(0, -1);
      return lines.map((text) => (JSON.parse(text) as { task_id: string }).task_id).join(' ');
    };
    expect(await ids()).to.equal('c-1 c-2 c-3 d-1');
    expect(await ids('--id', 'c-2')).to.equal('c-2');
    expect(await ids('--type', 'pay')).to.equal('d-1');
    expect(await ids('--state', 'failed', '--limit', '2')).to.equal('c-1 c-2');
    expect(await ids('--group', 'video \u{1F600}')).to.equal('c-1 c-2 c-3');
    expect(await ids('--namespace', 'cash')).to.equal('d-1');
    expect(await ids('--text', 'atom in c-3')).to.equal('c-3');
    expect(await ids('--from', '2026-11-02T12:00:00Z')).to.equal('c-3 d-1');
    expect(await ids('--from', '2026-11-01T12:00:00Z', '--to', '2026-11-02T12:00:00Z')).to.equal(
      'c-1 c-2',
    );
    await truncate(at('films.normal.2026-11-01.ndjson.gz'), 60);
    const broken = await run(['history', 'search', '.', '--state', 'failed']);
    expect(broken.code).to.equal(1);
    expect(broken.out).to.match(/^c-3\tfailed\tencode\tvideo .*\tno moov atom in c-3\n$/);
    expect(broken.err).to.match(
      /2026-11-01\.ndjson\.gz, after \d tasks: unexpected end of file\n$/,
    );
    const missing = await run(['history', 'search', 'nowhere']);
    expect(missing.code).to.equal(2);
  });
});
