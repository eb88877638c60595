/** The packages of an earlier release, installed without a registry: see test/fixtures/README.md. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { NamespaceCalls, SodaClient, verifyCallback } from '@soda-scheduler/client';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const packages = ['protocol', 'executor-sdk', 'client'];

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** What 2.0.0 had of the client of today. */
export interface ReleasedClient {
  createClient(options: {
    url: string;
    token?: string;
    retryCount?: number;
  }): Omit<
    SodaClient,
    'attempt' | 'page' | 'waitForDrain' | 'changeExecutor' | keyof NamespaceCalls
  >;
  readonly verifyCallback: typeof verifyCallback;
}

/** A folder in which a program that is copied there finds the packages of this release. */
export async function installReleased(version: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `soda-${version}-`));
  const scope = join(folder, 'node_modules/@soda-scheduler');
  const needs = new Map<string, string>();
  for (const name of packages) {
    const into = join(scope, name);
    await mkdir(into, { recursive: true });
    const packed = join(root, `test/fixtures/${version}/soda-scheduler-${name}-${version}.tgz`);
    await run('tar', ['-xzf', packed, '-C', into, '--strip-components=1']);
    const { dependencies } = await manifestOf(into);
    for (const [need, wanted] of Object.entries(dependencies ?? {})) needs.set(need, wanted);
  }
  for (const [name, wanted] of needs) {
    if (name.startsWith('@soda-scheduler/')) continue;
    const ours = join(root, 'node_modules', name);
    const { version: found } = await manifestOf(ours);
    // Another major version would test that one, and not what was released.
    if (found.split('.')[0] !== wanted.split('.')[0]) {
      throw new Error(`${version} needs ${name} ${wanted}, and here is ${found}`);
    }
    await mkdir(dirname(join(folder, 'node_modules', name)), { recursive: true });
    await symlink(ours, join(folder, 'node_modules', name));
  }
  return folder;
}

export async function releasedClient(folder: string): Promise<ReleasedClient> {
  const entry = join(folder, 'node_modules/@soda-scheduler/client/dist/index.js');
  return (await import(pathToFileURL(entry).href)) as ReleasedClient;
}

async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
}
