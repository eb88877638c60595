/** What every store must do with a day that is archived: give all of it, and drop none of it that may not go. */
import { expect } from 'chai';
import type {
  Archive,
  EndedDay,
  EndedPage,
  EndedSegment,
  Prepared,
} from '../../../master/application/ports.ts';
import { ANY_TASK } from '../../../master/domain/model/task-filter.ts';
import { NO_SETTINGS } from '../../../master/domain/state/state.ts';
import { NOW, notificationOf } from '../../helpers/task.ts';
import { attemptOf, commit, DAY_MS, failureOf, finish, finished, task } from '../sample.ts';
import { type DefaultStore, describeStores } from '../subjects.ts';

const OLD = NOW - 9 * DAY_MS;
const OLD_DAY = new Date(OLD).toISOString().slice(0, 10);
const RETAINED = NOW - 7 * DAY_MS;

/** Keeps what it is given, and does what it is told besides. */
class NotedArchive implements Archive {
  readonly asked: string[] = [];
  pages: EndedPage[] = [];
  meanwhile: () => Promise<void> = async () => undefined;
  isStillSo = true;
  /** While it is compared, and after its last row was read. */
  compared: () => Promise<void> = async () => undefined;

  async check(): Promise<void> {}

  async prepare(segment: EndedSegment): Promise<Prepared> {
    this.asked.push(`prepare ${segment.retention} ${segment.day}`);
    this.pages = await all(segment);
    await this.meanwhile();
    return { count: this.pages.flatMap(({ tasks }) => tasks).length, sha256: '', names: [] };
  }

  async isStill(segment: EndedSegment): Promise<boolean> {
    this.asked.push('isStill');
    const isSame = same(await all(segment), this.pages);
    await this.compared();
    return this.isStillSo && isSame;
  }

  /** Whether what was put in is there. */
  hasIt = true;
  async holds(): Promise<boolean> {
    return this.hasIt;
  }

  async finish({ retention, day }: EndedDay): Promise<readonly string[]> {
    this.asked.push(`finish ${retention} ${day}`);
    return [];
  }
}

/** However many it gives at a time. */
async function all(segment: EndedSegment): Promise<EndedPage[]> {
  const pages: EndedPage[] = [];
  for await (const { namespace, tasks } of segment.pages()) {
    const last = pages.at(-1);
    if (last?.namespace === namespace)
      pages.splice(-1, 1, { namespace, tasks: [...last.tasks, ...tasks] });
    else pages.push({ namespace, tasks });
  }
  return pages;
}

const same = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

describeStores('a day that is archived', (open) => {
  let store: DefaultStore;
  let term: number;
  let archive: NotedArchive;

  beforeEach(async () => {
    store = await open();
    ({ term } = await store.takeTerm('m-1', NOW));
    archive = new NotedArchive();
  });

  const drop = () => store.dropSegments('normal', RETAINED, 0, archive);
  const ended = (seq: number, change = {}) =>
    finished(task(seq, { notifyUrl: 'https://example.com/' }), { finishedAt: OLD, ...change });
  const keep = (...seqs: readonly number[]) =>
    store.commit(
      commit(term, {
        finishes: seqs.map((seq) => {
          const one = ended(seq);
          return finish(one, notificationOf(one, { state: 'delivered', tries: 1 }), false);
        }),
        attempts: seqs.filter((seq) => seq % 2 === 0).map((seq) => attemptOf(ended(seq))),
      }),
    );
  const isThere = async (id: string) => (await store.readTask(id)) !== null;

  it('is given whole, one namespace after another, before it goes', async () => {
    await keep(3, 1, 2);
    const films = await store.createNamespace({ ...NO_SETTINGS, name: 'films', createdAt: NOW });
    const tasks = store.tasks(films.id);
    const other = await tasks.takeTerm('m-1', NOW);
    const one = ended(films.id * 2 ** 40 + 1);
    await tasks.commit(commit(other.term, { finishes: [finish(one, null, false)] }));
    const ids = ['t-1', 't-2', 't-3'];
    const shown = await Promise.all(ids.map((id) => store.showTask(id, 'all')));
    const ofFilms = await tasks.showTask(one.id, 'all');
    expect(await drop()).to.equal(1);
    const asked = [`prepare normal ${OLD_DAY}`, 'isStill', `finish normal ${OLD_DAY}`];
    expect(archive.asked).to.deep.equal(asked);
    expect(archive.pages).to.deep.equal([
      { namespace: 'default', tasks: shown },
      { namespace: 'films', tasks: [ofFilms] },
    ]);
    expect(shown[1]?.attempts).to.have.length(1);
    expect(await isThere('t-1')).to.equal(false);
    expect(await drop(), 'it has gone').to.equal(0);
  });

  it('stays, with all that is known of it, where the archive does not take it', async () => {
    await keep(1, 2);
    archive.meanwhile = () => Promise.reject(new Error('no space left'));
    expect((await failureOf(drop())).message).to.equal('no space left');
    archive.meanwhile = async () => undefined;
    archive.isStillSo = false;
    expect((await failureOf(drop())).message).to.match(/has changed while it was archived$/);
    expect((await store.showTask('t-2', 'all'))?.attempts).to.have.length(1);
    expect([...(await store.findIds(['t-1', 't-2'])).keys()].sort()).to.deep.equal(['t-1', 't-2']);
    archive.isStillSo = true;
    expect(await drop()).to.equal(1);
    expect(await isThere('t-2')).to.equal(false);
  });

  it('stays where one of its tasks has gone meanwhile', async () => {
    await keep(1, 2);
    const key = [2, OLD, 'normal'] as const;
    const gone = { op: 'remove', table: 'history', key, expect: 'any' } as const;
    archive.meanwhile = () => store.commit(commit(term, { writes: [gone] }));
    expect((await failureOf(drop())).message).to.match(/has changed/);
    archive.meanwhile = async () => undefined;
    expect(await drop()).to.equal(1);
    expect(archive.pages.flatMap((page) => page.tasks.map((one) => one.task.id))).to.deep.equal([
      't-1',
    ]);
  });

  it('is known as ever while it is compared, and stays where it is written to meanwhile', async () => {
    await keep(1, 2);
    const again = notificationOf(ended(2), { state: 'gave_up', tries: 9 });
    archive.compared = async () => {
      expect(await isThere('t-1'), 'while it is compared').to.equal(true);
      expect([...(await store.findIds(['t-2'])).keys()]).to.deep.equal(['t-2']);
      await store.commit(commit(term, { notifications: [again] }));
    };
    expect((await failureOf(drop())).message).to.match(/has changed while it was archived$/);
    expect((await store.showTask('t-2', 'all'))?.notification?.tries).to.equal(9);
    archive.compared = async () => undefined;
    expect(await drop()).to.equal(1);
    expect(archive.pages[0]?.tasks[1]?.notification?.tries).to.equal(9);
  });

  it('keeps none of the others where it cannot be archived', async () => {
    await keep(1);
    const later = ended(2, { finishedAt: OLD + DAY_MS });
    await store.commit(commit(term, { finishes: [finish(later, null, false)] }));
    let failures = 1;
    archive.meanwhile = async () => {
      if (failures-- > 0) throw new Error('a row cannot be read');
    };
    expect((await failureOf(drop())).message).to.equal('a row cannot be read');
    expect([await isThere('t-1'), await isThere('t-2')]).to.deep.equal([true, false]);
    expect(await drop()).to.equal(1);
  });

  it('stays while one of its callbacks is tried, with an archive or without', async () => {
    await keep(1, 2);
    const again = notificationOf(ended(2), { tries: 1 });
    archive.meanwhile = () => store.commit(commit(term, { notifications: [again] }));
    expect(await drop(), 'it was sent again meanwhile').to.equal(0);
    expect(await drop()).to.equal(0);
    expect(await store.dropSegments('normal', RETAINED)).to.equal(0);
    expect((await store.loadNotifications(null, 9)).map(({ taskId }) => taskId)).to.deep.equal([
      't-2',
    ]);
    const over = notificationOf(ended(2), { state: 'gave_up', tries: 9 });
    await store.commit(commit(term, { notifications: [over] }));
    archive.meanwhile = async () => undefined;
    expect(await drop()).to.equal(1);
  });

  it('is read page by page, by filter, with attempts', async () => {
    await keep(1, 2, 3);
    const later = finished(task(4, { type: 'other' }), { state: 'failed', finishedAt: NOW });
    await store.commit(
      commit(term, {
        finishes: [finish(later, null, false)],
        inserts: [task(5)],
        attempts: [attemptOf(later)],
      }),
    );
    const over = ['succeeded', 'failed', 'canceled', 'expired'] as const;
    const all = { filter: ANY_TASK, states: over, seqMax: 1e9, endedBefore: NOW + DAY_MS };
    const read = async (change: object, limit: number, bytesMax = 1e6) => {
      const found: string[] = [];
      for (let cursor: string | null = null; ; ) {
        const search = { ...all, isBackwards: false, ...change };
        const page = await store.readHistory(search, cursor, limit, bytesMax);
        expect(page.tasks.length).to.be.at.most(limit);
        for (const shown of page.tasks) {
          expect(shown).to.deep.equal(await store.showTask(shown.task.id, 'all'));
          found.push(shown.task.id);
        }
        if (page.cursor === null) return found.join(' ');
        ({ cursor } = page);
      }
    };
    expect(await read({}, 2)).to.equal('t-1 t-2 t-3 t-4');
    expect(await read({}, 9, 1)).to.equal('t-1 t-2 t-3 t-4');
    expect(await read({ states: ['failed'] }, 9)).to.equal('t-4');
    expect(await read({ filter: { ...ANY_TASK, type: 'other' } }, 9)).to.equal('t-4');
    expect(await read({ filter: { ...ANY_TASK, from: NOW } }, 9)).to.equal('t-4');
    expect(await read({ endedBefore: NOW }, 9)).to.equal('t-1 t-2 t-3');
  });
});
