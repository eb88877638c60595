/** What is set for types: definitions with their versions, pauses, and an operator's layer over limits. */
import { expect } from 'chai';
import {
  effectiveOf,
  layerIn,
  settingsIn,
  type TaskType,
  unregistered,
} from '../../../master/domain/model/task-type.ts';
import { TYPES_MAX, UNREGISTERED_TYPES_MAX } from '../../../master/domain/bounds.ts';
import { nextWakeAt } from '../../../master/domain/state/state.ts';
import { BEGIN, HOUR, Scheduler } from '../../helpers/domain.ts';
import { takeQuota } from '../../../master/domain/steps/limits.ts';
import { noRows } from '../../helpers/task.ts';

let scheduler: Scheduler;
beforeEach(() => {
  scheduler = new Scheduler();
});

const limited = (max: number) => `{"limits":{"max_running":${max}}}`;
const set = (text: string, expect: number | null = null, name = 'video') =>
  scheduler.command({ type: 'typeSet', name, text, expect });
const remove = (isForced = false, expect: number | null = null) =>
  scheduler.command({ type: 'typeRemoved', name: 'video', expect, isForced });
const pause = (until: number | null) =>
  scheduler.command({ type: 'typePaused', name: 'video', reason: 'full', until, by: null });
const override = (text: string | null, until: number | null = null) =>
  scheduler.command({
    type: 'typeOverridden',
    name: 'video',
    layer: text === null ? null : { text, by: null, reason: 'too hot', until },
  });
const video = (): TaskType => {
  const type = scheduler.state.types.get('video');
  if (type === undefined) throw new Error('there is none');
  return type;
};

describe('the definition of a type', () => {
  it('is written, and counts its versions', () => {
    const first = set(limited(2));
    expect(first.reply).to.include({ kind: 'done', isNew: true });
    expect(first.changes).to.deep.equal([{ op: 'put', table: 'type', key: 'video', row: video() }]);
    expect(video()).to.include({ version: 1, text: limited(2) });
    expect(video().limits).to.deep.include({ maxRunning: 2, rate: null, windows: [] });
    expect(set(limited(3)).reply).to.include({ kind: 'done', isNew: false });
    expect(video().version).to.equal(2);
  });

  it('finds no place where as many are registered as may be, and any other can still be paused', () => {
    const know = (name: string, version: number) => {
      const paused = version > 0 ? null : { at: BEGIN, reason: null, until: null, by: null };
      const type = { ...unregistered(name), version, paused };
      scheduler.state.types.set(name, type);
      takeQuota(scheduler.state, type, scheduler.now);
    };
    for (let n = 0; n < TYPES_MAX; n++) know(`t${n}`, 1);
    const message = '10000 types are registered: delete one';
    expect(set('{}').reply).to.deep.equal({ kind: 'full', message });
    expect(pause(null).reply).to.include({ kind: 'done' });
    expect(set('{}').reply, 'it would be one more').to.deep.equal({ kind: 'full', message });
    expect(set('{"owner":"x"}', null, 't7').reply).to.include({ kind: 'done' });
    for (let n = 1; n < UNREGISTERED_TYPES_MAX; n++) know(`u${n}`, 0);
    const command = { type: 'typePaused', reason: null, until: null, by: null } as const;
    expect(scheduler.command({ ...command, name: 'other' }).reply).to.include({ kind: 'full' });
    expect(scheduler.command({ ...command, name: 't7' }).reply).to.include({ kind: 'done' });
    const remove = { type: 'typeRemoved', name: 't7', expect: null, isForced: false } as const;
    expect(scheduler.command(remove).reply, 'its pause would stay').to.include({ kind: 'full' });
  });

  it('that says the same is no other version, and writes nothing', () => {
    set(limited(2));
    const again = set(limited(2), 1);
    expect(again.reply).to.deep.equal({ kind: 'done', taskType: video() });
    expect(again.changes).to.deep.equal([]);
  });

  it('is refused to whoever has seen another version, also before that is written', () => {
    expect(set(limited(2), 1).reply).to.deep.equal({
      kind: 'stale',
      message: 'the type is at version 0, not 1',
    });
    expect(set(limited(2), 0).reply).to.include({ kind: 'done' });
    expect(set(limited(3), 1).reply).to.include({ kind: 'done' });
    expect(set(limited(4), 1).reply).to.include({ kind: 'stale' });
    expect(remove(false, 1).reply).to.include({ kind: 'stale' });
    expect(video().text).to.equal(limited(3));
  });

  it('has a version that no later one has, also when it was forgotten meanwhile', () => {
    set(limited(2));
    const { version } = video();
    remove();
    expect(set(limited(3)).reply).to.include({ kind: 'done', isNew: true });
    expect(video().version).to.be.above(version);
    expect(set(limited(4), version).reply).to.include({ kind: 'stale' });
    set(limited(4));
    const newest = video().version;
    remove();
    scheduler.submit({ id: 'a', type: 'other' });
    set(limited(5));
    expect(video().version).to.be.above(newest);
  });

  it('may be said again by whoever has not got the answer', () => {
    set(limited(2));
    const { version } = video();
    set(limited(3), version);
    const again = set(limited(3), version);
    expect(again.reply).to.deep.equal({ kind: 'done', taskType: video() });
    expect(again.changes).to.deep.equal([]);
  });

  it('stays while tasks of the type live, unless that is forced', () => {
    set(limited(2));
    scheduler.connect('x', { types: ['video'] });
    scheduler.submit({ id: 'a', type: 'video' }, { id: 'b', type: 'video' });
    expect(remove().reply).to.deep.equal({
      kind: 'conflict',
      message: 'tasks of it wait or run (2): with force=true they go on without its settings',
    });
    const removed = remove(true);
    expect(removed.reply).to.include({ kind: 'done' });
    const write = { op: 'remove', table: 'type', key: 'video', expect: 'any' };
    expect(removed.changes).to.deep.equal([write]);
    expect(scheduler.state.types.size).to.equal(0);
    expect(remove().reply).to.include({ kind: 'unknown' });
  });

  it('finds no room beyond ten thousand others, or when all of them are too long', () => {
    const { state } = scheduler;
    for (let i = 0; i < 9_999; i++) {
      const other = { ...row(), type: `t-${i}` };
      state.types.set(other.type, other);
      takeQuota(state, other, BEGIN);
    }
    set(limited(1));
    expect(set(limited(1), null, 'more').reply).to.include({ kind: 'full' });
    expect(set(limited(2)).reply, 'known').to.include({ kind: 'done' });
    state.types.clear();
    state.quotas.clear();
    const long = JSON.stringify({ description: 'x'.repeat(20 * 1024 * 1024) });
    expect(set(long, null, 'long').reply).to.include({ kind: 'done' });
    expect(set(long, null, 'other').reply).to.include({ kind: 'full' });
    expect(set(limited(2), null, 'long').reply, 'shorter').to.include({ kind: 'done' });
  });
});

describe('what operators decide about a type', () => {
  it('needs no registration, and leaves nothing when it is taken back', () => {
    pause(null);
    expect(video()).to.deep.include({
      version: 0,
      paused: { at: BEGIN, reason: 'full', until: null, by: null },
    });
    const out = scheduler.command({ type: 'typeResumed', name: 'video' });
    expect(out.changes).to.deep.equal([
      { op: 'remove', table: 'type', key: 'video', expect: 'any' },
    ]);
    expect(scheduler.state.types.size).to.equal(0);
  });

  it('outlives the definition, and is no definition', () => {
    set(limited(2));
    pause(null);
    override('{"limits":{"max_running":1}}');
    const { paused, override: layer } = video();
    const out = remove(true);
    expect(out.reply).to.include({ kind: 'done' });
    expect(video()).to.deep.equal({ ...unregistered('video'), paused, override: layer });
    expect(out.changes).to.deep.equal([{ op: 'put', table: 'type', key: 'video', row: video() }]);
    expect(effectiveOf(video()).limits).to.include({ maxRunning: 1 });
    expect(remove(true).reply).to.include({ kind: 'unknown' });
    expect(video().paused).to.deep.equal(paused);
  });

  it('ends by itself, also after a restart', () => {
    set(limited(2));
    pause(BEGIN + HOUR);
    override('{"limits":{"max_running":1}}', BEGIN + 2 * HOUR);
    expect(nextWakeAt(scheduler.state)).to.equal(BEGIN + HOUR);
    const whole = { ...noRows, type: [video()] };
    ({ scheduler } = Scheduler.restored({ whole }));
    scheduler.pass(HOUR);
    expect(video().paused).to.equal(null);
    expect(video().override?.reason).to.equal('too hot');
    scheduler.pass(HOUR);
    expect(video()).to.include({ override: null, version: 1 });
  });

  it('outlives another definition, and lies over it', () => {
    set('{"limits":{"max_running":8,"max_waiting":9},"route":{"rule":"random"}}');
    override('{"limits":{"max_running":1}}');
    set('{"limits":{"max_running":4,"max_waiting":5}}', 1);
    expect(effectiveOf(video()).limits).to.include({ maxRunning: 1, maxWaiting: 5 });
    expect(effectiveOf(video()).route).to.equal(null);
    override('{"limits":{"max_waiting":null},"route":{"rule":"sticky","pointer":"/id","wait":1}}');
    expect(effectiveOf(video()).limits).to.include({ maxRunning: 4, maxWaiting: null });
    expect(effectiveOf(video()).route).to.deep.equal({
      rule: 'sticky',
      pointer: '/id',
      waitMs: 1000,
    });
    override(null);
    expect(effectiveOf(video()).limits).to.include({ maxRunning: 4, maxWaiting: 5 });
  });
});

it('a definition is read into what the core needs of it', () => {
  const text = JSON.stringify({
    limits: {
      rate: { count: 10, seconds: 1 },
      per_group: { max_running: 2 },
      concurrency: { pointer: '/film', max: 1 },
      windows: [
        { days: [6, 7], from: '08:00', to: '20:00', zone: 'Europe/Berlin', max_running: 2 },
        { from: '20:00', to: '08:00', zone: 'UTC', paused: true },
      ],
    },
    needs: { disk_bytes: 1e9 },
    uses: [
      { limit: 'b', n: 2 },
      { limit: 'a', n: 1 },
    ],
    fair_by: 'group',
    group_weights: { news: 3 },
    route: { rule: 'last_used' },
  });
  expect(settingsIn(text)).to.deep.equal({
    capacity: null,
    isPreemptible: false,
    holdMs: null,
    limits: {
      maxRunning: null,
      maxWaiting: null,
      rate: { count: 10, seconds: 1 },
      perGroup: { maxRunning: 2, maxWaiting: null, rate: null },
      concurrency: { pointer: '/film', max: 1 },
      windows: [
        {
          days: [6, 7],
          from: '08:00',
          to: '20:00',
          zone: 'Europe/Berlin',
          maxRunning: 2,
          paused: false,
        },
        { days: null, from: '20:00', to: '08:00', zone: 'UTC', maxRunning: null, paused: true },
      ],
    },
    needs: { diskBytes: 1e9 },
    uses: [
      { limit: 'a', n: 1 },
      { limit: 'b', n: 2 },
    ],
    fairBy: 'group',
    groupWeights: { news: 3 },
    route: { rule: 'last_used', pointer: null, waitMs: 2000 },
  });
  expect(layerIn('{}')).to.deep.equal({ limits: {}, route: null });
});

function row(): TaskType {
  const text = '{}';
  return { type: '', version: 1, text, ...settingsIn(text), paused: null, override: null };
}
