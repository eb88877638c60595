/** What a submit knows of types without reading their definitions again. */
import { expect } from 'chai';
import { RulesOfTypes } from '../../../master/access/body/type-rules.ts';
import { TYPE_RULES_MAX } from '../../../master/domain/bounds.ts';
import { unregistered } from '../../../master/domain/model/task-type.ts';

describe('the rules of types', () => {
  it('are kept for those that are used, whatever else was asked for', () => {
    const rules = new RulesOfTypes();
    const of = (type: string) => rules.of('default', { ...unregistered(type), text: '{}' });
    const used = of('used');
    const unused = of('unused');
    for (let index = 0; index < TYPE_RULES_MAX; index += 1) {
      of(`other-${index}`);
      expect(of('used')).to.equal(used);
    }
    expect(of('unused')).not.to.equal(unused);
  });
});
