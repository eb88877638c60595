/** Each route of the page on the HTTP API says first which roles it takes: those of the table of rights. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inWords, rightOf } from '../../master/access/rights.ts';
import { root } from './document.ts';

describe('the roles in the page on the HTTP API', () => {
  it('are those that the master asks for', () => {
    const page = readFileSync(join(root, 'docs/http-api.md'), 'utf8');
    const routes = [...page.matchAll(/^### `([A-Z]+) (\S+)`\n\n(.*)$/gm)];
    expect(routes.length).to.be.at.least(30);
    for (const [, method = '', path = '', text = ''] of routes) {
      const { roles } = rightOf(method, path);
      const words = roles === 'anyone' ? 'anyone' : inWords(roles);
      const said = `*${words.charAt(0).toUpperCase()}${words.slice(1)}.* `;
      expect(text.slice(0, said.length), `${method} ${path}`).to.equal(said);
    }
  });
});
