/** `cli/bin/soda.js`: which of the built files it runs, and what it says where none can be run. */
import { expect } from 'chai';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { soda } from '../../helpers/soda/command.ts';

const BUNDLE = 'cli/dist/soda.bundle.js';
const MODULES = 'cli/dist/soda.js';
const COMPILED = 'client/dist/client.tsbuildinfo';

describe('the file that runs soda', () => {
  let clone: string;

  beforeEach(async () => {
    clone = await mkdtemp(join(tmpdir(), 'soda-bin-'));
    await write('package.json', '{ "type": "module" }');
    await write('cli/bin/soda.js', '');
    await copyFile(soda, join(clone, 'cli/bin/soda.js'));
  });

  afterEach(() => rm(clone, { recursive: true, force: true }));

  async function write(file: string, content: string, atSecond = 1): Promise<void> {
    const path = join(clone, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    await utimes(path, atSecond, atSecond);
  }

  async function ran(): Promise<{ said: string; code: number | null }> {
    const child = spawn(process.execPath, [join(clone, 'cli/bin/soda.js')]);
    const [out, wrong, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    return { said: out + wrong, code };
  }

  it('says in one line that it has not been built', async () => {
    const said = 'soda: not built yet; run this first: npm run build\n';
    expect(await ran()).to.deep.equal({ said, code: 1 });
  });

  it('runs the few files that all was put into, unless something was compiled since', async () => {
    await write(MODULES, 'console.log("modules")');
    expect(await ran(), 'of a package').to.deep.equal({ said: 'modules\n', code: 0 });
    await write(COMPILED, '', 1);
    await write(BUNDLE, 'console.log("bundle")', 2);
    expect(await ran()).to.deep.equal({ said: 'bundle\n', code: 0 });
    await write(COMPILED, '', 3);
    expect(await ran()).to.deep.equal({ said: 'modules\n', code: 0 });
  });

  it('reads YAML, of which the built files load a package that has no names of its own', async () => {
    const child = spawn(process.execPath, [soda, 'type', 'apply', '-f', '-']);
    child.stdin.end('# nothing\n');
    const said = await text(child.stderr);
    expect(said).to.equal('soda: stdin: there is no definition in it\n');
  });

  it('says how many files it must be allowed to have open', async () => {
    await write(MODULES, 'throw Object.assign(new Error("too many"), { code: "EMFILE" })');
    const { said, code } = await ran();
    expect(said).to.match(/^soda: this process may have \w+ files open, and needs 128: .*\n$/);
    expect(code).to.equal(2);
  });
});
