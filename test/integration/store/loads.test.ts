/** What the engine asks of a database for many commands, and many lanes, at once: counted, not timed. */
import { expect } from 'chai';
import type { Engine } from '../../../master/application/engine/engine.ts';
import type { Master } from '../../../master/application/master.ts';
import type { CommandOutcome } from '../../../master/domain/effects.ts';
import { ANY_TASK } from '../../../master/domain/model/task-filter.ts';
import type { Policy } from '../../../master/domain/state/policy.ts';
import type { DefaultStore } from '../../contract/subjects.ts';
import { type Counts, describeCountedStores } from './counted-store.ts';
import { createEngineOn } from '../../helpers/engine.ts';
import { hello, newTask } from '../../helpers/task.ts';

const COUNT = 1_000;
const ids = Array.from({ length: COUNT }, (_, index) => `t${index}`);

describeCountedStores('loads', (open) => {
  let store: DefaultStore;
  let counts: Counts;
  let engine: Engine;
  let master: Master;

  beforeEach(async () => {
    ({ store, counts } = await open());
  });
  afterEach(async () => {
    await engine.stop();
  });

  async function begin(policy: Partial<Policy>) {
    const harness = createEngineOn(store, policy);
    ({ engine, master } = harness);
    (await engine.start()).ended.catch(() => undefined);
    return harness;
  }

  it('a thousand commands on tasks that are not in memory are a few statements', async () => {
    await begin({ windowCountMax: 1, laneWindowCount: 0, pageCount: 1 });
    const fields = { requestHash: '', notifyUrl: 'http://a.example/' };
    await master.submit(ids.map((id) => newTask({ ...fields, id })));
    const commands: Record<string, (id: string) => Promise<CommandOutcome>> = {
      change: (id) => master.change(id, { priority: 7 }),
      cancel: (id) => master.cancel(id),
      redeliver: (id) => master.redeliver(id),
      retry: (id) => master.retry(id),
      'cancel again': (id) => master.cancel(id),
    };
    for (const [command, ask] of Object.entries(commands)) {
      expect(engine.state?.tasks.size, command).to.be.at.most(1);
      counts.reset();
      const replies = await Promise.all(ids.map(ask));
      expect(new Set(replies.map(({ kind }) => kind)), command).to.deep.equal(new Set(['done']));
      expect(counts.statementCount, command).to.be.at.most(25);
      expect(counts.commitCount, command).to.be.at.most(5);
    }
    expect(engine.term, 'without a rebuild').to.equal(1);
  });

  it('thousands of held tasks are let go page by page, and each is written once', async () => {
    await begin({});
    const typeSet = { type: 'typeSet', name: 'echo', expect: null } as const;
    const concurrency = { pointer: '/film', max: 1 };
    await master.changeType({ ...typeSet, text: JSON.stringify({ limits: { concurrency } }) });
    const count = 3 * COUNT;
    const held = Array.from({ length: count }, (_, n) => `held ${n}`);
    const params = '{"film":1}';
    await master.submit(held.map((id) => newTask({ id, params, requestHash: '' })));
    expect(engine.state?.gates.size).to.equal(1);
    counts.reset();
    await master.changeType({ ...typeSet, text: '{}' });
    while ((engine.state?.gates.size ?? 0) > 0) {
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
    expect(engine.state?.waitingCount).to.equal(count);
    // A page is a thousand; each costs a read, and a commit of some statements.
    expect(counts.commitCount).to.be.at.most(8);
    expect(counts.statementCount).to.be.at.most(60);
  });

  it('an operation on a thousand tasks that are not in memory is a few statements', async () => {
    const { clock } = await begin({ windowCountMax: 1, laneWindowCount: 0, pageCount: 1 });
    const fields = { requestHash: '', notifyUrl: 'http://a.example/' };
    await master.submit(ids.map((id) => newTask({ ...fields, id })));
    const operations = master.operations();
    const frozen = { seqMax: 1e9, endedBefore: clock.now() + 1, count: COUNT, isExact: true };
    const asked = { ...frozen, reason: null, by: null };
    for (const [index, action] of (['change', 'cancel', 'redeliver', 'retry'] as const).entries()) {
      const change = action === 'change' ? { priority: 7 } : null;
      for (const named of [null, ids]) {
        // What is to be done again a second time, by their ids, was done by the filter.
        if (named !== null && action !== 'change' && action !== 'redeliver') continue;
        counts.reset();
        const workId = `${action} ${index} ${named === null ? 'found' : 'named'}`;
        const filter = named === null ? ANY_TASK : null;
        await operations.begin(workId, { ...asked, action, change, filter, ids: named });
        for (;;) {
          const work = await operations.of(workId);
          if (work?.state === 'done') {
            expect(work.counts, workId).to.include({ total: COUNT, done: COUNT });
            break;
          }
          await new Promise<void>((resolve) => void setImmediate(resolve));
        }
        expect(counts.statementCount, workId).to.be.at.most(20);
        expect(counts.commitCount, workId).to.be.at.most(5);
      }
    }
    expect(engine.term, 'without a rebuild').to.equal(1);
  });

  it('pages of many lanes are read together', async () => {
    await begin({});
    const types = Array.from({ length: 64 }, (_, index) => `type.${index}`);
    await master.submit(types.map((type) => newTask({ id: type, type, requestHash: '' })));
    await engine.stop();
    const { recorder } = await begin({});
    counts.reset();
    for (const type of types) {
      engine.post({ type: 'executorConnected', ...hello({ executorId: type, types: [type] }) });
    }
    while (recorder.sent.length < types.length) {
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
    expect(counts.commitCount).to.be.at.most(2);
  });
});
