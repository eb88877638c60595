/** What the console believes that a role may do is what the master lets it do. */
import { expect } from 'chai';
import type { Whoami } from '@soda-scheduler/protocol';
import { may, rights as ofConsole } from '../../../console/api/me.ts';
import { rights } from '../../../master/access/rights.ts';

describe('what the console offers to whom', () => {
  it('is what the table of rights says', () => {
    for (const [route, right] of Object.entries(ofConsole)) {
      expect(right, route).to.deep.equal(rights[route]);
    }
  });

  it('leaves out what a scope leaves out', () => {
    const ada = (scope: Whoami['scope'], role: Whoami['role'] = 'operate'): Whoami => ({
      name: 'ada',
      role,
      scope,
      expires_at: null,
    });
    const pause = 'POST /type/{type}/pause';
    expect(may(ada(null), 'POST /executor/{executor_id}/drain')).to.equal(true);
    expect(may(ada({ groups: ['a'] }), 'POST /executor/{executor_id}/drain')).to.equal(false);
    expect(may(ada({ namespaces: ['a'] }), 'POST /executor/{executor_id}/drain')).to.equal(true);
    expect(may(ada({ types: ['film'] }), pause, { type: 'film' })).to.equal(true);
    expect(may(ada({ types: ['film'] }), pause, { type: 'song' })).to.equal(false);
    expect(may(ada({ groups: ['a'] }), pause, { type: 'film' })).to.equal(false);
    const pauses = (scope: Whoami['scope'], of: string, value: string) =>
      may(ada(scope), 'POST /pause', { pause: { scope: of, value } });
    expect(pauses({ groups: ['a'] }, 'namespace', 'a')).to.equal(false);
    expect(pauses({ groups: ['a'] }, 'group', 'a')).to.equal(true);
    expect(pauses({ groups: ['a'] }, 'group', 'b')).to.equal(false);
    expect(pauses({ groups: ['a'], types: ['film'] }, 'group', 'a')).to.equal(false);
    expect(pauses({ namespaces: ['a'] }, 'namespace', 'a')).to.equal(true);
    expect(pauses(null, 'all', '')).to.equal(false);
    expect(may(ada({ groups: ['a'] }, 'admin'), 'GET /audit')).to.equal(false);
    expect(may(ada(null, 'read'), 'POST /task/{task_id}/cancel')).to.equal(false);
    expect(may(ada(null, 'submit'), 'POST /task/{task_id}/cancel')).to.equal(true);
  });
});
