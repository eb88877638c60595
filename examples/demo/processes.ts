/**
 * The master and the executor of the demo: child processes that write to log files, die with the
 * demo even if it is killed, and are stopped one after the other. They do not share the terminal's
 * process group, so Ctrl-C reaches only the demo, which then decides the order.
 */
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { ChildGroups } from '@soda-scheduler/executor-sdk';
import { shown } from './screen.ts';

const LOG_TAIL_LINES = 8;

export interface ProcessOptions {
  readonly name: string;
  /** The script and its arguments. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** From SIGTERM to SIGKILL. */
  readonly stopGraceMs: number;
}

export class DemoProcess {
  /** Rejects when the process ends before `stop` was called; resolves when it ends after. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #stopGraceMs: number;
  #stopping = false;

  constructor({ name, args, env, logFile, stopGraceMs }: ProcessOptions) {
    this.#stopGraceMs = stopGraceMs;
    const log = openSync(logFile, 'a');
    const logged = readFileSync(logFile).length;
    // It is stopped by `stop`; what is wanted of the group is that it dies with this process.
    const groups = new ChildGroups(new AbortController().signal);
    const child = groups.spawn(process.execPath, args, {
      stdio: ['ignore', log, log],
      env: { ...inherited(), ...env },
    });
    closeSync(log);
    this.#child = child;
    this.ended = new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        if (this.#stopping) return resolve();
        const how = signal === null ? `with code ${code}` : `by ${signal}`;
        const text = readFileSync(logFile).subarray(logged).toString().trim();
        const tail = text.split('\n').slice(-LOG_TAIL_LINES).join('\n');
        reject(new Error(`The ${name} ended ${how}. The end of ${shown(logFile)}:\n\n${tail}`));
      });
    });
    // Everyone who waits for something races with this promise; nobody may be waiting just now.
    this.ended.catch(() => {});
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Resolves when the process is gone. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), this.#stopGraceMs);
    await this.ended.catch(() => {});
    clearTimeout(timer);
  }
}

/** The settings of the demo are its own: what the user's shell says to a real master is not. */
function inherited(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('SODA_')),
  );
}
