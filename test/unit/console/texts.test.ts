/** What of the console needs no browser: places in the URL, JSON as it was written, words of both languages. */
import { expect } from 'chai';
import { dataInLine } from '../../../console/pages/task/event-data.ts';
import { hrefOf, placeOf } from '../../../console/frame/place.ts';
import { percentsOf } from '../../../console/pages/fleet/percents.ts';
import { indented } from '../../../console/parts/indented.ts';
import { priorityOf, priorityTyped } from '../../../console/pages/tasks/priority.ts';
import { fieldsOf, filledFields, paramsText } from '../../../console/pages/tasks/schema-fields.ts';
import {
  alertKinds,
  alertSeverities,
  API_BASE,
  bulkActions,
  eventKinds,
  failureReasons,
  notificationStates,
  priorityNames,
} from '@soda-scheduler/protocol';
import {
  attemptOutcome,
  executorView,
  healthView,
  taskState,
  whyReason,
} from '@soda-scheduler/protocol/schemas';
import { en as enFirst } from '../../../console/words/en.ts';
import { enLater } from '../../../console/words/en/later.ts';
import { zh as zhFirst } from '../../../console/words/zh.ts';
import { speak, speakOfAll } from '../../../console/words/words.ts';
import { actionOf } from '../../../master/access/actions.ts';
import { rights } from '../../../master/access/rights.ts';
import { zhLater } from '../../../console/words/zh/later.ts';

const en = { ...enFirst, ...enLater };
const zh = { ...zhFirst, ...zhLater };

describe('texts of the console', () => {
  it('cut shares so that they add up to all', () => {
    expect(percentsOf([2, 1])).to.deep.equal([67, 33]);
    expect(percentsOf([1, 1, 1])).to.deep.equal([34, 33, 33]);
    expect(percentsOf([199, 1])).to.deep.equal([100, 0]);
    expect(percentsOf([])).to.deep.equal([]);
  });

  it('say in the URL where one is, and find it there', () => {
    const query = { state: 'failed', error: 'a&b=ü #1' };
    for (const place of [
      { namespace: 'default', page: 'tasks', name: null, query },
      { namespace: 'live', page: 'task', name: 'a:b.c-%41', query: {} },
      { namespace: 'live', page: '', name: null, query: {} },
    ]) {
      expect(placeOf(hrefOf(place))).to.deep.equal(place);
    }
    expect(placeOf('#/task/%ff').name).to.equal('%ff');
    // No page is called so, which the console says.
    expect(placeOf('#<script>').page).to.equal('<script>');
    expect(placeOf('#/toString').page).to.equal('toString');
    expect(placeOf('#/ns/Live/tasks').page).to.equal('ns');
  });

  it('have every character of JSON that is not white space between values', () => {
    const text =
      '{"big":12345678901234567890,"f":1.0,"e":1E+2,"s":"a \\" b{}[],: \\u00e9","o":{},"a":[ ],"n":[[1,2],{"x":null}]}';
    const shown = indented(text);
    expect(shown)
      .to.include('"big": 12345678901234567890,\n')
      .and.include('1.0')
      .and.include('1E+2');
    expect(shown).to.include('"o": {},').and.include('"a": [],');
    expect(JSON.stringify(JSON.parse(shown))).to.equal(JSON.stringify(JSON.parse(text)));
    const bare = (json: string) => json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
    expect(bare(shown)).to.equal(bare(text));
  });

  it('have priorities as people type them', () => {
    expect([0, 3_600, 31_536_000, -7].map(priorityTyped)).to.deep.equal([
      ...['normal', 'high', 'urgent', '-7'],
    ]);
    expect(['urgent', '31536000', '-7'].map(priorityOf)).to.deep.equal(['urgent', 31_536_000, -7]);
  });

  it('make params of a form as they were typed', () => {
    const fields = fieldsOf({
      type: 'object',
      required: ['source'],
      properties: {
        source: { type: 'string', title: 'Source' },
        frame: { type: 'integer', default: 1 },
        two: { type: 'boolean' },
        profile: { enum: ['web', 4] },
        parts: { type: 'array' },
      },
    });
    expect(fields?.map(({ kind }) => kind)).to.deep.equal([
      'text',
      'number',
      'choice',
      'choice',
      'json',
    ]);
    const typed = {
      'task.params.source': 'a"b',
      'task.params.frame': '12345678901234567890',
      'task.params.two': 'true',
      'task.params.profile': '4',
    };
    expect(paramsText(fields ?? [], typed)).to.equal(
      '{"source":"a\\"b","frame":12345678901234567890,"two":true,"profile":4}',
    );
    expect(paramsText(fields ?? [], {})).to.equal('{"frame":1}');
    for (const schema of [undefined, true, { type: 'array' }, { type: 'object' }]) {
      expect(fieldsOf(schema)).to.equal(null);
    }
  });

  it('fill a form with the params of a task, or leave it where that would change them', () => {
    const schema = {
      type: 'object',
      properties: {
        source: { type: 'string' },
        frame: { type: 'integer', default: 1 },
        profile: { enum: ['web', 4] },
        parts: { type: 'array' },
      },
    };
    for (const params of [
      '{"source":"a\\"b","frame":12345678901234567890,"profile":4,"parts":[1.0, 2]}',
      '{"frame":1.50}',
      '{}',
    ]) {
      expect(paramsText(filledFields(schema, params) ?? [], {}), params).to.equal(params);
    }
    for (const params of [
      'null',
      '[]',
      '"a"',
      '{"other":1}',
      '{"source":""}',
      '{"source":7}',
      '{"profile":"film"}',
    ]) {
      expect(filledFields(schema, params), params).to.equal(null);
    }
  });

  it('have a sentence for each word of the API that is one of a few', () => {
    const kinds = {
      state: taskState.options,
      outcome: attemptOutcome.options,
      failure: failureReasons,
      callback: notificationStates,
      why: whyReason.options.filter((one) => !['offered', 'running', 'ended'].includes(one)),
      finding: healthView.shape.findings.element.shape.kind.options,
      health: healthView.shape.status.options,
      'executor-state': executorView.shape.state.options,
      severity: alertSeverities,
      rule: alertKinds,
      action: bulkActions,
    };
    for (const [kind, words] of Object.entries(kinds)) {
      for (const word of words) expect(en, kind).to.have.property(`${kind}.${word}`);
    }
  });

  it('have a word for each kind of event of a task', () => {
    const kinds = Object.keys(eventKinds).filter((kind) => kind.startsWith('task.'));
    expect(kinds.length).to.be.at.least(20);
    for (const kind of kinds) expect(en, kind).to.have.property(`event.${kind}`);
  });

  it('have a Chinese word for what English shows as the API has it', async () => {
    const asked = Object.keys(rights).map((route) => route.split(' ') as [string, string]);
    const actions = asked.map(([method, path]) => actionOf(method, `${API_BASE}${path}`));
    const data = Object.entries(eventKinds)
      .filter(([kind]) => kind.startsWith('task.'))
      .flatMap(([, { data: fields }]) => Object.keys(fields));
    const kinds = {
      did: actions.filter((action) => action !== null),
      data,
      role: ['read', 'submit', 'operate', 'admin', 'executor'],
      priority: Object.keys(priorityNames),
    };
    for (const [kind, words] of Object.entries(kinds)) {
      expect(words.length, kind).to.be.above(3);
      for (const word of words) expect(zh, kind).to.have.property(`${kind}.${word}`);
    }
    await speak('zh');
    await speakOfAll();
    expect(dataInLine({ state: 'failed', reason: 'non_retryable', error: 'state' })).to.equal(
      '状态 失败，原因 彻底失败：不再重试，错误 state',
    );
    await speak('en');
    expect(dataInLine({ state: 'failed', tries: 3 })).to.equal('state failed, tries 3');
    expect(dataInLine({ percent: 40.42207083333333 })).to.equal('percent 40 %');
  });

  it('put the same values into both languages', () => {
    const values = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort();
    for (const [name, text] of Object.entries(en)) {
      // What a number only chooses by may be missing where there is no plural.
      const expected = values(text).filter((value) => value !== '{n}');
      const found = values(zh[name as keyof typeof en]).filter((value) => value !== '{n}');
      expect(found, name).to.deep.equal(expected);
    }
  });
});
