/**
 * Somebody who follows a page to the letter: a folder with the packages installed, a shell, and as
 * many more terminals as the page asks for. Whatever was started ends with `leave`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, Hopeless } from '../helpers/system/wait.ts';
import { NPX } from './commands.ts';
import { type Block, missingLine, root } from './document.ts';

const BLOCK_WITHIN_MS = 60_000;

/** A shell, or a terminal with one command. In a process group of its own. */
class Terminal {
  said = '';
  ended = false;
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;

  constructor(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn('bash', args, { cwd, env, detached: true });
    for (const output of [this.#child.stdout, this.#child.stderr]) {
      output?.setEncoding('utf8').on('data', (text: string) => {
        this.said += text;
      });
    }
    this.#child.stdin?.on('error', () => undefined);
    this.#child.once('exit', () => {
      this.ended = true;
    });
    this.#closed = once(this.#child, 'close');
  }

  type(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  async close(): Promise<void> {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // The group is gone already.
    }
    await this.#closed;
  }
}

export class Reader {
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly #shell: Terminal;
  readonly #terminals: Terminal[];
  /** Says what the last block printed. */
  #printed: () => string = () => '';
  #isPrinting = false;
  #count = 0;

  private constructor(
    folder: string,
    env: Readonly<Record<string, string>>,
    callsPort: number | null,
  ) {
    this.folder = folder;
    this.env = env;
    this.#shell = this.#open(['--norc'], callsPort === null ? {} : { CALLS_PORT: `${callsPort}` });
    this.#terminals = [this.#shell];
    this.#shell.type('exec 2>&1; set -eo pipefail');
  }

  /** `callsPort`: where commands of `soda` are run; null: each is a process. */
  static async arrive(callsPort: number | null): Promise<Reader> {
    const folder = await mkdtemp(join(tmpdir(), 'soda-docs-'));
    // As npm would install them.
    await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
    await symlink(join(root, 'cli/bin/soda.js'), join(folder, 'node_modules/.bin/soda'));
    await mkdir(join(folder, 'bin'));
    await writeFile(join(folder, 'bin/npx'), NPX, { mode: 0o755 });
    for (const name of ['node_modules/@soda-scheduler', 'examples', 'cli']) {
      await symlink(join(root, name), join(folder, name));
    }
    const [port = 0, hookPort = 0] = await freePorts(2);
    const url = `http://127.0.0.1:${port}`;
    const env = { SODA_PORT: String(port), SODA_URL: url, HOOK_PORT: String(hookPort) };
    return new Reader(folder, env, callsPort);
  }

  /** @throws if the page promised something else. */
  async follow(block: Block): Promise<void> {
    const { mark, argument, code, place } = block;
    if (mark === 'file') await writeFile(join(this.folder, argument), code);
    if (mark === 'run') await this.#run(code, place);
    if (mark === 'background') await this.#background(code);
    if (mark === 'says') await this.#compare(code, place);
  }

  async leave(): Promise<void> {
    await Promise.all(this.#terminals.map((terminal) => terminal.close()));
    await rm(this.folder, { recursive: true });
  }

  async #run(code: string, place: string): Promise<void> {
    const file = await this.#save(code);
    const from = this.#shell.said.length;
    const done = `:${file} is done:`;
    this.#shell.type(`source ./${file}; echo '${done}'`);
    const output = () => this.#shell.said.slice(from);
    await eventually(
      `${place} ends`,
      () => output().includes(done) || this.#shell.ended,
      BLOCK_WITHIN_MS,
    );
    if (!output().includes(done)) throw new Error(`${place} failed:\n${output()}`);
    const printed = output().split(done)[0] ?? '';
    this.#printed = () => printed;
    this.#isPrinting = false;
  }

  async #background(code: string): Promise<void> {
    const terminal = this.#open(['-e', await this.#save(code)]);
    this.#terminals.push(terminal);
    this.#printed = () => {
      if (terminal.ended) throw new Hopeless(`it has ended:\n${terminal.said}`);
      return terminal.said;
    };
    this.#isPrinting = true;
  }

  async #compare(expected: string, place: string): Promise<void> {
    const missing = () => missingLine(this.#printed(), expected);
    if (this.#isPrinting) return void (await eventually(place, () => missing() === null));
    const line = missing();
    if (line !== null) throw new Error(`${place}: "${line}" is not in:\n${this.#printed()}`);
  }

  async #save(code: string): Promise<string> {
    const file = `block-${++this.#count}.sh`;
    await writeFile(join(this.folder, file), code);
    return file;
  }

  #open(args: readonly string[], more: Readonly<Record<string, string>> = {}): Terminal {
    const { PATH = '', HOME = '' } = process.env;
    const quiet = { NO_COLOR: '1', npm_config_update_notifier: 'false' };
    const path = `${join(this.folder, 'bin')}:${PATH}`;
    return new Terminal(args, this.folder, { PATH: path, HOME, ...quiet, ...this.env, ...more });
  }
}

/** All open at once, so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
