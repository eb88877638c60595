/** Tasks that need free disk, and executors that say how much they have. */
import { expect } from 'chai';
import { waitingFindings } from '../../../master/domain/health/waiting.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import { atOnce } from '../../../master/domain/pieces.ts';
import { headsOf } from '../../../master/domain/why/heads.ts';
import * as fc from 'fast-check';
import type { ExecutorHello, NewTask } from '../../../master/domain/events.ts';
import { diskClassOf, kindKeyOf, kindOf } from '../../../master/domain/model/task.ts';
import { NO_SETTINGS } from '../../../master/domain/state/state.ts';
import { explain } from '../../../master/domain/views/explain.ts';
import { offers, Scheduler } from '../../helpers/domain.ts';

const GB = 1e9;
let scheduler: Scheduler;
beforeEach(() => {
  scheduler = new Scheduler();
});

const room = (diskBytes: number | null) => ({ ok: true, reason: null, diskBytes });
const connect = (id: string, diskBytes: number | null, fields: Partial<ExecutorHello> = {}) =>
  offers(scheduler.connect(id, { ready: room(diskBytes), ...fields }));
const submit = (id: string, diskBytes: number | null, fields: Partial<NewTask> = {}) =>
  offers(scheduler.submit({ id, diskBytes, ...fields }));
function report(executorId: string, diskBytes: number): string[] {
  const { sessionId } = scheduler.executor(executorId);
  const running = { draining: false, running: [], loopLagMs: 1, rssBytes: 1 };
  const about = { executorId, sessionId: sessionId ?? '', ready: room(diskBytes) };
  return offers(scheduler.send({ type: 'heartbeatReceived', ...about, ...running }));
}

describe('a task that needs disk', () => {
  it('goes to an executor that has it, however long others have been idle', () => {
    connect('x', null);
    connect('y', 1 * GB);
    connect('z', 20 * GB);
    expect(submit('a', 10 * GB)).to.deep.equal(['a -> z']);
    expect(submit('b', 10 * GB)).to.deep.equal([]);
    expect(submit('c', null), 'it holds up nothing').to.deep.equal(['c -> x']);
  });

  it('waits until one says that it has it', () => {
    connect('x', 1 * GB);
    submit('a', 10 * GB);
    expect(report('x', 9 * GB)).to.deep.equal([]);
    expect(report('x', 12 * GB)).to.deep.equal(['a -> x']);
  });

  it('says what it waits for', () => {
    connect('x', null);
    submit('a', 10 * GB);
    const why = () => explain(scheduler.state, scheduler.task('a'), scheduler.now);
    expect(why()).to.include({
      reason: 'not_ready',
      message:
        '1 fitting executor, without the free disk that it needs (10000 MB): none says what it has.',
    });
    const advice = () => {
      const { heads } = atOnce(headsOf(scheduler.state, scheduler.now, ALL));
      return waitingFindings(heads, scheduler.now).map((one) => one.advice);
    };
    expect(advice()).to.deep.equal([
      'Set scratchDir of executors of type echo: none says what it has.',
    ]);
    connect('y', 2 * GB);
    expect(advice()).to.deep.equal([
      'Free disk of y, or start an executor of type echo that has more.',
    ]);
    expect(why().message).to.match(/^2 fitting executors, .*: y has most, 2000 MB\.$/);
  });

  it('has what its type needs, where it does not say', () => {
    const text = '{"needs":{"disk_bytes":10000000000}}';
    scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
    connect('x', 1 * GB);
    expect(submit('a', null)).to.deep.equal([]);
    expect(scheduler.task('a').diskBytes).to.equal(10 * GB);
    expect(submit('b', 1)).to.deep.equal(['b -> x']);
  });

  it('is taken by one that becomes free, and passed over by one without room', () => {
    connect('x', 1 * GB);
    connect('y', 20 * GB);
    submit('a', null);
    submit('b', null);
    submit('c', 10 * GB);
    submit('d', null);
    scheduler.accept('x');
    scheduler.accept('y');
    expect(offers(scheduler.end('x'))).to.deep.equal(['d -> x']);
    expect(offers(scheduler.end('y'))).to.deep.equal(['c -> y']);
  });

  it('finds the one with room where a limit holds things back', () => {
    for (let n = 0; n < 5; n++) connect(`x${n}`, n * GB);
    scheduler.command({ type: 'settingsChanged', ...NO_SETTINGS, maxRunning: 3 });
    expect(submit('a', 5 * GB)).to.deep.equal([]);
    expect(submit('b', 2.5 * GB)).to.deep.equal(['b -> x3']);
  });
});

describe('the class of a need', () => {
  it('is no less than it, and less than an eighth more', () => {
    const bytes = fc.integer({ min: 2 ** 20, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(bytes, (needed) => {
        const rounded = diskClassOf(needed);
        expect(rounded).to.be.within(needed, needed * 1.125);
        expect(diskClassOf(rounded)).to.equal(rounded);
      }),
    );
    expect(diskClassOf(1)).to.equal(2 ** 20);
  });

  it('is in the name of the kind, which else is as it was', () => {
    expect(kindKeyOf('t', ['a'], [], null)).to.equal('t|a|');
    const key = kindKeyOf('t', ['a'], [], 3_000_000);
    expect(kindOf(key)).to.deep.equal({
      type: 't',
      requires: ['a'],
      labels: [],
      diskBytes: diskClassOf(3_000_000),
      booking: null,
      uses: [],
    });
    expect(kindOf('t|a|').diskBytes).to.equal(null);
  });
});
