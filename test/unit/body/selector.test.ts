/** Selectors of executors, as people write them. */
import { expect } from 'chai';
import { type Described, isSelected, selectorOf } from '../../../master/access/body/selector.ts';
import { Problem } from '../../../master/access/http/problem.ts';

const one: Described = {
  id: 'e-1',
  type: ['a', 'b'],
  label: ['gpu', 'zone=b'],
  host: 'h1',
  version: '',
  state: 'idle',
};

describe('a selector', () => {
  const has = (text: string, of = one) => isSelected(selectorOf(text), of);

  it('is terms of which all must hold', () => {
    const held = ['id=e-1', 'type=b', 'label=gpu, label=zone=b', 'host!=h2,state=idle', 'version='];
    for (const text of held) expect(has(text), text).to.equal(true);
    const not = ['id=e', 'type=b,label=cpu', 'type!=b', 'label!=zone=b', 'version!=', 'state=gone'];
    for (const text of not) expect(has(text), text).to.equal(false);
  });

  it('holds of nobody by what is not known of him, not even by !=', () => {
    const unknown = { ...one, type: null, label: null, host: null, version: null };
    for (const text of ['version!=1', 'version=', 'label!=gpu', 'type!=a', 'host!=x']) {
      expect(has(text, unknown), text).to.equal(false);
    }
    expect(has('id=e-1,state!=gone', unknown)).to.equal(true);
  });

  it('is refused where it is none, with what was expected', () => {
    const wrong = [
      '',
      'gpu',
      'version==1',
      'id!==1',
      ',',
      'zone=b',
      'state=sleeping',
      'Version=1',
      'a=1,',
    ];
    const refused = wrong.filter((text) => {
      try {
        return selectorOf(text) === null;
      } catch (error) {
        return error instanceof Problem && error.kind === 'invalid';
      }
    });
    expect(wrong.filter((text) => !refused.includes(text))).to.deep.equal([]);
  });
});
