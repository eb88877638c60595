/** What was released last is there as it was packed, for the tests of this folder: a release is forgotten by nobody. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const root = new URL('../../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

/** The newest version that this tree comes after: the first of the changelog, but for the one that it is about to be. */
function releasedBefore(changelog: string, version: string): string | undefined {
  const headings = [...changelog.matchAll(/^## \[([^\]]+)\]/gm)].map(([, name = '']) => name);
  if (headings[0] === 'Unreleased') return headings[1];
  return headings.find((name) => name !== version);
}

describe('fixtures of the release before', () => {
  it('are those of the newest version that is out', () => {
    expect(releasedBefore('## [Unreleased]\n\n## [2.1.0]\n\n## [2.0.0]\n', '2.1.0')).to.equal(
      '2.1.0',
    );
    expect(releasedBefore('## [2.1.0]\n\n## [2.0.0]\n', '2.1.0')).to.equal('2.0.0');
    const { version } = JSON.parse(read('package.json')) as { version: string };
    const released = releasedBefore(read('CHANGELOG.md'), version);
    const folders = readdirSync(new URL('test/fixtures/', root), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    expect(folders.at(-1), 'pack it: test/fixtures/README.md').to.equal(released);
    const packed = ['protocol', 'executor-sdk', 'client'].map(
      (name) => `soda-scheduler-${name}-${released}.tgz`,
    );
    expect(readdirSync(new URL(`test/fixtures/${released}/`, root))).to.include.members([
      ...packed,
      'transcript.jsonl',
    ]);
    expect(readdirSync(new URL('test/fixtures/', root))).to.include.members(
      ['mysql', 'sqlite'].map((kind) => `store-${released}.${kind}.sql`),
    );
  });
});
