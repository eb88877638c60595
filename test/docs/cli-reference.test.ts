/** The reference of the `soda` command is what the commands say of themselves. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './document.ts';

describe('the pages of the soda command', () => {
  it('list every command and option as --help does (npm run docs writes them)', async () => {
    const { page } = (await import(join(root, 'scripts/cli-reference.mjs'))) as { page: string };
    expect(readFileSync(join(root, 'docs/cli-reference.md'), 'utf8')).to.equal(page);
  });

  it('say of an option or an argument that it is required only where it is', async () => {
    const { page } = (await import(join(root, 'scripts/cli-reference.mjs'))) as { page: string };
    expect(page).to.include(
      'required, here or in the environment: who the usage counts for (SODA_GROUP)',
    );
    expect(page).to.include('## `soda task redeliver [id...]`');
    expect(page).to.include('## `soda task cancel <id...>`');
  });

  it('name every command in the overview', async () => {
    const { page } = (await import(join(root, 'scripts/cli-reference.mjs'))) as { page: string };
    const overview = readFileSync(join(root, 'docs/cli.md'), 'utf8');
    const rows = overview.split('\n').filter((line) => line.startsWith('| `soda'));
    for (const [, path = ''] of page.matchAll(/^## `(soda [a-z ]+?)(?: [<[].*)?`$/gm)) {
      const words = path.split(' ');
      const last = words.at(-1) ?? '';
      const group = `\`soda ${words.length > 2 ? words[1] : ''}`.trim();
      const named = rows.some(
        (row) => row.includes(group) && new RegExp(`[ \`]${last}\``).test(row),
      );
      expect(named, path).to.equal(true);
    }
  });
});
