/** Saved views, as the core keeps them. */
import { expect } from 'chai';
import { VIEWS_MAX } from '../../../master/domain/bounds.ts';
import { Scheduler } from '../../helpers/domain.ts';

describe('saved views', () => {
  it('are as many as there may be: others take the place of one', () => {
    const scheduler = new Scheduler();
    const set = (name: string, query: string | null) =>
      scheduler.command({ type: 'viewSet', name, query }).reply;
    for (let n = 0; n < VIEWS_MAX; n++) set(`v-${n}`, '{}');
    expect(set('v-0', '{"state":"held"}')).to.deep.equal({ kind: 'done', isNew: false });
    expect(set('more', '{}')).to.deep.equal({
      kind: 'full',
      message: `there are ${VIEWS_MAX} views: delete one`,
    });
    expect(set('v-1', null)).to.deep.equal({ kind: 'done' });
    expect(set('more', '{}')).to.deep.equal({ kind: 'done', isNew: true });
    expect(set('v-1', null)).to.include({ kind: 'unknown' });
  });
});
