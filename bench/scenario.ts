/** What a scenario is given, and the table that it makes: a column for each store. */
import { setTimeout as delay } from 'node:timers/promises';
import Table from 'cli-table3';
import { endAll, whenLost } from './system.ts';

export interface BenchStore {
  readonly name: string;
  /** Of a fresh database; null: the embedded store, in a folder of the master's own. */
  url(): Promise<string | null>;
}

export interface Scenario {
  readonly stores: readonly BenchStore[];
  /** 1: all of it, 0.1 with `--quick`. */
  readonly scale: number;
  /** How often what varies is measured. */
  readonly roundCount: number;
}

/** No measurement takes half as long: a master may wait for a disk for ever. */
const MEASUREMENT_MS_MAX = 20 * 60_000;

/**
 * A line on stderr for each measurement: some take minutes. One that fails is told there, gives null, and the rest go
 * on: the run ends with 1.
 */
export async function attempt<Result>(
  name: string,
  measure: () => Promise<Result>,
): Promise<Result | null> {
  const begun = performance.now();
  const over = new AbortController();
  const seconds = (): string => `${((performance.now() - begun) / 1_000).toFixed(0)} s`;
  try {
    const result = await Promise.race([whenLost(), tooLate(over.signal), measure()]);
    process.stderr.write(`${name}: ${seconds()}\n`);
    return result;
  } catch (error) {
    console.error(`${name}: failed after ${seconds()}:`, error);
    process.exitCode = 1;
    await endAll();
    return null;
  } finally {
    over.abort();
  }
}

async function tooLate(signal: AbortSignal): Promise<never> {
  await delay(MEASUREMENT_MS_MAX, undefined, { signal });
  throw new Error(`no end within ${MEASUREMENT_MS_MAX / 60_000} minutes`);
}

export const FAILED = 'failed';

export function tableOf(heads: readonly string[]): Table.Table {
  return new Table({ head: [...heads], style: { head: [], border: [] } });
}

/** Asks the stores one after the other. */
export class StoreTable {
  readonly table: Table.Table;
  readonly #stores: readonly BenchStore[];

  constructor(stores: readonly BenchStore[], corner = '') {
    this.#stores = stores;
    this.table = tableOf([corner, ...stores.map(({ name }) => name)]);
  }

  async row(name: string, measure: (databaseUrl: string | null) => Promise<string>): Promise<void> {
    const cells: string[] = [];
    for (const store of this.#stores) {
      const cell = await attempt(`${name}, ${store.name}`, async () => measure(await store.url()));
      cells.push(cell ?? FAILED);
    }
    this.table.push([name, ...cells]);
  }
}

/** Of an even number of values that between the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[sorted.length - half - 1], sorted[half]];
  return (low + high) / 2;
}

/** In words: the median, and from the least to the most where there are more. */
export function rangeOf(values: readonly number[], digits = 0): string {
  const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)].map(
    (value) => value.toFixed(digits),
  );
  return values.length === 1 ? `${middle}` : `${middle} (${least} to ${most})`;
}
