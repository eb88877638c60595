/** What every store must do with what commits have counted. */
import { expect } from 'chai';
import type { Store, TaskStore } from '../../../master/application/ports.ts';
import type { UsageQuery } from '../../../master/application/reports/usage-query.ts';
import type { Change } from '../../../master/domain/changes.ts';
import { fold } from '../../../master/application/engine/fold.ts';
import { NO_SETTINGS } from '../../../master/domain/state/state.ts';
import { USAGE_KEYS_MAX, type UsageCount, usageId } from '../../../master/domain/usage/usage.ts';
import { NOW } from '../../helpers/task.ts';
import { failureOf } from '../sample.ts';
import { describeStores } from '../subjects.ts';

const DAY = '2026-11-22';

const countOf = (change: Partial<UsageCount> = {}): UsageCount => ({
  day: DAY,
  group: 'vidéo \u{1F600}',
  project: null,
  env: 'test',
  user: null,
  type: 'encode',
  figures: { submitted: 1 },
  ...change,
});

const asked: UsageQuery = { day: DAY, by: [], type: null, group: null, within: null };

describeStores('usage', (open) => {
  let store: Store;
  let tasks: TaskStore;
  let term: number;
  let number = 0;

  const commit = (counts: readonly UsageCount[], of = tasks, under = term): Promise<void> => {
    number += 1;
    const row = { term: under, number, counts: new Map(counts.map((one) => [usageId(one), one])) };
    const change: Change = { op: 'insert', table: 'usage', key: [under, number], row };
    return of.commit(fold([change], { term: under, lastSeq: 0 }, NOW));
  };
  const read = async (change: Partial<UsageQuery> = {}, of = tasks) => {
    await of.foldUsage();
    const sums = await of.readUsage({ ...asked, ...change });
    const shown = sums.map(({ values, figures }): [string, object] => [
      values.join('/'),
      Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== 0)),
    ]);
    return Object.fromEntries(shown.sort(([a], [b]) => (a < b ? -1 : 1)));
  };

  beforeEach(async () => {
    store = await open();
    await store.open(NOW);
    tasks = store.tasks(0);
    ({ term } = await tasks.takeTerm('m-1', NOW));
  });

  it('adds up what commits have counted, each once, however often it is asked to', async () => {
    await commit([countOf(), countOf({ type: 'probe', figures: { submitted: 2 } })]);
    await commit([countOf({ figures: { succeeded: 1, run_ms: 40 } })]);
    await Promise.all([store.foldUsage(), tasks.foldUsage(), store.foldUsage()]);
    await commit([countOf({ figures: { succeeded: 1, run_ms: 5_000_000_000 } })]);
    expect(await read({ by: ['type'] })).to.deep.equal({
      encode: { submitted: 1, succeeded: 2, run_ms: 5_000_000_040 },
      probe: { submitted: 2 },
    });
    expect(await read()).to.deep.equal({
      '': { submitted: 3, succeeded: 2, run_ms: 5_000_000_040 },
    });
  });

  it('adds up a day of many keys, each once', async () => {
    const counts = Array.from({ length: 1_203 }, (_, at) =>
      countOf({
        group: `g${at % 3}`,
        user: `${at % 7 === 0 ? 'Ä' : 'u'}${at}`,
        type: `t${at % 2}`,
      }),
    );
    for (let at = 0; at < counts.length; at += 401) await commit(counts.slice(at, at + 401));
    expect(await read()).to.deep.equal({ '': { submitted: 1_203 } });
    const [g0, g1, g2] = ['g0', 'g1', 'g2'].map(() => ({ submitted: 401 }));
    expect(await read({ by: ['group'] })).to.deep.equal({ g0, g1, g2 });
    expect(await read({ by: ['type'], type: 't1' })).to.deep.equal({ t1: { submitted: 601 } });
    expect(await read({ group: 'g1' })).to.deep.equal({ '': { submitted: 401 } });
    expect(Object.keys(await read({ by: ['user'] }))).to.have.length(1_203);
  });

  it('tells apart what it is asked by', async () => {
    await commit([
      countOf({ project: 'a' }),
      countOf({ project: 'b', user: 'ann' }),
      countOf({ group: 'news' }),
    ]);
    expect(await read({ by: ['project', 'group'] })).to.deep.equal({
      '/news': { submitted: 1 },
      'a/vidéo \u{1F600}': { submitted: 1 },
      'b/vidéo \u{1F600}': { submitted: 1 },
    });
    const [first] = await tasks.readUsage({ ...asked, by: ['user', 'env'], group: 'news' });
    expect(first?.values).to.deep.equal([null, 'test']);
    expect(await read({ day: '2026-11-21' })).to.deep.equal({});
  });

  it('tells apart names that differ in blanks at their end', async () => {
    await commit([
      countOf({ group: 'video', project: 'a' }),
      countOf({ group: 'video ', project: 'a ', user: ' ' }),
    ]);
    await commit([countOf({ group: 'video', project: 'a' })]);
    const by = ['group', 'project', 'user'] as const;
    expect(await read({ by })).to.deep.equal({
      'video/a/': { submitted: 2 },
      'video /a / ': { submitted: 1 },
    });
    const within = { groups: ['video'], types: null };
    expect(await read({ within })).to.deep.equal({ '': { submitted: 2 } });
    expect(await read({ group: 'video ' })).to.deep.equal({ '': { submitted: 1 } });
    expect(await store.dropUsage('2026-11-23')).to.equal(2);
    expect(await read()).to.deep.equal({});
  });

  it('leaves out what is not asked for, or may not be seen', async () => {
    await commit([countOf(), countOf({ group: 'news' }), countOf({ type: 'probe' })]);
    expect(await read({ type: 'probe' })).to.deep.equal({ '': { submitted: 1 } });
    expect(await read({ group: 'news', by: ['type'] })).to.deep.equal({ encode: { submitted: 1 } });
    const within = { groups: ['news', 'sport'], types: null };
    expect(await read({ within, by: ['group'] })).to.deep.equal({ news: { submitted: 1 } });
    expect(await read({ within: { groups: null, types: [] } })).to.deep.equal({});
  });

  it('keeps namespaces apart', async () => {
    const { id } = await store.createNamespace({ name: 'b', createdAt: NOW, ...NO_SETTINGS });
    const others = store.tasks(id);
    const begun = await others.takeTerm('m-1', NOW);
    await commit([countOf()]);
    await commit([countOf({ figures: { failed: 1 } })], others, begun.term);
    expect(await read()).to.deep.equal({ '': { submitted: 1 } });
    expect(await read({}, others)).to.deep.equal({ '': { failed: 1 } });
  });

  it('ends with what there was, however long commits go on', async () => {
    for (let at = 0; at < 60; at++) await commit([countOf()]);
    const state = { isOver: false };
    const folded = store.foldUsage().then(() => (state.isOver = true));
    let meanwhileCount = 0;
    while (!state.isOver && meanwhileCount < 500) {
      await commit([countOf()]);
      // As the network does between two of them.
      await new Promise<void>((resolve) => void setImmediate(resolve));
      meanwhileCount += 1;
    }
    await folded;
    expect(meanwhileCount).to.be.below(500);
    expect(await read()).to.deep.equal({ '': { submitted: 60 + meanwhileCount } });
  });

  it('has nothing of a commit that was refused', async () => {
    await tasks.takeTerm('m-1', NOW, term);
    expect(await failureOf(commit([countOf()]))).to.have.property('name', 'TermLost');
    expect(await read()).to.deep.equal({});
  });

  it('tells apart as many of a group as it leaves free for others, and sums up the rest of it', async () => {
    const users = (group: string, from: number, count: number) =>
      Array.from({ length: count }, (_, at) => countOf({ user: `u-${from + at}`, group }));
    for (let from = 0; from < 7_500; from += 2_500) {
      await commit(users('many', from, 2_500));
      await store.foldUsage();
    }
    // Known ones go on; the others of its group are one.
    await commit([...users('many', 0, 1), ...users('many', 8_000, 2)]);
    await commit([...users('news', 0, 150), countOf(), countOf({ day: '2026-11-23' })]);
    await store.foldUsage();
    await commit(users('news', 100, 60));
    expect(await read({ by: ['group', 'type'] })).to.deep.equal({
      'many/(other)': { submitted: 7_500 - USAGE_KEYS_MAX / 2 + 2 },
      'many/encode': { submitted: USAGE_KEYS_MAX / 2 + 1 },
      'news/encode': { submitted: 210 },
      'vidéo \u{1F600}/encode': { submitted: 1 },
    });
    expect(Object.keys(await read({ by: ['user'], group: 'news' }))).to.have.length(160);
    const other = { by: ['group', 'project', 'env', 'user'], type: '(other)' } as const;
    expect(await read(other)).to.have.keys('many///');
    expect(await read({ day: '2026-11-23', by: ['type'] })).to.deep.equal({
      encode: { submitted: 1 },
    });
  });

  it('removes days that are old', async () => {
    await commit([countOf(), countOf({ day: '2026-11-20' }), countOf({ day: '2026-11-21' })]);
    await store.foldUsage();
    expect(await store.dropUsage('2026-11-22')).to.equal(2);
    expect(await store.dropUsage('2026-11-22')).to.equal(0);
    expect(await read()).to.deep.equal({ '': { submitted: 1 } });
    expect(await read({ day: '2026-11-21' })).to.deep.equal({});
  });
});
