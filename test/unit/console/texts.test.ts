/** What of the console needs no browser: places in the URL, JSON as it was written, words of both languages. */
import { expect } from 'chai';
import { hrefOf, placeOf } from '../../../console/frame/place.ts';
import { indented } from '../../../console/parts/indented.ts';
import { en } from '../../../console/words/en.ts';
import { zh } from '../../../console/words/zh.ts';

describe('texts of the console', () => {
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
    expect(placeOf('#<script>').page).to.equal('');
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
