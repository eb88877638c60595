/** What `/health` finds, and what is alerted of, in the language of whoever reads: each kind has both. */
import { alertKinds, type AlertView, type HealthView } from '@soda-scheduler/protocol';
import { healthView } from '@soda-scheduler/protocol/schemas';
import { expect } from 'chai';
import { alertSaid } from '../../../console/pages/alerts/alert-said.ts';
import { findingSaid } from '../../../console/pages/alerts/finding-said.ts';
import { speak, speakOfAll } from '../../../console/words/words.ts';
import { zhFound } from '../../../console/words/zh/found.ts';

type Finding = HealthView['findings'][number];
type Details = Finding['details'];

const executors = { connected: 9, of_type: 4, fitting: 3, serving: 2, ready: 2, able: 2, free: 0 };
const nearest = { executor_id: 'gpu-1', lacks_labels: ['gpu'], reserved_for: ['live'] };
const pause = { scope: 'all', value: null, reason: 'a move', by: 'ann', at: '', until: null };
const outcomes = { outcomes: 8, failed: 7, alike: 5, error: 'no disk' };
const pauses = (change: object) => [{ ...pause, ...change }] as Details['pauses'];
const tomorrow = new Date(Date.now() + 86_400_000).toISOString();

/** Of each kind every form: what it is about, what is known, and what has to be said of it. */
const forms: Readonly<Record<Finding['kind'], readonly (readonly [string, Details, string])[]>> = {
  store_away: [['', { error: 'EIO' }, 'EIO']],
  starting: [['', {}, '读取']],
  shutting_down: [['', {}, '停止']],
  paused: [
    ['all', { pauses: pauses({}) }, '由 ann 暂停了所有命名空间（a move）'],
    ['namespace', { pauses: pauses({ scope: 'namespace', until: tomorrow }) }, '为止'],
    ['type/film', { pauses: pauses({ scope: 'type', value: 'film' }) }, '类型 film 有 3 个任务'],
  ],
  no_executor: [['type/film', { executors }, '没有可运行此类型任务的执行器']],
  labels_unmatched: [['type/film', { executors, nearest }, 'gpu-1']],
  reserved: [
    ['type/film', { executors, nearest }, '只接受带有 live 的任务'],
    ['type/film', { booking: 'b-1', until: tomorrow }, '预订'],
  ],
  draining: [['type/film', { executors }, '3 个合适的执行器']],
  not_ready: [
    ['type/film', { executor_id: 'gpu-1', error: 'no GPU' }, 'gpu-1 报告：no GPU'],
    ['type/film', { executor_id: 'gpu-1', disk_bytes: 8e9 }, '8,000 MB'],
    ['type/film', { disk_bytes: 8e9 }, '8,000 MB'],
  ],
  limited: [['type/film', { limit: { name: 'limits.max_running', max: 2, used: 2 } }, '上限 2']],
  all_busy: [['type/film', { executors }, '2 个合适的执行器']],
  cooling_down: [['type/film', { until: tomorrow }, '拒绝']],
  failing: [
    ['type/film', outcomes, '其中 5 次为：no disk'],
    ['type/film', { ...outcomes, failed: 5 }, '都为：no disk'],
  ],
  callbacks: [
    ['', { ...outcomes, pending: 9 }, '9 个回调尚未送达'],
    ['', outcomes, '有 7 次失败'],
    ['', { pending: 9 }, '9 个回调尚未送达'],
  ],
  queue_full: [
    ['namespace', { limit: { name: 'waiting', max: 5, used: 6 } }, '最多可保留 5 个'],
    ['namespace', { limit: { name: 'max_waiting', max: 5, used: 6 } }, 'max_waiting 为 5'],
  ],
  disk_low: [['', { free_bytes: 2 ** 30, free_percent: 2 }, '1,024 MiB（2%）']],
  duty: [
    ['duty/retention', {}, 'retention 失败。'],
    ['duty/retention', { error: 'EIO' }, 'retention 失败：EIO'],
    ['duty/retention', { overdue: true }, 'retention 没有按时完成'],
  ],
};

const message = 'The words of the master.';
const change = 'What would help.';

function findingOf(kind: Finding['kind'], subject: string, details: Details): Finding {
  const about = { kind, severity: 'warning', subject: subject === '' ? null : subject } as const;
  const said = { message, cause: 'Its cause.', advice: change, command: 'soda doctor' };
  const since = new Date(Date.now() - 65_000).toISOString();
  return { ...about, ...said, since, count: 3, details };
}

describe('what was found, said', () => {
  before(speakOfAll);
  afterEach(() => speak('en'));

  for (const kind of healthView.shape.findings.element.shape.kind.options) {
    it(`of the health: ${kind}`, async () => {
      const ofKind = forms[kind];
      expect(ofKind).to.have.length.above(0);
      for (const [subject, details, words] of ofKind) {
        const finding = findingOf(kind, subject, details);
        await speak('en');
        expect(findingSaid(finding)).to.deep.equal({
          text: `${message} Its cause.`,
          advice: change,
        });
        await speak('zh');
        const { text, advice } = findingSaid(finding);
        expect(text).to.include(words).and.not.include(message);
        expect(text).to.not.match(/[{}]/);
        expect(advice).to.match(/^[^{}]*[\u4e00-\u9fff][^{}]*$/);
      }
    });
  }

  it('of a disk that is full as English says it', async () => {
    await speak('zh');
    const of = (details: Details) => findingSaid(findingOf('not_ready', 'type/film', details));
    const some = of({ executor_id: 'gpu-1', disk_bytes: 8e9 });
    expect(some.advice).to.include('清理 gpu-1 的磁盘');
    expect(of({ disk_bytes: 8e9 }).advice).to.include('scratchDir');
  });

  it('as the master says it where a field is missing', async () => {
    await speak('zh');
    const finding = findingOf('queue_full', 'namespace', {});
    expect(findingSaid(finding).text).to.equal(`${message} Its cause.`);
    const none = findingOf('labels_unmatched', 'type/film', {});
    expect(findingSaid(none)).to.deep.equal({ text: `${message} Its cause.`, advice: change });
  });

  it('as a master before this one says it, which tells no facts', async () => {
    const { details: _, ...finding } = findingOf('duty', 'duty/retention', {});
    for (const language of ['en', 'zh'] as const) {
      await speak(language);
      expect(findingSaid(finding)).to.deep.equal({
        text: `${message} Its cause.`,
        advice: change,
      });
    }
  });

  it('of alerts nothing that people and programs have said', async () => {
    await speak('zh');
    const said = { kind: 'message', type: null, namespace: 'default', subject: 'm' } as const;
    const alert: Parameters<typeof alertSaid>[0] = { ...said, message, change, fields: { n: 1 } };
    expect(alertSaid(alert)).to.deep.equal({ message, change });
    // One that was raised by a master before this one.
    const old: AlertView['kind'] = 'poison';
    expect(alertSaid({ ...alert, kind: old, fields: null })).to.deep.equal({ message, change });
  });

  it('of alerts of bookings and of the disk; of all others beside what finds them', async () => {
    await speak('zh');
    const booked = { booking: 'b-1', from: tomorrow };
    const risky = { ...booked, later: 2, of: 'type/film', max: 1 };
    const disk = { free_bytes: 2e9, free_percent: 1.5, limit: 10 };
    const all: [AlertView['kind'], object, string][] = [
      ['booking_short', { ...booked, missing: 1, count: 3 }, '3 个执行器中缺 1 个'],
      [
        'booking_short',
        { ...booked, missing: 1, count: 3, cause: 'refused', executor_id: 'e-1' },
        'e-1 不接受其任务',
      ],
      [
        'booking_at_risk',
        { ...risky, cause: 'limit' },
        '以及之后的 2 个时间窗）已无法满足：type/film',
      ],
      ['booking_at_risk', { ...booked, later: 0, cause: 'capacity' }, '容量变小了'],
      ['booking_at_risk', { ...booked, cause: 'executors' }, '有执行器离开了'],
      ['booking_paused', booked, '被暂停阻挡'],
      ['disk', disk, '剩余 2.0 GB，1.5%（限值 10%）'],
      ['disk', { ...disk, unwritten: 61 }, '有 1 分钟 1 秒 无法写入'],
    ];
    for (const [kind, fields, words] of all) {
      const about = { kind, type: 'film', namespace: 'live', subject: 'x' };
      const said = alertSaid({ ...about, message, change, fields: { ...fields } });
      expect(said.message).to.include(words).and.not.match(/[{}]/);
      expect(said.change)
        .to.match(/[\u4e00-\u9fff]/)
        .and.not.match(/[{}]/);
    }
  });

  it('of every kind of alert but those, and of no other', () => {
    const names = Object.keys(zhFound);
    const kindsIn = (what: string) =>
      new Set(names.flatMap((name) => (name.startsWith(what) ? [name.split('.')[2]] : [])));
    const own = alertKinds.filter((kind) => kind !== 'message');
    expect([...kindsIn('alert.say.')].filter((kind) => kind !== 'later')).to.have.members(own);
    // What would start a task is said as on its page.
    const mended = own.filter((kind) => kind !== 'no_executor' && kind !== 'oldest_wait');
    expect([...kindsIn('mend.say.')]).to.have.members(mended);
    const found = healthView.shape.findings.element.shape.kind.options;
    expect([...kindsIn('advice.say.')]).to.have.members(found);
  });
});
