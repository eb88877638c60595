/** Fair shares: the groups of a type take turns by their weights, and each group keeps its own order. */
import { expect } from 'chai';
import { array, assert, constantFrom, integer, nat, property, record, subarray } from 'fast-check';
import type { NewTask } from '../../../master/domain/events.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import { comesFirst } from '../../../master/domain/queue/agenda.ts';
import { HOUR, offers, Scheduler, SECOND, sent } from '../../helpers/domain.ts';
import { noRows } from '../../helpers/task.ts';

const TYPE = 'echo';

function fair(weights: Record<string, number> = {}, policy = {}): Scheduler {
  const scheduler = new Scheduler(policy);
  share(scheduler, weights);
  return scheduler;
}

function share(scheduler: Scheduler, weights: Record<string, number> = {}): void {
  define(scheduler, { fair_by: 'group', group_weights: weights });
}

function define(scheduler: Scheduler, definition: object, name = TYPE): void {
  const text = JSON.stringify(definition);
  const { reply } = scheduler.command({ type: 'typeSet', name, text, expect: null });
  expect(reply).to.include({ kind: 'done' });
}

let taskCount = 0;

/** So many tasks of a group, by one submit; a task is named after its group. */
function submit(scheduler: Scheduler, group: string, count: number, of: Partial<NewTask> = {}) {
  const user = { group, project: null, env: null, user: null };
  const tasks = Array.from({ length: count }, () => {
    return { id: `${group}-${++taskCount}`, user, ...of };
  });
  return scheduler.submit(...tasks);
}

/** An executor runs so many of what waits, or all of it; their ids in that order. */
function idsOf(scheduler: Scheduler, count = Number.POSITIVE_INFINITY, id = 'x'): string[] {
  const order: string[] = [];
  if (!scheduler.state.executors.has(id)) scheduler.connect(id);
  while (order.length < count) {
    const { occupation } = scheduler.executor(id);
    if (occupation === null) break;
    order.push(occupation.taskId);
    if (!occupation.accepted) scheduler.accept(id);
    scheduler.end(id);
  }
  return order;
}

/** The same, by their groups. */
function runSome(scheduler: Scheduler, count?: number, id?: string): string[] {
  return idsOf(scheduler, count, id).map((of) => of.replace(/-.*/, ''));
}

const countOf = (order: readonly string[], group: string) =>
  order.filter((of) => of === group).length;

describe('groups of a type with fair_by', () => {
  it('take turns, however many tasks one of them has and since when', () => {
    const scheduler = fair();
    submit(scheduler, 'many', 200);
    scheduler.now += HOUR;
    submit(scheduler, 'few', 10);
    const order = runSome(scheduler, 25);
    expect(order.slice(0, 20).join(' ')).to.equal('many few '.repeat(10).trim());
    expect(countOf(order, 'few')).to.equal(10);
  });

  it('come by their turn one task after it is due, whoever was alone before', () => {
    const scheduler = fair();
    submit(scheduler, 'many', 200);
    runSome(scheduler, 100);
    scheduler.now += HOUR;
    submit(scheduler, 'few', 10);
    // What had been offered before.
    expect(runSome(scheduler, 20).join(' ')).to.equal(`many ${'few many '.repeat(9)}few`);
  });

  it('save up no turns while they have nothing', () => {
    const scheduler = fair();
    submit(scheduler, 'many', 200);
    submit(scheduler, 'idle', 1);
    runSome(scheduler, 100);
    submit(scheduler, 'idle', 20);
    expect(countOf(runSome(scheduler, 20), 'idle')).to.be.within(9, 11);
  });

  it('share by their weights', () => {
    const scheduler = fair({ two: 2, five: 5 });
    for (const group of ['one', 'two', 'five']) submit(scheduler, group, 120);
    const order = runSome(scheduler, 160);
    expect(countOf(order, 'one')).to.be.within(19, 21);
    expect(countOf(order, 'two')).to.be.within(39, 41);
    expect(countOf(order, 'five')).to.be.within(99, 101);
  });

  it('may be called as properties of objects are', () => {
    const scheduler = fair({ constructor: 3 });
    for (const group of ['constructor', 'toString']) submit(scheduler, group, 100);
    expect(countOf(runSome(scheduler, 100), 'constructor')).to.be.within(74, 76);
  });

  it('have one share each, in however many kinds their tasks are', () => {
    const scheduler = fair();
    for (const label of ['a', 'b', 'c']) submit(scheduler, 'spread', 100, { labels: [label] });
    submit(scheduler, 'plain', 100);
    expect(countOf(runSome(scheduler, 100), 'plain')).to.equal(50);
  });

  it('keep their own order, also over several kinds', () => {
    const scheduler = fair();
    submit(scheduler, 'g', 1, { id: 'old', labels: ['a'] });
    scheduler.now += SECOND;
    submit(scheduler, 'g', 1, { id: 'new' });
    submit(scheduler, 'g', 1, { id: 'urgent', labels: ['b'], priority: 60 });
    expect(idsOf(scheduler)).to.deep.equal(['urgent', 'old', 'new']);
  });

  it('act at once when that is set, weighed otherwise, or taken back', () => {
    const scheduler = new Scheduler();
    submit(scheduler, 'many', 300);
    submit(scheduler, 'few', 300);
    expect(countOf(runSome(scheduler, 10), 'few')).to.equal(0);
    share(scheduler);
    expect(countOf(runSome(scheduler, 40), 'few')).to.be.within(19, 21);
    share(scheduler, { few: 3 });
    expect(countOf(runSome(scheduler, 40), 'few')).to.be.within(29, 31);
    define(scheduler, {});
    // One was offered before.
    expect(countOf(runSome(scheduler, 10), 'few')).to.be.at.most(1);
    share(scheduler);
    expect(countOf(runSome(scheduler, 10), 'few')).to.be.within(4, 6);
    scheduler.command({ type: 'typeRemoved', name: TYPE, expect: null, isForced: true });
    expect(countOf(runSome(scheduler, 10), 'few')).to.be.at.most(1);
  });

  it('take turns after a restart as well, from the beginning', () => {
    const type = fair({ few: 3 }).state.types.get(TYPE);
    const { scheduler } = Scheduler.restored({ whole: { ...noRows, type: type ? [type] : [] } });
    submit(scheduler, 'many', 100);
    submit(scheduler, 'few', 100);
    expect(countOf(runSome(scheduler, 40), 'few')).to.be.within(29, 31);
  });

  it('wait for an executor that can have them without saving up turns for that time', () => {
    const scheduler = fair();
    submit(scheduler, 'gpu', 100, { requires: ['gpu'] });
    submit(scheduler, 'many', 300);
    runSome(scheduler, 100);
    submit(scheduler, 'late', 100);
    expect(countOf(runSome(scheduler, 20), 'late'), 'beside it').to.be.within(9, 11);
    scheduler.connect('y', { labels: ['gpu'] });
    expect(countOf(runSome(scheduler, 30, 'y'), 'gpu')).to.be.within(9, 11);
  });

  it('owe no turns for those that nobody else might have had', () => {
    const scheduler = fair();
    submit(scheduler, 'both', 100, { requires: ['gpu'] });
    submit(scheduler, 'other', 100);
    submit(scheduler, 'both', 100);
    scheduler.connect('y', { labels: ['gpu'], reserve: [] });
    expect(countOf(runSome(scheduler, 50, 'y'), 'other')).to.be.within(24, 26);
    submit(scheduler, 'third', 100);
    expect(countOf(runSome(scheduler, 30), 'both')).to.be.within(9, 11);
  });

  it('have had their turn with an offer that is refused: what nobody takes holds up no others', () => {
    const scheduler = fair();
    submit(scheduler, 'bad', 100);
    submit(scheduler, 'good', 10);
    scheduler.connect('x');
    let done = 0;
    for (let offered = 0; done < 10 && offered < 25; offered++) {
      const { taskId } = scheduler.executor('x').occupation ?? {};
      if (taskId?.startsWith('bad')) scheduler.reject('x');
      else {
        scheduler.accept('x');
        scheduler.end('x');
        done++;
      }
    }
    expect(done).to.equal(10);
  });

  it('begin no new turn by giving up their place for want of room', () => {
    const scheduler = fair({}, { laneCountMax: 2 });
    scheduler.connect('x', { types: [TYPE, 'plain'] });
    submit(scheduler, 'many', 40);
    const order: string[] = [];
    for (let count = 0; count < 20; count++) {
      // Whoever has something at that moment keeps his place, and the other is refused.
      submit(scheduler, 'other', 1, { type: 'plain', priority: 3600 });
      order.push(...runSome(scheduler, 1));
      submit(scheduler, 'single', 1);
      order.push(...runSome(scheduler, 1));
    }
    expect(countOf(order, 'other')).to.be.at.least(2);
    expect(countOf(order, 'single')).to.be.within(5, countOf(order, 'many') + 1);
  });

  it('come after an older task of another type, and before a newer one', () => {
    const scheduler = fair();
    const types = ['echo', 'plain'];
    submit(scheduler, 'a', 2);
    scheduler.now += SECOND;
    submit(scheduler, 'plain', 1, { type: 'plain' });
    scheduler.now += SECOND;
    submit(scheduler, 'b', 2);
    scheduler.connect('x', { types });
    // The type stands with its oldest task, until that has had its turn.
    expect(runSome(scheduler)).to.deep.equal(['a', 'b', 'a', 'plain', 'b']);
  });
});

describe('offers of a type with fair_by', () => {
  interface Case {
    readonly weights: readonly number[];
    readonly executorCount: number;
    readonly labels: readonly number[];
  }

  it('are to each of the groups as its weight, at any time, give or take one turn', () => {
    const cases = record({
      weights: array(integer({ min: 1, max: 1000 }), { minLength: 2, maxLength: 5 }),
      executorCount: integer({ min: 1, max: 4 }),
      /** Of the kinds in which a group has its tasks. */
      labels: array(nat(2), { minLength: 1, maxLength: 3 }),
    });
    const run = ({ weights, executorCount, labels }: Case) => {
      const groups = weights.map((_, index) => `g${index}`);
      const weightOf = (group: string) => weights[groups.indexOf(group)] ?? 1;
      const scheduler = fair(Object.fromEntries(groups.map((group) => [group, weightOf(group)])));
      for (const [index, group] of groups.entries()) {
        const label = labels[index % labels.length];
        submit(scheduler, group, 40, { labels: label === 0 ? [] : [`l${label}`] });
        submit(scheduler, group, 40);
      }
      const ids = Array.from({ length: executorCount }, (_, index) => `x${index}`);
      const counts = new Map(groups.map((group) => [group, 0]));
      const offered = ids.flatMap((id) => offers(scheduler.connect(id)));
      for (let count = 0; count < 60; count++) {
        const id = ids[count % executorCount] ?? '';
        scheduler.accept(id);
        offered.push(...offers(scheduler.end(id)));
      }
      for (const offer of offered) {
        const group = offer.replace(/-.*/, '');
        counts.set(group, (counts.get(group) ?? 0) + 1);
        const passes = groups.map((of) => (counts.get(of) ?? 0) / weightOf(of));
        const spread = Math.max(...passes) - Math.min(...passes);
        const turn = Math.max(...groups.map((of) => 1 / weightOf(of)));
        expect(spread).to.be.at.most(turn + 1e-9);
      }
      expect(offered).to.have.length(executorCount + 60);
    };
    assert(property(cases, run), { numRuns: 20 });
  });

  it('are the same as by a look at all that waits, whatever has come and gone', () => {
    const labels = ['a', 'b', 'c'];
    const operation = record({
      group: nat(3),
      type: constantFrom(TYPE, TYPE, 'plain'),
      requires: subarray(labels, { maxLength: 1 }),
      ownLabels: subarray(labels, { maxLength: 1 }),
      priority: integer({ min: -5, max: 5 }),
      executor: nat(2),
      what: constantFrom('submit', 'submit', 'submit', 'end', 'end', 'end', 'weigh'),
    });
    const all = array(operation, { minLength: 20, maxLength: 80 });
    const holds = property(all, (operations) => {
      const scheduler = fair();
      const passes = new Map<string, number>();
      let weights: Record<string, number> = {};
      let begun = 0;
      const executors = [[], ['a'], ['a', 'b', 'c']].map((own, index) => {
        scheduler.connect(`x${index}`, { types: [TYPE, 'plain'], labels: own });
        return { id: `x${index}`, own };
      });
      const taken = (task: Task) => {
        if (task.type !== TYPE) return;
        const { group } = task.user;
        begun = Math.max(begun, passes.get(group) ?? 0);
        passes.set(group, begun + 1 / (weights[group] ?? 1));
      };
      const inOrder = (a: Task, b: Task) => (comesFirst(a, b) ? -1 : 1);
      const passOf = ({ user }: Task) => passes.get(user.group) ?? 0;
      for (const { what, group, executor, type, requires, ownLabels, priority } of operations) {
        scheduler.now += 500;
        const { id, own } = executors[executor] ?? { id: '', own: [] };
        if (what === 'weigh') {
          weights = { g0: 1 + group, g1: 3 };
          share(scheduler, weights);
        } else if (what === 'submit') {
          const fields = { type, requires, labels: ownLabels, priority };
          for (const { task } of sent(submit(scheduler, `g${group}`, 1, fields), 'assign'))
            taken(task);
        } else if (scheduler.executor(id).occupation !== null) {
          const waiting = [...scheduler.state.tasks.values()].filter(
            (task) =>
              task.state === 'waiting' && task.requires.every((label) => own.includes(label)),
          );
          const [oldest] = waiting.sort(inOrder);
          const ofType = waiting.filter((task) => task.type === oldest?.type);
          const isShared = oldest?.type === TYPE;
          const [next] = isShared ? ofType.sort((a, b) => passOf(a) - passOf(b)) : [oldest];
          if (!scheduler.executor(id).occupation?.accepted) scheduler.accept(id);
          const [assign] = sent(scheduler.end(id), 'assign');
          expect(assign?.task.id).to.equal(next?.id);
          if (assign !== undefined) taken(assign.task);
        }
      }
    });
    assert(holds, { numRuns: 100 });
  });
});
