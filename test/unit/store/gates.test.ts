/** `limits.concurrency`: so many tasks of a type for each value of their params; the others are held. */
import { expect } from 'chai';
import { BEGIN, inserted, offers, Scheduler } from '../../helpers/domain.ts';
import { changing } from '../../helpers/task.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import { GateBench } from '../../helpers/gates.ts';

let bench: GateBench;
beforeEach(async () => {
  bench = new GateBench();
  await bench.start();
});
afterEach(() => bench.stop());

describe('limits.concurrency', () => {
  it('holds what is beyond it, and lets the first go when a place is free', async () => {
    await bench.set({ max: 1 });
    await bench.connect('x', 'y');
    await bench.submit('a/1', 'a/2', 'a/3', 'b/1');
    expect(bench.offers()).to.deep.equal(['a/1', 'b/1']);
    expect(await bench.in('held')).to.deep.equal(['a/2', 'a/3']);
    expect(bench.state.tasks.size, 'in memory').to.equal(2);
    await bench.accept('x');
    await bench.end('x');
    expect(bench.offers()).to.deep.equal(['a/2']);
    await bench.end('x');
    await bench.end('x');
    expect(bench.offers()).to.deep.equal(['a/3']);
    await bench.end('y');
    expect(bench.state.gates.size, 'nothing is left of it').to.equal(0);
  });

  it('holds what comes after one that waits in the store only', async () => {
    await bench.submit('none');
    await bench.set({ max: 1 });
    await bench.submit('a/1', 'a/2', 'b/1', 'a/3');
    expect(await bench.in('held')).to.deep.equal(['a/2', 'a/3']);
    await bench.command({ type: 'cancelRequested', taskId: 'a/2' });
    await bench.command({ type: 'cancelRequested', taskId: 'a/3' });
    await bench.submit('a/4');
    expect(await bench.in('held'), 'nobody was held meanwhile').to.deep.equal(['a/4']);
    await bench.connect('x');
    for (let count = 0; count < 4; count++) await bench.end('x');
    expect(bench.offers()).to.deep.equal(['none', 'a/1', 'b/1', 'a/4']);
  });

  it('goes by what a value says, however it is written', async () => {
    await bench.set({ max: 1 });
    await bench.connect('x', 'y', 'z');
    await bench.submit(
      { id: 'one', params: '{"film":{"reel":1,"cut":[{"a":1,"b":2}]}}' },
      { id: 'same', params: '{"film":{"cut":[{"b":2.0,"a":1}],"reel":1}}' },
      { id: 'other', params: '{"film":{"reel":1,"cut":[{"a":2,"b":1}]}}' },
    );
    expect(bench.offers()).to.deep.equal(['one', 'other']);
    expect(await bench.in('held')).to.deep.equal(['same']);
  });

  it('is no matter of tasks without the value, or of other types', async () => {
    await bench.set({ max: 1 });
    await bench.connect('x', 'y', 'z');
    await bench.submit(
      'none',
      { id: 'null', params: '{"film":null}' },
      { id: 'list', params: '[]' },
    );
    expect(bench.offers()).to.have.length(3);
    expect(bench.state.gates.size).to.equal(0);
  });

  it('finds an item of a list by its number, and nothing by what is no item', async () => {
    await bench.set({ max: 1, pointer: '/film/length' });
    await bench.connect('x', 'y');
    await bench.submit(
      { id: 'a', params: '{"film":["x"]}' },
      { id: 'b', params: '{"film":["y"]}' },
    );
    expect(bench.offers()).to.have.length(2);
    expect(bench.state.gates.size).to.equal(0);
  });

  it('keeps the order of priority among those that wait, also with a place', async () => {
    await bench.set({ max: 1 });
    await bench.submit('a/1', 'a/2');
    await bench.submit({ id: 'a/urgent', priority: 1_000 });
    expect(await bench.in('waiting')).to.deep.equal(['a/urgent']);
    await bench.connect('x');
    for (let count = 0; count < 3; count++) await bench.end('x');
    expect(bench.offers()).to.deep.equal(['a/urgent', 'a/1', 'a/2']);
  });

  it('counts an attempt that is over until its executor has reported', async () => {
    await bench.set({ max: 1 });
    await bench.connect('x', 'y');
    await bench.submit({ id: 'a/1', assignTimeoutMs: 5_000 }, 'a/2');
    bench.silence('x');
    await bench.pass(6_000);
    expect(await bench.in('held'), 'x may still begin it').to.deep.equal(['a/1', 'a/2']);
    expect(bench.offers()).to.deep.equal(['a/1']);
    await bench.pass(10_000);
    expect(bench.offers()).to.deep.equal(['a/1']);
    expect(await bench.in('held')).to.deep.equal(['a/2']);
  });

  it('counts it also after a restart', async () => {
    await bench.set({ max: 1 });
    await bench.connect('x');
    await bench.submit({ id: 'a/1', assignTimeoutMs: 5_000 }, 'a/2');
    await bench.pass(6_000);
    await bench.command({ type: 'cancelRequested', taskId: 'a/1' });
    await bench.rebuild();
    await bench.connect('y');
    expect(bench.offers()).to.deep.equal(['a/1']);
    expect(await bench.in('held')).to.deep.equal(['a/2']);
  });

  it('gives the place of one that waits for its next attempt to the next', async () => {
    await bench.set({ max: 1 });
    await bench.connect('x');
    await bench.submit({ id: 'a/1', retry: { maxAttempts: 3, interval: -60 } }, 'a/2');
    await bench.accept('x');
    await bench.end('x', { outcome: 'failed' });
    expect(bench.offers()).to.deep.equal(['a/1', 'a/2']);
    await bench.accept('x');
    await bench.pass(90_000);
    expect(await bench.in('held'), 'it is due again').to.deep.equal(['a/1']);
    await bench.end('x');
    expect(bench.offers()).to.deep.equal(['a/1']);
  });

  it('gives no place to what is not due', async () => {
    await bench.set({ max: 1 });
    await bench.submit('a/1', { id: 'a/later', runAt: BEGIN + 3_600_000 });
    expect(await bench.in('held')).to.deep.equal([]);
    await bench.command(changing('a/later', { runAt: 0 }));
    expect(await bench.in('held')).to.deep.equal(['a/later']);
    await bench.command(changing('a/1', { runAt: BEGIN * 2 }));
    expect(await bench.in('held')).to.deep.equal([]);
  });
});

describe('a task that is held', () => {
  beforeEach(async () => {
    await bench.set({ max: 1 });
    await bench.submit('a/1', 'a/2', 'a/3');
  });

  it('can be canceled, and so can who has the place', async () => {
    await bench.command({ type: 'cancelRequested', taskId: 'a/2' });
    expect(await bench.in('canceled')).to.deep.equal(['a/2']);
    await bench.command({ type: 'cancelRequested', taskId: 'a/1' });
    expect(await bench.in('waiting')).to.deep.equal(['a/3']);
    await bench.pass(1_000);
    await bench.command({ type: 'retryRequested', taskId: 'a/2' });
    expect(await bench.in('held')).to.deep.equal(['a/2']);
  });

  it('comes before who waits with the place, once it is more urgent', async () => {
    await bench.command(changing('a/3', { priority: 60 }));
    expect(await bench.in('waiting')).to.deep.equal(['a/3']);
    await bench.command(changing('a/3', { priority: 0 }));
    expect(await bench.in('waiting')).to.deep.equal(['a/1']);
  });

  it('ends with its deadline, and where it was not started in time', async () => {
    const deadlineAt = bench.state.lastTickAt + 10_000;
    await bench.submit({ id: 'a/4', deadlineAt }, { id: 'a/5', startTimeoutMs: 10_000 });
    expect(await bench.in('held')).to.deep.equal(['a/2', 'a/3', 'a/4', 'a/5']);
    await bench.pass(16_000);
    expect(await bench.in('expired')).to.deep.equal(['a/4']);
    expect(await bench.in('failed')).to.deep.equal(['a/5']);
    expect(await bench.in('held')).to.deep.equal(['a/2', 'a/3']);
  });

  it('says whom it waits for', async () => {
    const { reason, message, ahead } = await bench.why('a/2');
    expect(reason).to.equal('held');
    expect(ahead).to.equal(null);
    expect(message).to.equal(
      'At most 1 of type echo with "a" at /film of params at a time (limits.concurrency): a/1 (waiting) comes first.',
    );
    await bench.connect('x');
    expect((await bench.why('a/2')).message).to.include('a/1 (with executor x)');
  });

  it('waits for one that nobody can run, as long as that has the place', async () => {
    await bench.submit({ id: 'b/1', requires: ['gpu'] }, 'b/2');
    await bench.connect('x');
    await bench.end('x');
    expect(await bench.in('held')).to.deep.equal(['a/3', 'b/2']);
    expect((await bench.why('b/2')).message).to.include('b/1 (waiting) comes first');
    expect((await bench.why('b/1')).reason).to.equal('labels_unmatched');
    await bench.command({ type: 'suspendRequested', taskId: 'b/1' });
    for (let count = 0; count < 2; count++) await bench.end('x');
    expect(bench.offers()).to.deep.equal(['a/1', 'a/2', 'b/2', 'a/3']);
  });

  it('counts as one that waits', async () => {
    await bench.set({ max: 1 }, { max_waiting: 3 });
    expect(await bench.submit('b/1')).to.deep.equal(['limited']);
  });

  it('is found again by a master that begins, and so is a free place', async () => {
    await bench.rebuild();
    // Who had the place is in the store only: the first that is held is let go beside it.
    expect(await bench.in('waiting')).to.deep.equal(['a/1', 'a/2']);
    expect((await bench.why('a/2')).reason, 'as of any that waits').to.equal('no_executor');
    await bench.connect('x', 'y');
    expect(await bench.in('held'), 'as a/1 is read').to.deep.equal(['a/2', 'a/3']);
    for (const id of ['x', 'y', 'x']) await bench.end(id);
    expect(bench.offers()).to.deep.equal(['a/1', 'a/2', 'a/3']);
  });
});

describe('another concurrency', () => {
  const films = ['a/1', 'a/2', 'a/3', 'a/4'];

  it('lets more go at once', async () => {
    await bench.set({ max: 1 });
    await bench.connect('x', 'y', 'z');
    await bench.submit(...films);
    expect(bench.offers()).to.deep.equal(['a/1']);
    await bench.set({ max: 3 });
    expect(bench.offers()).to.deep.equal(['a/2', 'a/3']);
    expect(await bench.in('held')).to.deep.equal(['a/4']);
  });

  it('holds what comes, and lets go on what runs', async () => {
    await bench.set({ max: 3 });
    await bench.connect('x', 'y');
    await bench.submit(...films);
    expect(bench.offers()).to.deep.equal(['a/1', 'a/2']);
    await bench.set({ max: 1 });
    await bench.end('x');
    expect(bench.offers()).to.deep.equal([]);
    await bench.end('y');
    expect(bench.offers()).to.deep.equal(['a/3']);
    expect(await bench.in('held')).to.deep.equal(['a/4']);
  });

  it('counts what waits and runs when it is first set', async () => {
    await bench.connect('x');
    await bench.submit(...films);
    expect(bench.offers()).to.deep.equal(['a/1']);
    await bench.set({ max: 1 });
    await bench.connect('y', 'z');
    expect(bench.offers()).to.deep.equal([]);
    await bench.end('x');
    expect(bench.offers()).to.deep.equal(['a/2']);
  });

  it('that is none lets all go, also where it was forgotten in a restart', async () => {
    await bench.set({ max: 1 });
    await bench.submit(...films);
    await bench.set(null);
    expect(await bench.in('held')).to.deep.equal([]);
    expect(bench.state.gates.size).to.equal(0);
    await bench.set({ max: 1 });
    await bench.connect('w');
    expect(await bench.in('held'), 'those that are read').to.deep.equal(['a/2', 'a/3', 'a/4']);
    await bench.command({ type: 'typeRemoved', name: 'echo', expect: null, isForced: true });
    await bench.connect('x', 'y', 'z');
    expect(bench.offers()).to.deep.equal(films);
  });

  it('by another value lets go whom that does not hold', async () => {
    await bench.set({ max: 1 });
    const two = films.map((id, index) => {
      return { id, params: JSON.stringify({ film: 'a', reel: index % 2 }) };
    });
    await bench.submit(...two);
    expect(await bench.in('held')).to.have.length(3);
    await bench.connect('w', 'x', 'y', 'z');
    await bench.set({ max: 1, pointer: '/reel' });
    expect(bench.offers()).to.deep.equal(['a/1', 'a/2']);
    expect(await bench.in('held')).to.deep.equal(['a/3', 'a/4']);
    await bench.end('w');
    expect(bench.offers()).to.deep.equal(['a/3']);
  });
});

it('whoever comes from a gate of another pointer is counted beside those that are read of the new one', () => {
  const scheduler = new Scheduler();
  const set = (pointer: string, max: number) => {
    const text = JSON.stringify({ limits: { concurrency: { pointer, max } } });
    scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
  };
  const submit = (...ids: string[]) => {
    const params = '{"film":"alien","reel":1}';
    return inserted(scheduler.submit(...ids.map((id) => ({ id, params }))));
  };
  const read = (...tasks: (Task | undefined)[]) => {
    const held = tasks.filter((task) => task !== undefined).map((task) => ({ ...task }));
    return { gate: held[0]?.gate ?? 0, tasks: held };
  };
  set('/film', 1);
  const [first, second, third] = submit('a/1', 'a/2', 'a/3');
  set('/reel', 2);
  const { lane = 0 } = first ?? {};
  scheduler.send({ type: 'lanesLoaded', pages: [{ lane, ...read(first), complete: true }] });
  // The rest of the old one is let go with the next page. Meanwhile others come and go.
  scheduler.send({ type: 'heldLoaded', pages: [{ ...read(second), complete: false }] });
  const [fourth] = submit('a/4');
  expect(fourth?.state).to.equal('held');
  for (const taskId of ['a/1', 'a/2']) scheduler.command({ type: 'cancelRequested', taskId });
  scheduler.send({
    type: 'heldLoaded',
    pages: [
      { ...read(third), complete: true },
      { ...read(fourth), complete: true },
    ],
  });
  expect(scheduler.task('a/4').state).to.equal('waiting');
  const heldCounts = [...scheduler.state.gates.values()].map(({ heldCount }) => heldCount);
  expect(heldCounts, 'a/3').to.deep.equal([1]);
});

it('who comes first takes the place of the last that waits with one', () => {
  const scheduler = new Scheduler();
  const text = '{"limits":{"concurrency":{"pointer":"/film","max":5}}}';
  scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
  const submit = (...ids: string[]) =>
    inserted(scheduler.submit(...ids.map((id) => ({ id, params: '{"film":1}' })))).map(
      ({ state }) => state,
    );
  const waiting = Array<string>(5).fill('waiting');
  expect(submit('a', 'b', 'c', 'd', 'e')).to.deep.equal(waiting);
  const [gate] = scheduler.state.gates.values();
  const { candidates } = gate ?? {};
  if (candidates === undefined) throw new Error('there is no gate');
  expect(submit(...Array.from({ length: 100 }, (_, n) => `h${n}`))).to.not.include('waiting');
  // Who comes before them takes the place of the last.
  scheduler.submit({ id: 'urgent', params: '{"film":1}', priority: 60 });
  scheduler.submit({ id: 'soon', params: '{"film":1}', priority: 30 });
  const ids = [...candidates].map(({ taskId }) => taskId);
  expect(ids).to.deep.equal(['urgent', 'soon', 'a', 'b', 'c']);
});

it('places of what waits in the store only are remembered while there is room', () => {
  const scheduler = new Scheduler({ gateCountMax: 50, windowCountMax: 20 });
  const text = '{"limits":{"concurrency":{"pointer":"/film","max":100}}}';
  scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
  for (let n = 0; n < 200; n++) scheduler.submit({ id: `t${n}`, params: `{"film":${n % 3}}` });
  const { gates, waitingCount } = scheduler.state;
  expect(waitingCount).to.equal(200);
  const sizes = [...gates.values()].map(({ candidates }) => candidates.size);
  expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.at.most(51);
});

const COUNT = 100_000;
const BATCH = 1_000;

it('a hundred thousand tasks of one value are held in no memory, and delay no other lane', () => {
  const scheduler = new Scheduler();
  const text = '{"limits":{"concurrency":{"pointer":"/film","max":1}}}';
  scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
  const params = '{"film":"alien"}';
  scheduler.connect('x');
  scheduler.connect('y', { types: ['echo', 'other'] });
  let heldCount = 0;
  for (let begun = 0; begun < COUNT; begun += BATCH) {
    const ids = Array.from({ length: BATCH }, (_, index) => `t${begun + index}`);
    const out = scheduler.submit(
      ...ids.map((id) => ({ id, params, deadlineAt: scheduler.now * 2 })),
    );
    heldCount += inserted(out).filter(({ state }) => state === 'held').length;
  }
  const { state } = scheduler;
  expect(heldCount).to.equal(COUNT - 1);
  expect(state.tasks.size, 'tasks in memory').to.equal(1);
  expect(state.windowCount).to.equal(0);
  expect(state.gates.size).to.equal(1);
  expect(state.deadlines.size, 'timers').to.be.below(10);
  // In the same lane, in another of the type, and of another type.
  const others = [
    { id: 'brazil', params: '{"film":"brazil"}' },
    { id: 'other', type: 'other', params },
    { id: 'gilliam', params: '{"film":"gilliam"}', labels: ['new'] },
  ];
  for (const task of others) {
    expect(offers(scheduler.submit(task))).to.deep.equal([`${task.id} -> y`]);
    scheduler.end('y');
  }
  expect(state.tasks.size).to.equal(1);
  const { loads } = scheduler.end('x');
  expect(loads).to.deep.equal([{ type: 'held' }]);
});
