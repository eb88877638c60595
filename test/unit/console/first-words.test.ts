/** A page begins with some of its words: what it shows at first may need no others. */
import { expect } from 'chai';
import { build } from 'esbuild';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { enLater } from '../../../console/words/en/later.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MAIN = 'console/main.tsx';

describe('words of the console', () => {
  it('are there before the part of it that says them', async () => {
    const { outputs } = (
      await build({
        absWorkingDir: ROOT,
        entryPoints: [MAIN],
        outdir: 'nowhere',
        bundle: true,
        splitting: true,
        format: 'esm',
        jsx: 'automatic',
        jsxImportSource: 'preact',
        write: false,
        metafile: true,
      })
    ).metafile;
    const neededBy = (path: string): string[] => [
      path,
      ...(outputs[path]?.imports ?? [])
        .filter(({ kind }) => kind === 'import-statement')
        .flatMap((one) => neededBy(one.path)),
    ];
    const [main = ''] = Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === MAIN);
    const sources = [...new Set(neededBy(main))]
      .flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}))
      .filter((path) => path.startsWith('console/'));
    expect(sources).to.include('console/frame/app.tsx');
    expect(sources).to.not.include('console/pages/task/task.tsx');
    const names = Object.keys(enLater).join('|').replaceAll('.', '\\.');
    const saidLater = new RegExp(`(\\bt\\(\\s*|: )'(${names})'|="(${names})"`);
    for (const source of sources) {
      const [said = ''] = saidLater.exec(readFileSync(`${ROOT}/${source}`, 'utf8')) ?? [];
      expect(said, source).to.equal('');
    }
  });
});
