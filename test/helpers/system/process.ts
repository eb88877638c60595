/** A real process of the system under test: what it says, line by line, and how it ended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { eventually, Hopeless } from './wait.ts';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Line {
  readonly text: string;
  /** The fields of a line that is a JSON object; empty for any other. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface ProcessOptions {
  readonly name: string;
  /** The script and its arguments. */
  readonly args: readonly string[];
  /** A program and its arguments that runs the script, and becomes it. */
  readonly under?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly onLine?: (line: Line) => void;
}

export class SystemProcess {
  readonly name: string;
  readonly lines: Line[] = [];
  readonly exited: Promise<Exit>;
  exit: Exit | null = null;
  readonly #child: ChildProcess;

  constructor({ name, args, under = [], env = {}, onLine }: ProcessOptions) {
    this.name = name;
    const [program = '', ...rest] = [...under, process.execPath, ...args];
    const child = spawn(program, rest, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    });
    this.#child = child;
    const endWithUs = (): void => void child.kill('SIGKILL');
    process.once('exit', endWithUs);
    child.stdin.on('error', () => undefined);
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input }).on('line', (text) => {
        const line = { text, fields: fieldsOf(text) };
        this.lines.push(line);
        onLine?.(line);
      });
    }
    this.exited = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        process.off('exit', endWithUs);
        this.exit = { code, signal };
        resolve(this.exit);
      });
    });
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(`${this.name} was not started`);
    return this.#child.pid;
  }

  /** Resolves with the first line, said already or yet to come, that fits. */
  said(what: string, fits: (line: Line) => boolean, withinMs?: number): Promise<Line> {
    const probe = (): Line | undefined => {
      const line = this.lines.find(fits);
      if (line === undefined) this.expectAlive();
      return line;
    };
    return eventually(`${this.name} says ${what}`, probe, withinMs);
  }

  /** For what waits for something that only a living process can bring about. */
  expectAlive(): void {
    if (this.exit !== null) throw new Hopeless(`${this.name} has ended:\n${this.tail()}`);
  }

  write(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends the signal and resolves once the process is gone. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<Exit> {
    this.#child.kill(signal);
    return this.exited;
  }

  tail(count = 30): string {
    return this.lines
      .slice(-count)
      .map(({ text }) => `      ${this.name}: ${text}`)
      .join('\n');
  }
}

function fieldsOf(text: string): Line['fields'] {
  if (!text.startsWith('{')) return {};
  try {
    return JSON.parse(text) as Line['fields'];
  } catch {
    return {};
  }
}
