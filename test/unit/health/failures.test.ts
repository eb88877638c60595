/** What most attempts fail with: however many there are, each is looked at once. */
import { expect } from 'chai';
import { OUTCOME_COUNT_MAX, OUTCOME_PAIRS_MAX } from '../../../master/domain/bounds.ts';
import { failingOf } from '../../../master/domain/health/failures.ts';
import { type Outcome, Outcomes } from '../../../master/domain/health/outcomes.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import { atOnce } from '../../../master/domain/pieces.ts';

const NOW = 1_800_000_000_000;

/** Of processor time, by so many runs that its ticks do not count. */
function spentMs(run: () => unknown): number {
  const startedAt = process.cpuUsage().user;
  for (let count = 0; count < 8; count++) run();
  return (process.cpuUsage().user - startedAt) / 1_000;
}

describe('what attempts fail with', () => {
  const failed = (at: number, error: string | null): Outcome => ({ at, taskId: `t${at}`, error });

  it('is what most of them say, by the newest of these', () => {
    const outcomes = ['a', null, 'b', 'a', 'b', 'b', 'a', 'b', 'c'].map((error, at) =>
      failed(at, error),
    );
    expect(failingOf(outcomes)).to.deep.equal({
      ...{ failedCount: 8, since: 2, error: 'b', errorCount: 4, taskId: 't7' },
    });
  });

  it('is found by one look at each of as many as are remembered', () => {
    let lookCount = 0;
    const outcomes = Array.from({ length: OUTCOME_PAIRS_MAX * OUTCOME_COUNT_MAX }, (_, at) =>
      Object.defineProperty(failed(at, null), 'error', {
        get: () => {
          lookCount++;
          return 'connection refused';
        },
      }),
    );
    const startedAt = process.cpuUsage().user;
    expect(failingOf(outcomes)).to.deep.include({ errorCount: outcomes.length, since: 0 });
    const tookMs = (process.cpuUsage().user - startedAt) / 1_000;
    expect(lookCount).to.be.at.most(4 * outcomes.length);
    // As arrays that are copied for each of them it took seconds.
    expect(tookMs).to.be.below(300);
  });

  it('is forgotten of whose attempts ended least recently', () => {
    const outcomes = new Outcomes(NOW);
    const end = (group: string) => {
      const task = { id: group, type: 'encode', user: { group }, state: 'succeeded' };
      outcomes.note({ event: 'task_finished', task } as never, NOW);
    };
    for (let at = 0; at < 2 * OUTCOME_PAIRS_MAX; at++) {
      end('busy');
      end(`g${at}`);
    }
    const kept = atOnce(outcomes.attempts(ALL, NOW)).get('encode') ?? [];
    expect(kept.filter(({ taskId }) => taskId === 'busy')).to.have.length(OUTCOME_COUNT_MAX);
    expect(kept).to.have.length(OUTCOME_PAIRS_MAX - 1 + OUTCOME_COUNT_MAX);
  });

  it('has each end once, whatever ends between two pieces of it', () => {
    const outcomes = new Outcomes(NOW);
    const end = (group: string) => {
      const task = { id: group, type: 'encode', user: { group }, state: 'succeeded' };
      outcomes.note({ event: 'task_finished', task } as never, NOW);
    };
    for (let at = 0; at < OUTCOME_PAIRS_MAX; at++) end(`g${at}`);
    const pieces = outcomes.attempts(ALL, NOW);
    expect(pieces.next().done).to.equal(false);
    end('g0');
    expect(atOnce(pieces).get('encode')).to.have.length(OUTCOME_PAIRS_MAX);
  });

  it('is kept for many groups of a type, in the order of their ends', () => {
    const outcomes = new Outcomes(NOW);
    for (let at = 0; at < OUTCOME_COUNT_MAX; at++) {
      for (let group = 0; group < OUTCOME_PAIRS_MAX; group++) {
        const user = { group: `g${group}` };
        const task = { id: `t${group}-${at}`, type: 'encode', user, state: 'succeeded' };
        outcomes.note({ event: 'task_finished', task } as never, NOW + at);
        const notification = { taskId: task.id, type: 'encode', user, lastError: null };
        const tried = { event: 'notification_tried', notification, outcome: 'delivered' };
        outcomes.note(tried as never, NOW + at);
      }
    }
    const now = NOW + OUTCOME_COUNT_MAX;
    const newest = atOnce(outcomes.attempts(ALL, now)).get('encode') ?? [];
    expect(newest).to.have.length(OUTCOME_PAIRS_MAX * OUTCOME_COUNT_MAX);
    expect(newest.every(({ at }, index) => at >= (newest[index - 1]?.at ?? 0))).to.equal(true);
    // Of callbacks there are as many. As an array that is copied for each group it took some seven times as long.
    const plainMs = spentMs(() => atOnce(outcomes.callbacks(ALL, now)));
    expect(spentMs(() => atOnce(outcomes.attempts(ALL, now)))).to.be.below(3 * plainMs + 40);
  });
});
