/** What people write: it comes back as it was, and goes nowhere else. */
import { expect } from 'chai';
import { CommitConflict } from '../../master/application/ports.ts';
import type { Task } from '../../master/domain/model/task.ts';
import { NOW } from '../helpers/task.ts';
import { commit, failureOf, next, task } from './sample.ts';
import { type DefaultStore, describeStores } from './subjects.ts';

describeStores('text in a store', (open) => {
  let store: DefaultStore;
  let term: number;

  beforeEach(async () => {
    store = await open();
    ({ term } = await store.takeTerm('m-1', NOW));
  });

  const insert = (...inserts: Task[]): Promise<void> => store.commit(commit(term, { inserts }));
  const stored = async (id: string): Promise<Task | undefined> => (await store.readTask(id))?.task;

  it('comes back with whatever text, where several are updated at once', async () => {
    // The last is half a pair, which no database can hold.
    const whole = [`'\\';--?`, '\u0000\u001a\n', ' \u{1F600} '].map((text) => JSON.stringify(text));
    const odd = [...whole, '"\ud83d"'];
    const tasks = odd.map((_, at) => task(at + 1));
    await insert(...tasks);
    const updates = tasks.map((one, at) => next(one, { progressState: odd[at] ?? null }));
    await store.commit(commit(term, { updates }));
    const texts = await Promise.all(tasks.map(async ({ id }) => (await stored(id))?.progressState));
    const wellFormed = (text = '') => Buffer.from(text).toString();
    expect(texts.map((text) => wellFormed(text ?? ''))).to.deep.equal(odd.map(wellFormed));
  });

  it('says which table a conflict is about, and nothing of its rows', async () => {
    await insert(task(1), task(2));
    const updates = [1, 2].map((seq) => {
      const progressState = `"secret FROM customer ${seq}"`;
      return next(task(seq), { progressState, version: 7 + seq });
    });
    const failure = await failureOf(store.commit(commit(term, { updates })));
    expect(failure).to.be.instanceOf(CommitConflict);
    expect(failure.message)
      .to.match(/\btask\b/)
      .and.not.include('customer');
  });
});
