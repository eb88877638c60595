/** How the console tells time: by the clock of the master, in the words of whoever reads; and what of others it shows. */
import { expect } from 'chai';
import type { HealthView } from '@soda-scheduler/protocol';
import { clockOffsetMs, masterNow, noteDate } from '../../../console/api/clock.ts';
import { worstByType } from '../../../console/pages/fleet/findings.ts';
import { fieldsOf } from '../../../console/pages/tasks/schema-fields.ts';
import { lengthOf, sinceOf } from '../../../console/words/length.ts';
import { showWhole } from '../../../console/words/visible.ts';
import { headOf, speak } from '../../../console/words/words.ts';

const HOUR_MS = 3_600_000;
const NOON = 'Mon, 23 Nov 2026 12:00:00 GMT';
const noon = Date.parse(NOON);

describe('what the console shows', () => {
  beforeEach(() => speak('en'));
  after(() => speak('en'));
  afterEach(() => noteDate(NOON, noon, noon));

  it('is told by the clock of the master, wherever that of the browser stands', () => {
    noteDate(NOON, noon + 900, noon + 1_000);
    expect(clockOffsetMs()).to.equal(0);
    noteDate(NOON, noon - 5 * HOUR_MS, noon - 5 * HOUR_MS + 100);
    expect(clockOffsetMs()).to.be.within(5 * HOUR_MS - 2_000, 5 * HOUR_MS + 2_000);
    expect(masterNow() - Date.now()).to.be.within(5 * HOUR_MS - 3_000, 5 * HOUR_MS + 3_000);
    // Neither what was waited for nor what says nothing changes it.
    noteDate(NOON, noon, noon + 25_000);
    noteDate(null, noon, noon);
    expect(clockOffsetMs()).to.be.greaterThan(4 * HOUR_MS);
    noteDate(NOON, noon + 2 * HOUR_MS, noon + 2 * HOUR_MS);
    expect(clockOffsetMs()).to.be.within(-2 * HOUR_MS - 2_000, -2 * HOUR_MS + 2_000);
  });

  it('has lengths of time in the words of each language', async () => {
    const lengths = () => [1_000, 1_500, 61_000, 2 * HOUR_MS, 26 * HOUR_MS].map(lengthOf);
    const since = () => [sinceOf(noon - 24 * 60_000, noon), sinceOf(noon + 49 * HOUR_MS, noon)];
    expect(lengths()).to.deep.equal(['1 s', '1.5 s', '1 min 1 s', '2 h', '1 d 2 h']);
    expect(since()).to.deep.equal(['24 min ago', 'in 2 d']);
    expect(headOf('why', 'all_busy')).to.equal('');
    await speak('zh');
    expect(lengths()).to.deep.equal(['1 秒', '1.5 秒', '1 分钟 1 秒', '2 小时', '1 天 2 小时']);
    expect(since()).to.deep.equal(['24 分钟前', '2 天后']);
    expect(headOf('why', 'all_busy')).to.equal('所有执行器都在忙。');
  });

  it('turns no direction of writing, hides nothing, and stays as it is where it is typed', () => {
    const text = 'a\u202Eb\u001b[31m\n';
    const shown = (type: string, props: object) => {
      showWhole({ type, props: props as { children: string } });
      return props;
    };
    expect(shown('p', { title: text, children: [text, ['c', 1, text]] })).to.deep.equal({
      title: 'a\\u202eb\\u001b[31m\n',
      children: ['a\\u202eb\\u001b[31m\n', ['c', 1, 'a\\u202eb\\u001b[31m\n']],
    });
    expect(shown('input', { value: text })).to.deep.equal({ value: text });
  });

  it('has the worst that was found of each type', () => {
    const finding = (subject: string | null, severity: 'critical' | 'warning' | 'info') =>
      ({ subject, severity, kind: 'failing' }) as HealthView['findings'][number];
    const findings = [
      finding('type/a/b', 'info'),
      finding('type/a/b', 'critical'),
      finding('type/a/b', 'warning'),
      finding('namespace', 'critical'),
      finding(null, 'critical'),
    ];
    const found = [...worstByType({ findings } as unknown as HealthView)];
    expect(found.map(([type, { severity }]) => [type, severity])).to.deep.equal([
      ['a/b', 'critical'],
    ]);
    expect(worstByType(null).size).to.equal(0);
  });

  it('asks for what is required first, as the schema names it, and says how JSON may look', () => {
    const fields = fieldsOf({
      type: 'object',
      required: ['source', 'height'],
      properties: {
        audio: { type: 'string' },
        height: { type: 'integer' },
        source: { type: 'string' },
        tags: { type: 'array', items: { type: 'string' } },
        times: { type: 'array', examples: [[1, 2.5]] },
      },
    });
    expect(fields?.map(({ name, example }) => `${name} ${example}`.trim())).to.deep.equal([
      'source',
      'height',
      'audio',
      'tags ["one", "two"]',
      'times [1,2.5]',
    ]);
  });
});
