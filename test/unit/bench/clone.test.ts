/** Which folders the benchmark takes for another clone. */
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageOf, problemOf } from '../../../bench/beside/clone.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

describe('another clone', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'soda-clone-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is one that is installed and built, and its packages are those that it exports', async () => {
    expect(problemOf(root)).to.equal(null);
    expect((await packageOf('master', root)).runMaster).to.be.a('function');
    expect((await packageOf('executor-sdk', root)).createExecutor).to.be.a('function');
  });

  it('is not just any folder, nor one that is not there', () => {
    const missing =
      'is not a clone of Soda that is installed and built: @soda-scheduler/master is not there';
    expect(problemOf(folder)).to.equal(`${folder} ${missing}`);
    expect(problemOf(join(folder, 'none'))).to.equal(`${join(folder, 'none')} ${missing}`);
  });

  it('is not one that has not been built', () => {
    const scope = join(folder, 'node_modules/@soda-scheduler');
    mkdirSync(scope, { recursive: true });
    mkdirSync(join(folder, 'master'));
    symlinkSync(join(folder, 'master'), join(scope, 'master'));
    expect(problemOf(folder)).to.match(/not a clone of Soda that is installed and built/);
  });

  it('does not borrow packages of this one', () => {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    expect(problemOf(folder)).to.match(/would run @soda-scheduler\/master of another folder/);
    expect(problemOf(join(root, 'bench'))).to.match(
      /would run @soda-scheduler\/master of another folder/,
    );
  });
});
