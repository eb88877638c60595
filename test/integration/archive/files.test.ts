/** The archive on a disk: what is in its files, a disk that fills, and a master that ends between any two steps. */
import { expect } from 'chai';
import { EventEmitter, once } from 'node:events';
import { createWriteStream, mkdirSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { endedTaskText as textOf } from '../../../master/access/routes/views.ts';
import type {
  Archive,
  EndedDay,
  EndedSegment,
  Log,
  Prepared,
  ShownTask,
} from '../../../master/application/ports.ts';
import { NO_SETTINGS } from '../../../master/domain/state/state.ts';
import { Duties } from '../../../master/application/process/duties.ts';
import { retention } from '../../../master/application/process/retention.ts';
import { ArchiveFiles } from '../../../master/infrastructure/archive/archive-files.ts';
import { MemoryStore } from '../../../master/infrastructure/memory/store.ts';
import { Pace } from '../../../master/infrastructure/sql/pace.ts';
import { commit, DAY_MS, failureOf, finish, finished, task } from '../../contract/sample.ts';
import { type DefaultStore, ofDefault, openDefault } from '../../contract/subjects.ts';
import { ManualClock, settled } from '../../helpers/manual-clock.ts';
import { NOW } from '../../helpers/task.ts';

const OLD = NOW - 9 * DAY_MS;
const DAY = new Date(OLD).toISOString().slice(0, 10);
const NAME = `default.normal.${DAY}.ndjson.gz`;
const RETAINED = NOW - 7 * DAY_MS;
/** More than a page. */
const COUNT = 110;
const PARAMS = '{"crf": 18.50,\n  "big": 12345678901234567890}';

const lineOf = (shown: ShownTask | null) => (shown === null ? '' : textOf(shown, 'default'));

describe('the files of the archive', () => {
  let folder: string;
  let directory: string;
  let store: DefaultStore;
  let term: number;
  let opened = 0;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'soda-archive-'));
    directory = join(folder, 'archive');
    await begin();
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  /** Another master, on what the one before has left. */
  async function begin(): Promise<void> {
    if (opened++ > 0) await store?.close().catch(() => undefined);
    const url = `sqlite:${join(folder, 'soda.db')}`;
    store = await openDefault({ url, allowWeakDurability: false, pace });
    ({ term } = await store.takeTerm(`m-${opened}`, NOW));
  }

  /** Each text takes longer than a turn's share. */
  let textCount = 0;
  const pace = new Pace(() => 5 * textCount);

  const archive = (create?: (file: string) => Writable) =>
    new ArchiveFiles({ directory, textOf, ...(create && { create }) });
  const drop = (to: Archive = archive()) => store.dropSegments('normal', RETAINED, 0, to);
  const keep = (from: number, to: number) => {
    const finishes = [];
    for (let seq = from; seq <= to; seq++) {
      const one = finished(task(seq, { params: PARAMS }), { finishedAt: OLD });
      finishes.push(finish(one, null, false));
    }
    return store.commit(commit(term, { finishes }));
  };
  const names = async () => (await readdir(directory)).sort();
  const linesIn = async (name: string) =>
    gunzipSync(await readFile(join(directory, name)))
      .toString()
      .split('\n')
      .slice(0, -1);
  const idsIn = async (name: string) =>
    (await linesIn(name)).map((line) => (JSON.parse(line) as { task_id: string }).task_id);

  it('have each task as the API had it, to the last digit, on a line of its own', async () => {
    await keep(1, COUNT);
    const shown = await store.showTask('t-7', 'all');
    expect(await drop()).to.equal(1);
    expect(await names()).to.deep.equal([NAME]);
    const lines = await linesIn(NAME);
    expect(lines).to.have.length(COUNT);
    expect(lines[6]).to.equal(lineOf(shown).replace('\n', ' '));
    expect(lines[6]).to.contain('"params":{"crf": 18.50,   "big": 12345678901234567890}');
  });

  it('are whole, and each task is in one of them, wherever the master has ended', async () => {
    const steps = ['prepared', 'checked', 'finish', 'finished'] as const;
    const wanted = Array.from({ length: COUNT }, (_, index) => `t-${index + 1}`);
    for (const step of steps) {
      await rm(directory, { recursive: true, force: true });
      await keep(1, COUNT);
      expect((await failureOf(drop(new CutArchive(archive(), step)))).message, step).to.equal(step);
      for (const name of await readdir(directory).catch(() => [])) {
        if (name.endsWith('.gz')) expect(await idsIn(name), step).to.deep.equal(wanted);
      }
      await begin();
      expect(await drop(), step).to.equal(1);
      expect(await names(), step).to.deep.equal([NAME]);
      expect(await idsIn(NAME), step).to.deep.equal(wanted);
      expect(await store.readTask('t-1'), step).to.equal(null);
    }
  });

  it('are written anew where they are lost before they count, with all rows that are left', async () => {
    await keep(1, COUNT);
    const lose = () => rmSync(directory, { recursive: true });
    const losing = new CutArchive(archive(), 'none', lose);
    const { message } = await failureOf(drop(losing));
    expect(message).to.contain('so that none is dropped: ENOENT');
    await begin();
    // As each run begins.
    await archive().check();
    expect(await drop()).to.equal(1);
    expect(await names()).to.deep.equal([NAME]);
    expect(await idsIn(NAME)).to.have.length(COUNT);
    expect(await store.readTask('t-1')).to.equal(null);
    // The directory alone is there again: a disk that is not mounted.
    await keep(1, 2);
    const emptied = new CutArchive(archive(), 'none', () => {
      lose();
      mkdirSync(directory);
    });
    expect(await drop(emptied), 'it stays').to.equal(0);
    expect((await store.readTask('t-2'))?.task.id).to.equal('t-2');
    expect(await drop()).to.equal(1);
    expect(await idsIn(NAME)).to.deep.equal(['t-1', 't-2']);
  });

  it('are whole where the master has ended between two of them, and where a disk is full for one', async () => {
    await keep(1, 2);
    const films = await store.createNamespace({ ...NO_SETTINGS, name: 'films', createdAt: NOW });
    const tasks = store.tasks(films.id);
    const other = await tasks.takeTerm('m-1', NOW);
    const one = finished(task(films.id * 2 ** 40 + 1), { finishedAt: OLD });
    await tasks.commit(commit(other.term, { finishes: [finish(one, null, false)] }));
    const second = `films.normal.${DAY}.ndjson.gz`;
    let fileCount = 0;
    const full = (file: string) => {
      if (++fileCount === 1) return createWriteStream(file, { flags: 'wx' });
      return new Writable({ write: (_chunk, _encoding, done) => done(new Error('ENOSPC')) });
    };
    expect((await failureOf(drop(archive(full)))).message).to.contain('ENOSPC');
    expect(await names(), 'of neither').to.deep.equal([]);
    // Between the two names that are given last.
    expect((await failureOf(drop(new CutArchive(archive(), 'finished')))).message).to.equal(
      'finished',
    );
    await rename(join(directory, second), join(directory, `${second}.ready`));
    await begin();
    expect(await drop()).to.equal(1);
    expect(await names()).to.deep.equal([NAME, second]);
    expect(await idsIn(second)).to.deep.equal([one.id]);
  });

  it('are there for each namespace before its rows go: one that is lost is written anew', async () => {
    await keep(1, 2);
    const films = await store.createNamespace({ ...NO_SETTINGS, name: 'films', createdAt: NOW });
    const tasks = store.tasks(films.id);
    const { term: other } = await tasks.takeTerm('m-1', NOW);
    const one = finished(task(films.id * 2 ** 40 + 1), { finishedAt: OLD });
    await tasks.commit(commit(other, { finishes: [finish(one, null, false)] }));
    const second = `films.normal.${DAY}.ndjson.gz`;
    const losing = new CutArchive(archive(), 'none', () =>
      rmSync(join(directory, `${second}.ready`)),
    );
    expect(await drop(losing), 'it stays').to.equal(0);
    expect((await tasks.readTask(one.id))?.task.id).to.equal(one.id);
    expect(await drop()).to.equal(1);
    expect(await names()).to.deep.equal([NAME, second]);
    expect(await idsIn(NAME)).to.deep.equal(['t-1', 't-2']);
    expect(await idsIn(second)).to.deep.equal([one.id]);
  });

  it('are those of each day that can go, where another cannot', async () => {
    await keep(1, 2);
    const next = OLD + DAY_MS;
    const finishes = [finish(finished(task(3), { finishedAt: next }), null, false)];
    await store.commit(commit(term, { finishes }));
    const broken = (shown: ShownTask, namespace: string) => {
      if (shown.task.id === 't-2') throw new Error('of task t-2');
      return textOf(shown, namespace);
    };
    const dropping = drop(new ArchiveFiles({ directory, textOf: broken }));
    expect((await failureOf(dropping)).message).to.contain('of task t-2');
    const second = `default.normal.${new Date(next).toISOString().slice(0, 10)}.ndjson.gz`;
    expect(await names()).to.deep.equal([second]);
    expect(await store.readTask('t-3')).to.equal(null);
    expect(await drop()).to.equal(1);
    expect(await names()).to.deep.equal([NAME, second]);
    expect(await idsIn(second)).to.deep.equal(['t-3']);
  });

  it('are never written again: rows that come to such a day later have one of their own', async () => {
    await mkdir(directory);
    await writeFile(join(directory, `${NAME.slice(0, -3)}.gz.ready`), 'of a try before');
    await writeFile(join(directory, `default.normal.${DAY}.x.ndjson.gz.part`), 'the same');
    await keep(1, 2);
    expect(await drop()).to.equal(1);
    await keep(3, 3);
    expect(await drop()).to.equal(1);
    const second = `default.normal.${DAY}.2.ndjson.gz`;
    expect(await names()).to.deep.equal([second, NAME]);
    expect(await idsIn(NAME)).to.deep.equal(['t-1', 't-2']);
    expect(await idsIn(second)).to.deep.equal(['t-3']);
  });

  it('are written, and compared, with a turn of the event loop between tasks that take long', async () => {
    await keep(1, COUNT);
    let [inTurn, most] = [0, 0];
    const counted = (shown: ShownTask, namespace: string) => {
      if (inTurn++ === 0) setImmediate(() => void (inTurn = 0));
      most = Math.max(most, inTurn);
      textCount += 1;
      return textOf(shown, namespace);
    };
    expect(await drop(new ArchiveFiles({ directory, textOf: counted }))).to.equal(1);
    expect(textCount).to.equal(2 * COUNT);
    expect(most).to.be.at.most(2);
  });

  it('have their names on the disk before rows go, and the directory its own, whoever is interrupted', async () => {
    await keep(1, 3);
    const flushed: string[] = [];
    let isBroken = false;
    const flush = async (one: string) => {
      if (isBroken) throw new Error('EIO: i/o error, fsync');
      flushed.push(one);
    };
    directory = join(folder, 'deep', 'archive');
    const files = () => new ArchiveFiles({ directory, textOf, flush });
    const breaking = new CutArchive(files(), 'none', () => (isBroken = true));
    expect((await failureOf(drop(breaking))).message).to.contain('EIO: i/o error, fsync');
    expect(flushed).to.deep.equal([join(folder, 'deep'), folder, directory]);
    expect(await names(), 'renamed before').to.deep.equal([NAME]);
    expect((await failureOf(drop(files()))).message).to.contain('EIO: i/o error, fsync');
    isBroken = false;
    flushed.length = 0;
    expect(await drop(files())).to.equal(1);
    expect(flushed).to.deep.equal([directory]);
    expect(await names()).to.deep.equal([NAME]);
  });

  it('are none where the disk is full: nothing is dropped, and what was written goes', async () => {
    await keep(1, COUNT);
    const full = () =>
      new Writable({
        write: (_chunk, _encoding, done) =>
          done(Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })),
      });
    const { message } = await failureOf(drop(archive(full)));
    expect(message).to.contain('ENOSPC: no space left on device; make room');
    expect(await names()).to.deep.equal([]);
    expect(await store.readTask('t-1')).not.to.equal(null);
    expect(await drop()).to.equal(1);
    expect(await idsIn(NAME)).to.have.length(COUNT);
  });

  it('are none where what is read is not what was written', async () => {
    await keep(1, 3);
    const halving = (file: string) => {
      const through = createWriteStream(file);
      return new Writable({
        write: (chunk: Buffer, _encoding, done) => {
          through.write(chunk.subarray(0, chunk.length / 2), done);
        },
        final: (done) => void through.end(done),
      });
    };
    const { message } = await failureOf(drop(archive(halving)));
    expect(message).to.contain('so that none is dropped: invalid stored block lengths');
    expect(await names()).to.deep.equal([]);
    expect(await store.readTask('t-1')).not.to.equal(null);
  });

  it('have none of a day that has a row which cannot be read: it is said which', async () => {
    await keep(1, 3);
    const broken = (shown: ShownTask, namespace: string) => {
      if (shown.task.id === 't-2') throw new Error('of task t-2');
      return textOf(shown, namespace);
    };
    const failure = await failureOf(drop(new ArchiveFiles({ directory, textOf: broken })));
    expect(failure.message).to.contain('of task t-2');
    expect(await names()).to.deep.equal([]);
    expect(await store.readTask('t-1')).not.to.equal(null);
  });
});

/** Ends its master at a step: nothing of what would follow is done. */
class CutArchive implements Archive {
  readonly #inner: Archive;
  readonly #at: string;
  readonly #beforeFinish: () => void;

  constructor(inner: Archive, at: string, beforeFinish: () => void = () => undefined) {
    this.#inner = inner;
    this.#at = at;
    this.#beforeFinish = beforeFinish;
  }

  check(): Promise<void> {
    return this.#inner.check();
  }

  prepare(segment: EndedSegment): Promise<Prepared> {
    return this.#between('prepare', () => this.#inner.prepare(segment), 'prepared');
  }

  isStill(segment: EndedSegment, prepared: Prepared): Promise<boolean> {
    return this.#between('isStill', () => this.#inner.isStill(segment, prepared), 'checked');
  }

  holds(day: EndedDay, namespaces: readonly string[]): Promise<boolean> {
    this.#beforeFinish();
    return this.#inner.holds(day, namespaces);
  }

  finish(day: EndedDay): Promise<readonly string[]> {
    return this.#between('finish', () => this.#inner.finish(day), 'finished');
  }

  async #between<T>(before: string, work: () => Promise<T>, after: string): Promise<T> {
    if (this.#at === before) throw new Error(before);
    const value = await work();
    if (this.#at === after) throw new Error(after);
    return value;
  }
}

describe('the archive as a duty', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'soda-archive-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('says at the start and each hour that it takes nothing, and nothing is dropped until it does', async () => {
    const clock = new ManualClock();
    const memory = new MemoryStore();
    memory.readClock = async () => clock.now();
    const store = ofDefault(memory);
    for (let day = -9; day < 0; day++) await store.prepareSegments(clock.now() + day * DAY_MS);
    const { term } = await store.takeTerm('m-1', clock.now());
    const old = finished(task(1), { finishedAt: clock.now() - 9 * DAY_MS });
    await store.commit(commit(term, { finishes: [finish(old, null, false)] }));
    const directory = join(folder, 'archive');
    await writeFile(directory, 'a file');
    const said = new EventEmitter();
    const say = (message: string) => void said.emit(message);
    const log: Log = { debug: say, info: say, warn: say, error: say };
    const duties = new Duties(clock);
    const days = { short: 2, normal: 7, long: 90 };
    const archive = new ArchiveFiles({ directory, textOf });
    const usage = { usageDays: 400, reportZone: 'UTC' };
    const kept = { auditDays: 0, eventDays: 7, ...usage, archive };
    const upkeep = retention({ store: memory, clock, log, duties, days, ...kept });
    const last = () => duties.views().find(({ name }) => name === 'archive')?.last;
    const warned = once(said, 'ended tasks were not archived: they are kept');
    await upkeep.start();
    await warned;
    expect(last()?.error).to.contain('SODA_ARCHIVE_DIR must be a directory');

    const failed = once(said, 'dropping history past retention failed');
    await clock.pass(5 * 60_000);
    await failed;
    expect(last()?.error).to.contain('none is dropped');
    expect(await store.readTask('t-1')).not.to.equal(null);

    await rm(directory);
    await settled();
    const gone = once(said, 'history past retention was dropped');
    await clock.pass(3_600_000);
    await gone;
    await settled();
    expect(last()).to.include({ error: null, foundCount: 1, doneCount: 1 });
    expect(await store.readTask('t-1')).to.equal(null);
    expect(await readdir(directory)).to.have.length(1);
    await upkeep.stop();
  });
});
