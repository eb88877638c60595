/**
 * A process of its own that runs a thousand tasks and tells what that took of the machine: nothing else runs in it.
 * Arguments: the URL of the database, and how many of these processes it has seen.
 */
import { readFileSync } from 'node:fs';
import { openCountedStore } from '../counted-store.ts';
import { startEngine } from './thousand-tasks.ts';

/** The first of them is not measured: much is compiled in it. */
const ROUND_COUNT = 2;

export interface Spending {
  /** Of the heap. True while nothing is collected: the young generation has to be larger than all of it. */
  readonly allocatedBytes: number;
  /** Given to the kernel to be written, to files and sockets, and calls for it. Of Linux. */
  readonly writtenBytes: number;
  readonly writeCalls: number;
  readonly readCalls: number;
}

/** Since the process began. */
function spent(): Spending {
  const io = readFileSync('/proc/self/io', 'utf8');
  const of = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(io)?.[1]);
  return {
    allocatedBytes: process.memoryUsage().heapUsed,
    writtenBytes: of('wchar'),
    writeCalls: of('syscw'),
    readCalls: of('syscr'),
  };
}

const [url = '', processCount] = process.argv.slice(2);
const { store } = openCountedStore(url);
const tasks = await startEngine(store, Number(processCount) * ROUND_COUNT);
await tasks.run(null);
const before = spent();
await tasks.run(null);
const after = spent();
const since = (name: keyof Spending): number => after[name] - before[name];
process.send?.({
  allocatedBytes: since('allocatedBytes'),
  writtenBytes: since('writtenBytes'),
  writeCalls: since('writeCalls'),
  readCalls: since('readCalls'),
} satisfies Spending);
await tasks.stop();
await store.close();
