/**
 * The SDKs as their users get them: packed, installed in an empty folder, imported by plain Node.
 * They must come without the master's dependencies, and with nothing that is not for users.
 */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

const PACKAGES = ['protocol', 'executor-sdk', 'client'] as const;
const MASTERS_OWN = ['express', 'helmet', 'knex', 'libsql', 'mysql2', 'prom-client', 'winston'];
const NO_NETWORK = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|ETIMEDOUT/;

interface Packed {
  readonly name: string;
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

describe('the packages', function () {
  this.timeout(120_000);

  let folder: string;
  const packed = new Map<string, Packed>();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'soda-pack-'));
    const workspaces = PACKAGES.map((name) => `--workspace=${name}`);
    const { stdout } = await run(
      'npm',
      ['pack', '--json', '--ignore-scripts', `--pack-destination=${folder}`, ...workspaces],
      { cwd: root },
    );
    for (const entry of JSON.parse(stdout) as Packed[]) packed.set(entry.name, entry);
  });

  after(() => rm(folder, { recursive: true, force: true }));

  for (const name of PACKAGES) {
    it(`${name} ships its types and nothing that is not for users`, async () => {
      const paths = packed.get(`@soda-scheduler/${name}`)?.files.map((file) => file.path) ?? [];
      const manifest = JSON.parse(await readFile(join(root, name, 'package.json'), 'utf8')) as {
        exports: Record<string, { types: string; default: string }>;
      };
      for (const entry of Object.values(manifest.exports)) {
        expect(paths).to.include(entry.types.slice(2));
        expect(paths).to.include(entry.default.slice(2));
      }
      expect(paths).to.include('LICENSE');
      const junk = paths.filter(
        (path) => !/^(package\.json|README\.md|LICENSE|dist\/.*(\.js|\.d\.ts))$/.test(path),
      );
      expect(junk).to.deep.equal([]);
      expect(paths.filter((path) => path.includes('.test.'))).to.deep.equal([]);
    });
  }

  // npm packs a copy only if it lies in the folder of the package; it leaves links out.
  it('all have the licence of the whole', async () => {
    const licence = await readFile(join(root, 'LICENSE'), 'utf8');
    for (const name of [...PACKAGES, 'master', 'cli']) {
      expect(await readFile(join(root, name, 'LICENSE'), 'utf8'), name).to.equal(licence);
    }
  });

  for (const name of ['executor-sdk', 'client'] as const) {
    it(`${name} installs and loads without the master`, async function () {
      const project = join(folder, name);
      const tarballs = ['protocol', name].map((each) =>
        join(folder, packed.get(`@soda-scheduler/${each}`)?.filename ?? ''),
      );
      await mkdir(project);
      await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }');
      try {
        await run(
          'npm',
          [
            'install',
            '--ignore-scripts',
            '--prefer-offline',
            '--no-audit',
            '--no-fund',
            ...tarballs,
          ],
          { cwd: project },
        );
      } catch (error) {
        // The dependencies are neither in npm's cache nor within reach: nothing can be said.
        if (NO_NETWORK.test(String(error))) this.skip();
        throw error;
      }
      const found = MASTERS_OWN.filter((each) => existsSync(join(project, 'node_modules', each)));
      expect(found).to.deep.equal([]);

      const script = `console.log(Object.keys(await import('@soda-scheduler/${name}')).join())`;
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
        cwd: project,
      });
      expect(stdout.trim()).to.not.equal('');
    });
  }
});
