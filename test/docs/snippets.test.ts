/**
 * What the pages tell readers to type, typed: against a real `soda dev`, in the order of the page.
 * What cannot be run is held against the types, or parsed.
 */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { eventually } from '../helpers/system/wait.ts';
import { type Block, blocksOf, root } from './document.ts';
import { Commands } from './commands.ts';
import { Reader } from './reader.ts';

const followed = [
  'README.md',
  'docs/tutorial.md',
  'docs/how-to/write-an-executor.md',
  'docs/how-to/types.md',
  'docs/how-to/namespaces.md',
  'docs/how-to/people-and-roles.md',
  'docs/http-api.md',
  'docs/callbacks.md',
  'docs/how-to/install.md',
  'docs/how-to/fair-shares.md',
  'docs/how-to/follow-events.md',
  'examples/callback-receiver/README.md',
];
/** Each command of these is a process: the first that anybody reads, and those with a receiver that takes its time to start. */
const slow = ['README.md', 'docs/callbacks.md', 'examples/callback-receiver/README.md'];
const packages = ['protocol', 'client', 'executor-sdk', 'master', 'cli'];
const checked = [
  ...followed,
  'docs/operations.md',
  'docs/how-to/rolling-upgrade.md',
  'docs/how-to/why-a-task-waits.md',
  'docs/why.md',
  ...packages.map((name) => `${name}/README.md`),
];
const CODE = /^(sh|bash|ts|js)$/;

describe('the pages', function () {
  const commands = new Commands();
  before(() => commands.listen());
  after(() => commands.close());

  it('have no code that is neither run nor checked', () => {
    const unmarked = followed
      .flatMap(blocksOf)
      .filter(({ language, mark }) => language === '' || (CODE.test(language) && mark === null));
    expect(unmarked.map(({ place }) => place)).to.deep.equal([]);
  });

  it('parse', () => {
    const broken = checked.flatMap(blocksOf).filter((block) => problemOf(block) !== null);
    expect(broken.map((block) => `${block.place}: ${problemOf(block)}`)).to.deep.equal([]);
  });

  it('have the types they show', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'soda-types-'));
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    const blocks = checked.flatMap(blocksOf).filter(({ language }) => language === 'ts');
    for (const [index, { code, place }] of blocks.entries()) {
      await writeFile(join(folder, `block-${index}.mts`), `${code}\nexport {}; // ${place}\n`);
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    await rm(folder, { recursive: true });
    expect(blocks).to.not.deep.equal([]);
    expect(stdout).to.equal('');
  });

  for (const page of followed) {
    it(`work as written: ${page}`, async () => {
      const reader = await Reader.arrive(slow.includes(page) ? null : commands.port);
      try {
        for (const block of blocksOf(page)) await reader.follow(block);
        if (page === 'docs/http-api.md') await expectAllRoutes(page, reader);
      } finally {
        await reader.leave();
      }
    });
  }
});

const tsconfig = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    checkers: 1,
    allowImportingTsExtensions: true,
  },
};

/** Routes are headings of the page, such as `POST /scheduler/v2/task/submit`. */
async function expectAllRoutes(page: string, { env }: Reader): Promise<void> {
  const document = await eventually('the master answers', async () => {
    const answer = await fetch(`${env['SODA_URL']}/openapi.json`);
    return (await answer.json()) as { paths: Record<string, Record<string, unknown>> };
  });
  // Those of a namespace are told once for all.
  const paths = Object.entries(document.paths).filter(([path]) => !path.includes('/ns/'));
  const served = paths.flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const text = readFileSync(join(root, page), 'utf8');
  const told = [...text.matchAll(/^#+ `((?:GET|POST|PUT|PATCH|DELETE) [^`]+)`$/gm)].map(
    ([, route]) => route,
  );
  expect(told).to.have.members(served);
}

function problemOf({ language, code, mark, argument }: Block): string | null {
  if (mark === 'elsewhere') return existsSync(join(root, argument)) ? null : `no ${argument}`;
  if (mark === 'settings' && !/^(export (SODA_URL|HOOK_PORT|API)=\S+\n)+$/.test(code)) {
    return 'sets something else';
  }
  try {
    if (language === 'json') JSON.parse(code);
    if (language === 'yaml') {
      const errors = parseAllDocuments(code).flatMap((document) => document.errors);
      return errors[0]?.message ?? null;
    }
    if (language !== 'sh') return null;
    const { status, stderr } = spawnSync('bash', ['-n'], { input: code, encoding: 'utf8' });
    return status === 0 ? null : stderr;
  } catch (error) {
    return String(error);
  }
}
