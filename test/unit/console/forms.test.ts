/** Forms of the console as data: what a body is made of, what was wrong with it, and what a definition becomes by them. */
import { expect } from 'chai';
import {
  originOf,
  kindsOfRules,
  REASONS,
  REPEAT_SECONDS,
} from '../../../console/pages/alerts/kinds.ts';
import {
  definitionFields,
  definitionIn,
  withTyped,
} from '../../../console/pages/fleet/definition.ts';
import {
  bodyOf,
  faultSaid,
  faultsOf,
  type Field,
  localOf,
  WrongField,
} from '../../../console/parts/form/fields.ts';
import { checkedParams, paramsFields } from '../../../console/pages/tasks/params-fields.ts';
import { fieldsOf } from '../../../console/pages/tasks/schema-fields.ts';
import { speak, speakOfAll } from '../../../console/words/words.ts';
import { plainRule } from '../../../master/domain/alerts/rule.ts';
import { alertKinds, type AlertRuleView, differences } from '@soda-scheduler/protocol';

describe('forms of the console', () => {
  before(async () => {
    await speak('en');
    await speakOfAll();
  });

  const fields: Field[] = [
    { name: 'threshold', label: '', kind: 'number' },
    { name: 'window', label: '', kind: 'number', initial: '60' },
    { name: 'scope.types', label: '', kind: 'words' },
    { name: 'scope.namespaces', label: '', kind: 'words' },
    { name: 'enabled', label: '', kind: 'check', initial: 'yes' },
    { name: 'template', label: '', kind: 'json' },
  ];

  it('put each value in its place, and leave out what is empty', () => {
    const typed = { threshold: '0.5', 'scope.types': ' film, song ', template: '{"a":[1]}' };
    expect(bodyOf(fields, typed)).to.deep.equal({
      threshold: 0.5,
      window: 60,
      scope: { types: ['film', 'song'] },
      enabled: true,
      template: { a: [1] },
    });
    expect(bodyOf(fields, { window: '', enabled: '' })).to.deep.equal({ enabled: false });
    expect(() => bodyOf(fields, { template: '{' })).to.throw(WrongField);
  });

  it('show an instant as the clock on the wall does, also where that was no whole minutes from UTC', () => {
    const { TZ } = process.env;
    try {
      for (const zone of ['Asia/Shanghai', 'Europe/Amsterdam', 'UTC']) {
        process.env['TZ'] = zone;
        for (const local of ['0202-01-01T08:00', '1901-07-02T23:59', '2026-03-29T12:30']) {
          expect(localOf(new Date(local).toISOString()), zone).to.equal(local);
        }
      }
    } finally {
      if (TZ === undefined) delete process.env['TZ'];
      else process.env['TZ'] = TZ;
    }
  });

  it('say what was refused beside the field that it is about', () => {
    const errors = [
      { field: 'threshold', message: 'too big' },
      { field: 'scope.types[1]', message: 'expected a type' },
      { field: 'thresholds', message: 'unknown' },
      { field: 'If-Match', message: 'expected one ETag' },
    ];
    expect(faultsOf({ problem: { errors } }, fields)).to.deep.equal({
      wrong: { threshold: 'too big', 'scope.types': 'expected a type' },
      others: errors.slice(2),
    });
    expect(faultsOf(new WrongField('template', 'no JSON'), fields).wrong).to.deep.equal({
      template: 'no JSON',
    });
  });

  it('say what was refused in the language of the page, as far as that has words', async () => {
    const bound = { kind: 'at_most', values: { of: 'entries', limit: 8 } } as const;
    const errors = [
      { field: 'threshold', message: 'required: expected a number', kind: 'required' },
      { field: 'scope.types', message: 'expected at most 8 entries', ...bound },
      { field: 'severity', message: 'expected null', kind: 'wrong_type', values: { of: 'null' } },
      { field: 'x', message: 'as it is' },
    ] as const;
    const said = () => errors.map(faultSaid);
    expect(said()).to.deep.equal(errors.map(({ message }) => message));
    await speak('zh');
    expect(said()).to.deep.equal(['必填。', '最多 8 项。', 'expected null', 'as it is']);
    expect(faultsOf({ problem: { errors } }, fields).wrong).to.deep.include({
      threshold: '必填。',
    });
    await speak('en');
  });

  it('say of all fields what is wrong, though the master is not asked', () => {
    const number = { type: 'integer' };
    const schema = { type: 'object', properties: { a: number, b: number, c: number } };
    const params = fieldsOf(schema);
    const typed = { 'task.params.a': 'many', 'task.params.b': '1,2', 'task.params.c': '1' };
    let found: unknown;
    try {
      checkedParams(params, typed);
    } catch (error) {
      found = error;
    }
    const { wrong, others } = faultsOf(found, paramsFields(params));
    expect(Object.keys(wrong)).to.deep.equal(['task.params.a', 'task.params.b']);
    expect(others).to.deep.equal([]);
  });

  it('know what rules of each kind hold by default', () => {
    expect(Object.keys(kindsOfRules)).to.deep.equal([...alertKinds]);
    for (const kind of alertKinds) {
      const { threshold, windowMs, severity, reasons, repeatMs, checkCount } = plainRule(
        kind,
        kind,
      );
      const { unit, ...ours } = kindsOfRules[kind];
      const window = windowMs === null ? null : windowMs / 1000;
      expect(ours, kind).to.deep.equal({ threshold, window, severity, checks: checkCount });
      const isCounted = kind !== 'message' && !kind.startsWith('booking_');
      expect(unit !== null, kind).to.equal(isCounted);
      expect(reasons, kind).to.deep.equal(kind === 'oldest_wait' ? REASONS : null);
      expect(repeatMs).to.equal(1000 * REPEAT_SECONDS);
    }
    const plain: AlertRuleView = {
      ...{ name: 'disk', kind: 'disk', scope: null, threshold: 10, window: null, reasons: null },
      ...{ severity: 'critical', receivers: null, repeat: 14_400, checks: 2, enabled: true },
    };
    expect(originOf(plain)).to.equal('plain');
    expect(originOf({ ...plain, threshold: 5 })).to.equal('changed');
    expect(originOf({ ...plain, name: 'my-disk' })).to.equal('own');
  });
});

describe('the form of a definition', () => {
  const SCHEMA = '{"type":"object","properties":{"n":{"const":12345678901234567890}}}';
  const WINDOWS = '[{"from":"08:00","to":"18:00","zone":"Europe/Berlin","max_running":1}]';
  const text = `{"type":"film","registered":true,"version":3,"description":"Films","defaults":{"priority":3600,"retry":{"interval":[1,2]}},"params_schema":${SCHEMA},"limits":{"max_running":4,"windows":${WINDOWS}},"uses":[{"limit":"drm","n":2}],"fair_by":"group","group_weights":{"news":3},"paused":null}`;
  const definition = definitionIn(text);

  it('is what was defined, and nothing else', () => {
    expect(JSON.parse(definition)).to.have.all.keys(
      ...['description', 'defaults', 'params_schema', 'limits', 'uses', 'fair_by', 'group_weights'],
    );
    const said = Object.fromEntries(
      definitionFields(definition)
        .filter(({ initial }) => initial !== '')
        .map(({ name, initial }) => [name, initial]),
    );
    expect(said).to.deep.equal({
      description: 'Films',
      'defaults.priority': '3600',
      'defaults.retry.interval': '1 2',
      'limits.max_running': '4',
      uses: 'drm=2',
      fair_by: 'group',
      group_weights: 'news=3',
    });
  });

  it('changes what was typed, and leaves every digit of the rest', () => {
    expect(withTyped(definition, {})).to.equal(definition);
    const changed = withTyped(definition, {
      description: '',
      'limits.max_running': '5',
      'limits.rate.count': '10',
      'defaults.priority': 'high',
      'defaults.retry.interval': '',
      uses: 'drm encoder=2',
      group_weights: 'news=3 sport=2',
    });
    expect(changed).to.include(SCHEMA).and.include(WINDOWS);
    expect(differences(definition, changed)).to.deep.equal([
      { path: 'description', before: '"Films"', after: undefined },
      { path: 'defaults.priority', before: '3600', after: '"high"' },
      { path: 'defaults.retry.interval', before: '[1,2]', after: undefined },
      { path: 'limits.max_running', before: '4', after: '5' },
      {
        path: 'uses',
        before: '[{"limit":"drm","n":2}]',
        after: '[{"limit":"drm","n":1},{"limit":"encoder","n":2}]',
      },
      { path: 'limits.rate.count', before: undefined, after: '10' },
      { path: 'group_weights.sport', before: undefined, after: '2' },
    ]);
    expect(() => withTyped(definition, { group_weights: 'news=x' })).to.throw(WrongField);
  });

  it('keeps what it does not know, for the master to refuse, and tells numbers apart by every digit', () => {
    expect(withTyped('{"hold":true,"owner":"a"}', { owner: 'b' })).to.equal(
      '{"owner":"b","hold":true}',
    );
    const [first] = differences(
      '{"a":{"n":12345678901234567890}}',
      '{"a":{"n":12345678901234567891}}',
    );
    expect(first?.path).to.equal('a.n');
  });
});
