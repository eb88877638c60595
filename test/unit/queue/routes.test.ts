/** How one of several idle executors is chosen, by the route of the type. */
import { typeDefinition } from '@soda-scheduler/protocol/schemas';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { ROUTE_KEEP_COUNT, ROUTE_LOOK_COUNT } from '../../../master/domain/bounds.ts';
import { createOutput } from '../../../master/domain/effects.ts';
import type { NewTask } from '../../../master/domain/events.ts';
import { step } from '../../../master/domain/scheduler.ts';
import { NO_SETTINGS } from '../../../master/domain/state/state.ts';
import { explain } from '../../../master/domain/views/explain.ts';
import { offers, Scheduler, SECOND } from '../../helpers/domain.ts';
import { newTask } from '../../helpers/task.ts';

let scheduler: Scheduler;
beforeEach(() => {
  scheduler = new Scheduler();
});

const setRoute = (route: object | null) =>
  scheduler.command({
    type: 'typeSet',
    name: 'echo',
    text: JSON.stringify(route === null ? {} : { route }),
    expect: null,
  });

/** `a -> x`: which executor has it now. */
const submit = (id: string, fields: Partial<NewTask> = {}) =>
  offers(scheduler.submit({ id, ...fields }));
/** One task after another: who has each. */
function chosen(count: number, end: (executorId: string, index: number) => void): string[] {
  return Array.from({ length: count }, (_, index) => {
    const id = `t${index}`;
    scheduler.now += SECOND;
    scheduler.submit({ id });
    const { executorId } = scheduler.task(id);
    scheduler.accept(executorId ?? '');
    end(executorId ?? '', index);
    return executorId ?? '';
  });
}
const succeeds = (executorId: string) => void scheduler.end(executorId);

describe('the route', () => {
  for (const [rule, expected] of [
    [null, ['x', 'y', 'z', 'x', 'y', 'z']],
    ['longest_idle', ['x', 'y', 'z', 'x', 'y', 'z']],
    ['last_used', ['z', 'z', 'z', 'z', 'z', 'z']],
    ['round_robin', ['x', 'y', 'z', 'x', 'y', 'z']],
    ['least_failed', ['x', 'y', 'z', 'x', 'y', 'z']],
  ] as const) {
    it(`${rule ?? 'of no type'} takes ${expected.join(' ')}`, () => {
      for (const id of ['x', 'y', 'z']) scheduler.connect(id);
      setRoute(rule && { rule });
      expect(chosen(6, succeeds)).to.deep.equal(expected);
    });
  }

  it('round_robin gives each its turn, however long the last one took', () => {
    for (const id of ['x', 'y', 'z']) scheduler.connect(id);
    setRoute({ rule: 'round_robin' });
    submit('a');
    scheduler.accept('x');
    scheduler.now += SECOND;
    submit('b');
    scheduler.accept('y');
    // The first to begin is the last to end: it has been idle for the shortest time, and is next after z.
    scheduler.end('y');
    scheduler.end('x');
    scheduler.now += SECOND;
    expect(submit('c')).to.deep.equal(['c -> z']);
    scheduler.now += SECOND;
    expect(submit('d')).to.deep.equal(['d -> x']);
  });

  it('random takes each of them, the same for the same seed', () => {
    const draw = () => {
      scheduler = new Scheduler();
      for (const id of ['x', 'y', 'z']) scheduler.connect(id);
      setRoute({ rule: 'random' });
      return chosen(30, succeeds);
    };
    const first = draw();
    expect(new Set(first)).to.have.keys(['x', 'y', 'z']);
    expect(first.slice(0, 6)).not.to.deep.equal(['x', 'y', 'z', 'x', 'y', 'z']);
    expect(draw()).to.deep.equal(first);
  });

  it('least_failed leaves one alone on which attempts have failed', () => {
    for (const id of ['x', 'y']) scheduler.connect(id);
    setRoute({ rule: 'least_failed' });
    const fails = (id: string, index: number) =>
      void (index === 0 ? scheduler.fail(id, { retryable: false }) : scheduler.end(id));
    expect(chosen(4, fails)).to.deep.equal(['x', 'y', 'y', 'y']);
    // It is busy: the other one will do.
    submit('e');
    expect(submit('f')).to.deep.equal(['f -> x']);
  });

  it('chooses within the first pool: reserved ones go first, whatever the rule', () => {
    scheduler.connect('x');
    scheduler.connect('r', { reserve: ['vip'] });
    scheduler.connect('y');
    setRoute({ rule: 'last_used' });
    expect(submit('a', { labels: ['vip'] })).to.deep.equal(['a -> r']);
    expect(submit('b', { labels: ['vip'] })).to.deep.equal(['b -> y']);
  });

  for (const rule of ['round_robin', 'least_failed', 'random']) {
    it(`${rule} finds the one with room on its disk behind all of whom it chooses one`, () => {
      const ready = (diskBytes: number) => ({ ready: { ok: true, reason: '', diskBytes } });
      for (let count = 0; count < ROUTE_LOOK_COUNT; count++) {
        scheduler.connect(`full${count}`, ready(0));
      }
      scheduler.connect('x', ready(2 ** 30));
      setRoute({ rule });
      expect(submit('a', { diskBytes: 2 ** 30 })).to.deep.equal(['a -> x']);
    });
  }

  it('holds while less is allowed to run than executors are there, too', () => {
    for (const id of ['x', 'y', 'z']) scheduler.connect(id);
    setRoute({ rule: 'last_used' });
    scheduler.command({ type: 'settingsChanged', ...NO_SETTINGS, maxRunning: 1 });
    expect(submit('a')).to.deep.equal(['a -> z']);
  });
});

describe('a sticky route', () => {
  const sticky = (waitMs = 2_000) =>
    setRoute({ rule: 'sticky', pointer: '/video/id', wait: waitMs / 1_000 });
  const params = (id: unknown) => JSON.stringify({ video: { id } });
  /** Who gets tasks with this value, where all are idle. */
  function homeOf(value: unknown): string {
    const id = `home of ${JSON.stringify(value)}`.replaceAll(/\W/g, '_');
    submit(id, { params: params(value) });
    const { executorId } = scheduler.task(id);
    scheduler.accept(executorId ?? '');
    scheduler.end(executorId ?? '');
    return executorId ?? '';
  }
  const others = (id: string, all: string[]) => all.filter((one) => one !== id);

  it('gives tasks with one value to one executor', () => {
    const all = ['x', 'y', 'z'];
    for (const id of all) scheduler.connect(id);
    sticky();
    const homes = Array.from({ length: 30 }, (_, value) => homeOf(value));
    expect(new Set(homes)).to.have.keys(all);
    expect(Array.from({ length: 30 }, (_, value) => homeOf(value))).to.deep.equal(homes);
  });

  it('waits for that one, says so, and then takes any', () => {
    const all = ['x', 'y', 'z'];
    for (const id of all) scheduler.connect(id);
    sticky();
    const home = homeOf('v');
    expect(submit('a', { params: params('v') })).to.deep.equal([`a -> ${home}`]);
    scheduler.accept(home);
    expect(submit('b', { params: params('v') })).to.deep.equal([]);
    const { reason, message } = explain(scheduler.state, scheduler.task('b'), scheduler.now);
    expect(reason).to.equal('all_busy');
    expect(message).to.equal(
      `Its route keeps it for executor ${home}, which is busy, for another 2 s; then any may have it.`,
    );
    expect(offers(scheduler.pass(1_999))).to.deep.equal([]);
    const [other] = offers(scheduler.pass(1));
    expect(other).to.be.oneOf(others(home, all).map((id) => `b -> ${id}`));
  });

  it('gives it to that one as soon as it is free', () => {
    for (const id of ['x', 'y', 'z']) scheduler.connect(id);
    sticky();
    const home = homeOf('v');
    submit('a', { params: params('v') });
    scheduler.accept(home);
    submit('b', { params: params('v') });
    scheduler.pass(SECOND);
    expect(offers(scheduler.end(home))).to.deep.equal([`b -> ${home}`]);
  });

  it('waits for that one anew with each attempt', () => {
    for (const id of ['x', 'y']) scheduler.connect(id);
    sticky();
    const home = homeOf('v');
    const [other = ''] = others(home, ['x', 'y']);
    submit('a', { params: params('v') });
    scheduler.accept(home);
    submit('b', { params: params('v'), retry: { maxAttempts: 5, interval: -1 } });
    expect(offers(scheduler.pass(2 * SECOND))).to.deep.equal([`b -> ${other}`]);
    scheduler.accept(other);
    scheduler.fail(other);
    expect(offers(scheduler.pass(2_900))).to.deep.equal([]);
    expect(offers(scheduler.pass(200))).to.deep.equal([`b -> ${other}`]);
  });

  it('does not hold up what comes behind it in its lane', () => {
    for (const id of ['x', 'y', 'z']) scheduler.connect(id);
    sticky();
    const home = homeOf('v');
    const homes = new Map('abcdefgh'.split('').map((value) => [value, homeOf(value)]));
    const elsewhere = [...homes.keys()].find((value) => homes.get(value) !== home) ?? '';
    submit('a', { params: params('v') });
    submit('b', { params: params('v') });
    expect(submit('c', { params: params(elsewhere) })).to.deep.equal([
      `c -> ${homes.get(elsewhere)}`,
    ]);
  });

  /** Both executors, and a value that goes to each; the first one is busy. */
  function busyAndIdle() {
    for (const id of ['x', 'y']) scheduler.connect(id);
    sticky(60_000);
    const homes = new Map(Array.from({ length: 20 }, (_, value) => [homeOf(value), value]));
    submit('running', { params: params(homes.get('x')) });
    scheduler.accept('x');
    return { forBusy: params(homes.get('x')), forIdle: params(homes.get('y')) };
  }

  it('finds what is meant for an idle one behind a hundred that are kept for another', () => {
    const { forBusy, forIdle } = busyAndIdle();
    for (let count = 0; count < 100; count++) {
      expect(submit(`kept${count}`, { params: forBusy })).to.deep.equal([]);
    }
    expect(submit('a', { params: forIdle })).to.deep.equal(['a -> y']);
    scheduler.accept('y');
    // The same while another one runs, and when the executor becomes free.
    submit('b', { params: forIdle });
    expect(offers(scheduler.end('y'))).to.deep.equal(['b -> y']);
  });

  it('reads the value once, as a task comes, and not where an executor looks for one', () => {
    scheduler.connect('x');
    sticky();
    submit('running');
    submit('a', { params: params('v') });
    expect(scheduler.state.choices.get(scheduler.task('a'))?.hash).to.be.a('number');
  });

  it('keeps nothing for longer than a minute', () => {
    const isValid = (wait: number) =>
      typeDefinition.safeParse({ route: { rule: 'sticky', pointer: '/id', wait } }).success;
    expect([60, 61].map(isValid)).to.deep.equal([true, false]);
  });

  it('leaves nobody idle beside more than may be kept', () => {
    const { forBusy } = busyAndIdle();
    const given: string[] = [];
    for (let count = 1; count <= ROUTE_KEEP_COUNT; count++) {
      given.push(...submit(`kept${count}`, { params: forBusy }));
    }
    expect(given).to.deep.equal(['kept1 -> y']);
    scheduler.accept('y');
    submit('one_more', { params: forBusy });
    expect(offers(scheduler.end('y'))).to.deep.equal(['kept2 -> y']);
    scheduler.accept('y');
    expect(offers(scheduler.end('y'))).to.deep.equal([]);
  });

  it('has executors that become free take what is theirs out of a backlog', () => {
    for (const id of ['x', 'y']) scheduler.connect(id);
    sticky(60_000);
    const values = Array.from({ length: 40 }, (_, value) => value);
    const homes = values.map(homeOf);
    for (const value of values) submit(`t${value}`, { params: params(value) });
    const ran = new Map<string, string>();
    while (ran.size < values.length) {
      for (const id of ['x', 'y']) {
        const { occupation } = scheduler.executor(id);
        if (occupation === null) continue;
        ran.set(occupation.taskId, id);
        scheduler.accept(id);
        scheduler.end(id);
      }
    }
    expect(values.map((value) => ran.get(`t${value}`))).to.deep.equal(homes);
  });

  it('takes any where the params have no such value, or nobody is waited for', () => {
    for (const id of ['x', 'y', 'z']) scheduler.connect(id);
    sticky(0);
    expect(submit('a', { params: '{}' })).to.deep.equal(['a -> x']);
    expect(submit('b', { params: '"text"' })).to.deep.equal(['b -> y']);
    scheduler.end('x');
    scheduler.end('y');
    const home = homeOf('v');
    expect(submit('c', { params: params('v') })).to.deep.equal([`c -> ${home}`]);
    expect(submit('d', { params: params('v') })).to.have.length(1);
  });

  it('waits for nobody that takes no tasks', () => {
    for (const id of ['x', 'y', 'z']) scheduler.connect(id);
    sticky();
    const home = homeOf('v');
    scheduler.ready(home, 'no space left');
    expect(submit('a', { params: params('v') })).to.have.length(1);
    expect(scheduler.task('a').executorId).not.to.equal(home);
  });

  it('lets go of what it keeps when it is taken back', () => {
    for (const id of ['x', 'y', 'z']) scheduler.connect(id);
    sticky(60_000);
    homeOf('v');
    submit('a', { params: params('v') });
    submit('b', { params: params('v') });
    expect(offers(setRoute(null))).to.have.length(1);
  });

  it('keeps all keys but those of an executor that leaves', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z0-9-]{1,20}$/), {
      minLength: 20,
      maxLength: 20,
    });
    const property = fc.property(names, fc.nat(19), (ids, leaving) => {
      scheduler = new Scheduler();
      for (const id of ids) scheduler.connect(id);
      sticky();
      const keys = Array.from({ length: 100 }, (_, key) => `key ${key}`);
      const before = keys.map(homeOf);
      const gone = ids[leaving] ?? '';
      scheduler.disconnect(gone, true);
      const after = keys.map((key) => {
        const id = `again_${key.replaceAll(' ', '_')}`;
        submit(id, { params: params(key) });
        const { executorId } = scheduler.task(id);
        scheduler.end(executorId ?? '');
        return executorId;
      });
      const moved = keys.filter((_, index) => after[index] !== before[index]);
      expect(moved).to.deep.equal(keys.filter((_, index) => before[index] === gone));
    });
    fc.assert(property, { numRuns: 20 });
  });

  it('spreads keys evenly: a twentieth for each of 20', () => {
    const ids = Array.from({ length: 20 }, (_, index) => `encoder-${index}`);
    for (const id of ids) scheduler.connect(id);
    sticky();
    const counts = new Map<string, number>();
    for (let key = 0; key < 2_000; key++) {
      const home = homeOf(key);
      counts.set(home, (counts.get(home) ?? 0) + 1);
    }
    for (const id of ids) expect(counts.get(id), id).to.be.within(60, 140);
  });
});

describe('a batch of sticky tasks', () => {
  it('is offered without looking through what is kept for each of them anew', () => {
    for (let n = 0; n < 400; n++) scheduler.connect(`x${n}`);
    setRoute({ rule: 'sticky', pointer: '/k' });
    const taskOf = (k: number) => ({ id: `k${k}`, params: JSON.stringify({ k: k % 40 }) });
    const { passedOver } = scheduler.state;
    const get = passedOver.get.bind(passedOver);
    let askCount = 0;
    passedOver.get = (task) => (askCount++, get(task));
    const out = createOutput();
    const tasks = Array.from({ length: 400 }, (_, k) => newTask(taskOf(k)));
    step(scheduler.state, { type: 'tasksSubmitted', request: 1, tasks }, scheduler.now, out);
    // One for each value; all others are kept for those, and nobody else.
    expect(offers(out).length).to.be.within(20, 40);
    expect(askCount).to.be.below(4_000);
  });
});
