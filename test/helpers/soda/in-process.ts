/**
 * A command of `soda` in this process, which it takes for its own: its variables, its folder, its
 * streams. Commands come one after another. Not for those that run a master, nor for what only a
 * process has: signals, a reader that goes away, an end that something open is in the way of.
 */
import process from 'node:process';
import { Readable, Writable } from 'node:stream';
import { run } from '../../../cli/run.ts';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
  readonly input: string;
}

let last: Promise<unknown> = Promise.resolve();

export function runInProcess(args: readonly string[], around: Surroundings): Promise<Ended> {
  const ended = last.then(() => runAlone(args, around));
  last = ended.catch(() => undefined);
  return ended;
}

async function runAlone(
  args: readonly string[],
  { env, folder, input }: Surroundings,
): Promise<Ended> {
  const own = { env: process.env, folder: process.cwd() };
  const stdout = new Collected();
  const stderr = new Collected();
  const giveBack = replaced({ stdin: Readable.from([input]), stdout, stderr });
  process.env = env;
  process.chdir(folder);
  try {
    const code = await run(['node', 'soda', ...args]);
    return { code, out: stdout.text, err: stderr.text };
  } finally {
    process.chdir(own.folder);
    process.env = own.env;
    giveBack();
  }
}

class Collected extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

function replaced(streams: Readonly<Record<string, unknown>>): () => void {
  const own = Object.keys(streams).map(
    (name) => [name, Object.getOwnPropertyDescriptor(process, name)!] as const,
  );
  for (const [name, value] of Object.entries(streams)) {
    Object.defineProperty(process, name, { value, configurable: true });
  }
  return () => {
    for (const [name, descriptor] of own) Object.defineProperty(process, name, descriptor);
  };
}
