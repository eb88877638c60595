/** The `soda` command, without the variables of whoever runs the tests. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { FakeHttpApi } from '../fake-http-api.ts';
import { type Ended, runInProcess } from './in-process.ts';

export const soda = join(fileURLToPath(new URL('../../..', import.meta.url)), 'cli/bin/soda.js');

const cleanEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('SODA_')),
);

export class SodaCommand {
  readonly #folder: string;
  readonly #children = new Set<ChildProcessWithoutNullStreams>();

  /** `folder`: where its commands are run. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The built command, as a process. */
  start(
    args: readonly string[],
    env: Record<string, string> = {},
    script = soda,
  ): ChildProcessWithoutNullStreams {
    const child = spawn(process.execPath, [script, ...args], {
      env: { ...cleanEnv, ...env },
      cwd: this.#folder,
    });
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return child;
  }

  /** The built command, as a process, once it has ended. */
  async spawned(
    args: readonly string[],
    env: Record<string, string> = {},
    input = '',
  ): Promise<Ended> {
    const child = this.start(args, env);
    child.stdin.end(input);
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    return { code, out, err };
  }

  /** What the process would print, and how it would end, by a call: a process costs a hundred times that. */
  run(args: readonly string[], env: Record<string, string> = {}, input = ''): Promise<Ended> {
    return runInProcess(args, { env: { ...cleanEnv, ...env }, folder: this.#folder, input });
  }

  killAll(): void {
    for (const child of this.#children) child.kill('SIGKILL');
  }
}

/** For the suite that calls this: commands in a folder of its own, and the master they talk to. */
export function commandSuite() {
  const api = new FakeHttpApi();
  const folder = join(tmpdir(), `soda-cli-${randomUUID()}`);
  const command = new SodaCommand(folder);
  before(() => mkdir(folder));
  beforeEach(async () => {
    api.clear();
    await api.start();
  });
  afterEach(async () => {
    command.killAll();
    await api.stop();
  });
  after(() => rm(folder, { recursive: true }));
  return {
    api,
    folder,
    start: (args: readonly string[], env: Record<string, string> = {}, script?: string) =>
      command.start(args, { SODA_URL: api.url, ...env }, script),
    spawned: (args: readonly string[], env: Record<string, string> = {}, input = '') =>
      command.spawned(args, { SODA_URL: api.url, ...env }, input),
    run: (args: readonly string[], env: Record<string, string> = {}, input = '') =>
      command.run(args, { SODA_URL: api.url, ...env }, input),
  };
}
