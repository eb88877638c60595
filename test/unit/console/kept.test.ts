/** What forms of the console keep of what is there already, where a request puts all of it. */
import { expect } from 'chai';
import type { AlertReceiverView, TypeView } from '@soda-scheduler/protocol';
import { receiverFields, toldBefore } from '../../../console/pages/alerts/receiver-fields.ts';
import { limitsWith, raised, textAt } from '../../../console/pages/fleet/raised.ts';
import { bodyOf, type Field, type Typed } from '../../../console/parts/form/fields.ts';
import { speak, speakOfAll } from '../../../console/words/words.ts';

describe('what forms keep', () => {
  before(async () => {
    await speak('en');
    await speakOfAll();
  });

  describe('of whom a rule tells', () => {
    const known = (...names: string[]) => names.map((name) => ({ name }) as AlertReceiverView);
    const sent = (told: string[] | null, names: readonly string[], typed: Typed = {}) => {
      const rule = { receivers: told };
      return { ...toldBefore(rule), ...bodyOf(receiverFields(rule, known(...names)), typed) };
    };
    const both = { receivers: ['pager', 'mail'] };

    it('is all of them, also before it is known which receivers there are', () => {
      expect(sent(['pager', 'mail'], [])).to.deep.equal(both);
      expect(sent(['pager', 'mail'], ['log', 'mail'])).to.deep.equal(both);
    });

    it('is what is chosen, so that one that is gone can be taken out', () => {
      const [field] = receiverFields(both, known('mail'));
      expect(field?.options).to.deep.equal(['mail', 'pager']);
      const typed = { receivers: 'mail' };
      expect(sent(['pager', 'mail'], ['mail'], typed)).to.deep.equal({ receivers: ['mail'] });
    });

    it('is nobody where it tells nobody, and all where it tells all', () => {
      expect(sent([], ['mail'])).to.deep.equal({ receivers: [] });
      expect(sent([], ['mail'], { receivers: 'mail' })).to.deep.equal({ receivers: ['mail'] });
      expect(sent(null, ['mail'])).to.deep.equal({});
    });
  });

  it('is all of an override that nobody has touched, also what is no limit', () => {
    const held = { rate: null, per_group: { max_waiting: 3, rate: null }, max_running: 2 };
    const fields = ['max_running', 'rate.count', 'rate.seconds'].map((way): Field => {
      const name = `limits.${way}`;
      return { name, label: '', kind: 'limit', initial: textAt({ limits: held }, name) };
    });
    expect(fields.map(({ initial }) => initial)).to.deep.equal(['2', 'none', 'none']);
    const put = (typed: Typed) => limitsWith(held, fields, typed);
    expect(put({})).to.deep.equal(held);
    expect(put({ 'limits.max_running': '3' })).to.deep.equal({ ...held, max_running: 3 });
    expect(put({ 'limits.rate.count': '7', 'limits.rate.seconds': '9' })).to.deep.equal({
      ...held,
      rate: { count: 7, seconds: 9 },
    });
  });

  it('is route and end of an override of which a limit is raised', () => {
    const kept = { until: '2026-11-25T10:20:30.123Z', route: { rule: 'oldest' } };
    const view = {
      limits: { max_running: 1, concurrency: { pointer: '/disk', max: 1 } },
      overrides: [{ limits: { max_waiting: 9 }, ...kept, reason: 'so', by: null, at: '' }],
    } as unknown as TypeView;
    expect(raised(view, 'limits.max_running', 4)).to.deep.equal({
      ...{ limits: { max_waiting: 9, max_running: 4 } },
      ...kept,
    });
    expect(raised(view, 'limits.concurrency.max', 4)).to.deep.equal({
      ...{ limits: { max_waiting: 9, concurrency: { pointer: '/disk', max: 4 } } },
      ...kept,
    });
    expect(raised({ ...view, overrides: [] }, 'limits.max_running', 4)).to.deep.equal({
      limits: { max_running: 4 },
    });
  });
});
