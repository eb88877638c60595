/** Sentences about a task that waits, in the language of whoever reads. */
import { expect } from 'chai';
import type { WhyView } from '@soda-scheduler/protocol';
import { jobNext, occurrenceView, whyReason, whyView } from '@soda-scheduler/protocol/schemas';
import { becameSaid } from '../../../console/pages/jobs/month/became-said.ts';
import { changeSaid, whySaid } from '../../../console/pages/task/why-said.ts';
import { speak, speakOfAll } from '../../../console/words/words.ts';
import { zhWhy } from '../../../console/words/zh/why.ts';

const message = 'The words of the master.';
const executors = { connected: 9, of_type: 4, fitting: 3, serving: 2, ready: 2, able: 2, free: 0 };
const nearest = { executor_id: 'gpu-1', lacks_labels: ['gpu', 'h265'], reserved_for: [] };

const said = (reason: WhyView['reason'], details: Partial<WhyView['details']>) =>
  whySaid({ reason, message, details });
const changed = (
  change: Omit<NonNullable<WhyView['change']>, 'message'>,
  details: Partial<WhyView['details']> = {},
) => changeSaid({ change: { ...change, message }, details: { behind: [], ...details } });

describe('why, said', () => {
  before(speakOfAll);
  afterEach(() => speak('en'));

  it('in English as the master says it', async () => {
    await speak('en');
    expect(said('all_busy', { executors })).to.equal(message);
    expect(changed({ action: 'resume', target: 'task', value: null })).to.equal(message);
  });

  it('as the master says it where it tells no facts, as one before this one', async () => {
    await speak('zh');
    expect(whySaid({ reason: 'limited', message })).to.equal(message);
  });

  it('in Chinese from the facts', async () => {
    await speak('zh');
    expect(said('all_busy', { executors })).to.equal('2 个合适的执行器，都在运行别的任务。');
    expect(said('all_busy', { executors: { ...executors, free: 1 } })).to.include('1 个合适的');
    expect(said('labels_unmatched', { executors, nearest }))
      .to.include('gpu-1')
      .and.include('gpu, h265');
    expect(said('limited', { limit: { name: 'limits.max_running', max: 2, used: 2 } })).to.equal(
      'limits.max_running：已用 2，上限 2。',
    );
    const pause = { scope: 'type', value: 'film', reason: 'disk', at: '', by: null } as const;
    expect(said('paused', { pauses: [{ ...pause, until: null }] })).to.equal(
      '类型 film 暂停启动，直到有人恢复（disk）。',
    );
    const group = { ...pause, scope: 'group', value: 'a', reason: null, until: null } as const;
    expect(said('paused', { pauses: [group, { ...pause, until: null }] })).to.equal(
      '分组 a 暂停启动，直到有人恢复；另有 1 项暂停。',
    );
    const until = new Date(Date.now() + 60_000).toISOString();
    expect(said('paused', { pauses: [{ ...pause, until }] })).to.match(/到 .*\d\d:\d\d:\d\d 为止/);
    expect(said('not_due', { until })).to.match(/^定于 .*\d\d:\d\d:\d\d 运行。$/);
    expect(changed({ action: 'resume', target: 'group/a/b', value: null })).to.equal(
      '恢复分组 a/b 。',
    );
    expect(changed({ action: 'raise_limit', target: 'limit/drm', value: 3 })).to.equal(
      '把共享限制 drm 的 max 提高到 3。',
    );
    const suspended = { by: 'ann', reason: 'disk' };
    const who = (of: typeof suspended | { by: null; reason: null }) =>
      whySaid({ reason: 'suspended', message, details: {}, suspended: of });
    expect(who(suspended)).to.equal('由 ann 挂起，直到有人恢复（disk）。');
    expect(who({ by: null, reason: null })).to.equal('挂起，直到有人恢复。');
    const started = { count: 2, type: 'film', labels: ['gpu'], executor_id: null };
    expect(changed({ action: 'start_executor', target: 'type/film', value: started })).to.equal(
      '启动执行器：2 个，类型 film，gpu。',
    );
  });

  it('also what has become of the times of a job', async () => {
    const late = { state: 'skipped', reason: 'misfire', message, calendar: null };
    expect(becameSaid(late)).to.equal(message);
    await speak('zh');
    expect(becameSaid(late)).to.equal('发现得太晚，按错过策略（misfire）跳过。');
    const byHand = { ...late, reason: 'skipped by hand' };
    expect(becameSaid(byHand)).to.equal('由人跳过。');
    const off = { ...late, reason: '国庆节', calendar: 'china' };
    expect(becameSaid(off)).to.equal('日历 china 排除了这个时间（国庆节）。');
    const out = { ...late, reason: 'black-out: a move' };
    expect(becameSaid(out)).to.equal('处于禁触发时段（a move）。');
    expect(becameSaid({ ...late, reason: 'black-out' })).to.equal('处于禁触发时段。');
    const refused = { ...late, state: 'refused', reason: 'its params do not fit its type' };
    expect(becameSaid(refused)).to.equal('被拒绝：its params do not fit its type。');
    expect(becameSaid({ ...late, reason: 'something new' })).to.equal(message);
    expect(becameSaid({ ...late, reason: null, message: null })).to.equal(null);
  });

  it('as the master says it where a fact is missing, or there is no sentence', async () => {
    await speak('zh');
    expect(said('draining', {})).to.equal(message);
    expect(said('all_busy', {})).to.equal(message);
    expect(said('suspended', { since: null })).to.equal(message);
    expect(said('paused', {})).to.equal(message);
    expect(changed({ action: 'none', target: null, value: null })).to.equal(message);
  });

  it('of nothing that the API does not say', () => {
    const { action } = whyView.shape.change.unwrap().shape;
    const known: Record<string, readonly string[]> = {
      why: whyReason.options,
      change: action.options,
      became: [
        ...occurrenceView.shape.state.options,
        ...jobNext.shape.next.element.shape.outcome.options,
      ],
    };
    for (const name of Object.keys(zhWhy)) {
      const [kind = '', , word = ''] = name.split('.');
      if (kind !== 'scope') expect(known[kind], name).to.include(word);
    }
  });
});
