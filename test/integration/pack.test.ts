/**
 * The packages as their users get them: packed in a clone that was not built, installed in an empty
 * folder, imported by plain Node. The SDKs must come without the master's dependencies, and all of
 * them with nothing that is not for users.
 */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { blocksOf } from '../docs/document.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

const PACKAGES = [
  'protocol',
  'address-policy',
  'executor-sdk',
  'client',
  'executors',
  'master',
  'cli',
] as const;
const MASTERS_OWN = ['helmet', 'libsql', 'mysql2', 'prom-client', 'router', 'tarn', 'winston'];
/** What npm does beside what it is asked for. */
const NOTHING_ELSE = {
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
};
const NO_NETWORK = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|ETIMEDOUT/;

interface Packed {
  readonly name: string;
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** What git knows, and the installed modules: as after `git clone` and `npm ci`, and no build. */
async function cloneTo(folder: string): Promise<void> {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const { stdout } = await run('git', list, { cwd: root });
  // One that is deleted and not committed yet is still listed.
  const files = stdout.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
  for (const place of new Set(files.map(dirname))) {
    mkdirSync(join(folder, place), { recursive: true });
  }
  for (const file of files) copyFileSync(join(root, file), join(folder, file));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
}

describe('the packages', function () {
  let folder: string;
  const packed = new Map<string, Packed>();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'soda-pack-'));
    await cloneTo(join(folder, 'clone'));
    // No --ignore-scripts: what is packed is built by the packing.
    const stdout = await follow(0, { npm_config_json: 'true' });
    for (const entry of JSON.parse(stdout) as Packed[]) packed.set(entry.name, entry);
  });

  after(() => rm(folder, { recursive: true, force: true }));

  /** Types a block of the page about installing, in the clone. Its modules are there already. */
  async function follow(block: number, env: Record<string, string>): Promise<string> {
    const told = blocksOf('docs/how-to/install.md').filter(({ mark }) => mark === 'elsewhere');
    const script = told[block]?.code.replace(/^npm ci$/m, '') ?? 'exit 1';
    const options = {
      cwd: join(folder, 'clone'),
      env: { ...process.env, ...NOTHING_ELSE, ...env },
    };
    return (await run('bash', ['-euc', script], options)).stdout;
  }

  for (const name of PACKAGES) {
    it(`${name} ships its types and nothing that is not for users`, async () => {
      const paths = packed.get(`@soda-scheduler/${name}`)?.files.map((file) => file.path) ?? [];
      const manifest = JSON.parse(await readFile(join(root, name, 'package.json'), 'utf8')) as {
        exports?: Record<string, { types: string; default: string }>;
      };
      for (const entry of Object.values(manifest.exports ?? {})) {
        expect(paths).to.include(entry.types.slice(2));
        expect(paths).to.include(entry.default.slice(2));
      }
      expect(paths).to.include('LICENSE').and.to.include('README.md');
      const junk = paths.filter(
        (path) =>
          !/^(package\.json|README\.md|LICENSE|bin\/[\w-]+\.js|dist\/.*(\.js|\.d\.ts))$/.test(
            path,
          ) && !(name === 'master' && /^dist\/(console|docs)\//.test(path)),
      );
      expect(junk).to.deep.equal([]);
      expect(paths.filter((path) => path.includes('.test.'))).to.deep.equal([]);
    });
  }

  it('master ships the console: a page, what it begins with, and what is loaded later', () => {
    const paths = packed.get('@soda-scheduler/master')?.files.map((file) => file.path) ?? [];
    const inConsole = paths
      .filter((path) => path.startsWith('dist/console/'))
      .map((path) => basename(path));
    const kinds = inConsole.map((name) => name.replace(/-\w+\./, '.'));
    const later = ['en.js', 'zh.js', 'plot.js', 'seldom.js'];
    expect(kinds).to.include.members(['index.html', 'app.js', ...later, 'style.css', 'icon.svg']);
  });

  it('master ships the documentation, made of the pages of its version', () => {
    const paths = packed.get('@soda-scheduler/master')?.files.map((file) => file.path) ?? [];
    const inDocs = paths.filter((path) => path.startsWith('dist/docs/'));
    expect(inDocs).to.include.members(['dist/docs/index.html', 'dist/docs/zh-operations.html']);
    expect(inDocs.length).to.be.above(90);
  });

  // npm packs a copy only if it lies in the folder of the package; it leaves links out.
  it('all have the licence of the whole', async () => {
    const licence = await readFile(join(root, 'LICENSE'), 'utf8');
    for (const name of PACKAGES) {
      expect(await readFile(join(root, name, 'LICENSE'), 'utf8'), name).to.equal(licence);
    }
  });

  it('of the SDK and the client install and load without the master', async function () {
    const project = join(folder, 'without-master');
    const tarballs = ['protocol', 'executor-sdk', 'client'].map((each) =>
      join(folder, 'my-project/vendor', packed.get(`@soda-scheduler/${each}`)?.filename ?? ''),
    );
    await mkdir(project);
    await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }');
    const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
    try {
      await run('npm', ['install', ...options, ...tarballs], { cwd: project });
    } catch (error) {
      // The dependencies are neither in npm's cache nor within reach: nothing can be said.
      if (NO_NETWORK.test(String(error))) this.skip();
      throw error;
    }
    const found = MASTERS_OWN.filter((each) => existsSync(join(project, 'node_modules', each)));
    expect(found).to.deep.equal([]);

    const namesOf = (name: string) =>
      `Object.keys(await import('@soda-scheduler/${name}')).length > 0`;
    const script = `console.log(${namesOf('executor-sdk')}, ${namesOf('client')})`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
      cwd: project,
    });
    expect(stdout).to.equal('true true\n');
  });

  it('install in a project of their own as the page says', async function () {
    const project = join(folder, 'my-project');
    try {
      await follow(1, { npm_config_prefer_offline: 'true' });
    } catch (error) {
      if (NO_NETWORK.test(String(error))) this.skip();
      throw error;
    }
    const hello = `import { createExecutor } from '@soda-scheduler/executor-sdk';
      import { createClient } from '@soda-scheduler/client';
      console.log(typeof createExecutor, typeof createClient);`;
    await writeFile(join(project, 'hello.mjs'), hello);
    const said = await run('npx', ['--no-install', '-c', 'soda --version && node hello.mjs'], {
      cwd: project,
    });
    expect(said.stdout).to.match(/^\d+\.\d+\.\d+\nfunction function\n$/);
  });

  // npm drops what it does not like with a warning, and publishes the rest: the name of a command, for one.
  it('are published whole, by the version that a release gives them', async function () {
    const clone = join(folder, 'clone');
    const version = '99.0.0';
    const release = (wanted: string) =>
      run(process.execPath, ['scripts/release.mjs', wanted], { cwd: clone });
    const refusalOf = (wanted: string) =>
      release(wanted).then(
        () => expect.fail(`${wanted} is not refused`),
        ({ stderr }: { stderr: string }) => stderr,
      );
    const edit = async (file: string, from: RegExp, to: string) => {
      const path = join(clone, file);
      await writeFile(path, (await readFile(path, 'utf8')).replace(from, to));
    };
    const untrue = /registry yet: (.*)\.\n$/.exec(await refusalOf(version))?.[1]?.split(', ') ?? [];
    expect(untrue).to.include.members(['README.md', 'docs/how-to/install.md', 'cli/README.md']);
    const words = /not on\s+a\s+registry\s+yet|还没有发布到 npm/;
    for (const file of untrue) await edit(file, words, 'on a registry');
    // One place of many that lacks it: nothing else is changed either, and the next run does all.
    const [place, form] = ['executor-sdk/executor-options.ts', 'soda-node/'];
    await edit(place, new RegExp(form), 'soda-knot/');
    expect(await refusalOf(version)).to.include(`${place} does not say`);
    await edit(place, /soda-knot\//, form);
    for (const file of ['CHANGELOG.md', 'package.json', 'deploy/README.md']) {
      const [now, before] = [join(clone, file), join(root, file)].map((path) =>
        readFile(path, 'utf8'),
      );
      expect(await now, file).to.equal(await before);
    }
    try {
      await release(version);
    } catch (error) {
      if (NO_NETWORK.test(String(error))) this.skip();
      throw error;
    }
    const publish = ['publish', '--workspaces', '--dry-run', '--ignore-scripts', '--offline'];
    const { stdout, stderr } = await run('npm', publish, { cwd: clone });
    const published = stdout.split('\n').filter((line) => line.startsWith('+ '));
    expect(published).to.have.members(
      PACKAGES.map((name) => `+ @soda-scheduler/${name}@${version}`),
    );
    expect(stderr).to.not.match(/corrected|invalid|removed/);
    const old = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      version: string;
    };
    for (const file of [
      'package-lock.json',
      'deploy/helm/soda/Chart.yaml',
      'client/package.json',
    ]) {
      const text = await readFile(join(clone, file), 'utf8');
      expect(text, file).to.include(version);
      expect(text, file).to.not.match(new RegExp(`soda-scheduler/[\\w-]+": "${old.version}"`));
    }
    expect((await release(version)).stdout).to.equal(`Everything is at ${version} already.\n`);
    expect(await refusalOf('1.9.9')).to.equal(`1.9.9 is before ${version}.\n`);
    const workflow = await readFile(join(root, '.github/workflows/release.yml'), 'utf8');
    const { jobs } = parse(workflow) as { jobs: Record<string, { steps: { run?: string }[] }> };
    const forge = { GITHUB_SERVER_URL: 'https://git.example', GITHUB_REPOSITORY: 'a/soda' };
    const follow = (job: string, says: string, env: NodeJS.ProcessEnv = {}) => {
      const step = jobs[job]?.steps.find((one) => one.run?.includes(says))?.run ?? '';
      const given = { ...process.env, ...forge, GITHUB_REF_NAME: `v${version}`, ...env };
      return run('bash', ['-eo', 'pipefail', '-c', step], { cwd: clone, env: given });
    };
    // A registry that has one of them already, from a run that was broken off.
    const bin = join(folder, 'registry');
    await mkdir(bin);
    const registry = `#!/bin/sh
      case "$1 $2" in
        "view @soda-scheduler/client@${version}") echo ${version} ;;
        view*) exit 1 ;;
        publish*) echo "$@" >> "${bin}/published" ;;
        *) PATH="\${PATH#*:}" exec npm "$@" ;;
      esac\n`;
    await writeFile(join(bin, 'npm'), registry, { mode: 0o755 });
    await follow('publish', 'npm publish', { PATH: `${bin}:${process.env['PATH']}` });
    expect((await readFile(join(bin, 'published'), 'utf8')).trim().split('\n')).to.have.members(
      PACKAGES.filter((name) => name !== 'client').map(
        (name) => `publish --workspace @soda-scheduler/${name}`,
      ),
    );
    await follow('release', '> notes.md');
    const notes = await readFile(join(clone, 'notes.md'), 'utf8');
    const changes = await readFile(join(root, 'CHANGELOG.md'), 'utf8');
    const [, unreleased = ''] = /^## \[Unreleased\]\n([\s\S]*?)^## \[/m.exec(changes) ?? [];
    // Where it is read, nothing lies beside it.
    const tagged = `https://git.example/a/soda/blob/v${version}/`;
    expect(notes).to.include(`](${tagged}docs/how-to/upgrade.md)`);
    expect(notes).not.to.match(/\]\((?!https?:)/);
    expect(notes.replaceAll(tagged, '').trim()).to.equal(unreleased.trim());
  });

  it('have a list of what is in them, without what only builds and tests them', async () => {
    interface Component {
      readonly name: string;
      readonly hashes?: readonly unknown[];
      readonly licenses?: readonly unknown[];
    }
    const { stdout } = await run('npm', ['run', '-s', 'sbom'], { cwd: root, maxBuffer: 2 ** 26 });
    const list = JSON.parse(stdout) as { bomFormat: string; components: Component[] };
    expect(list.bomFormat).to.equal('CycloneDX');
    const names = list.components.map(({ name }) => name);
    expect(names).to.include.members(['ws', 'zod', 'undici', 'libsql', 'commander']);
    expect(
      names.filter((name) => /^(mocha|typescript|markdown-it|esbuild)$/.test(name)),
    ).to.deep.equal([]);
    for (const { name, hashes = [], licenses = [] } of list.components) {
      if (hashes.length > 0) expect(licenses, name).to.have.length.above(0);
    }
  });
});
