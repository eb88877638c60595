/** What is measured of whom. */
/** Where its server comes from. */
export type ServerName =
  | 'redis always'
  | 'redis everysec'
  | 'postgres'
  | 'beanstalkd'
  | 'sqlite'
  | 'mariadb';

/**
 * One by one from 64 calls at a time to one worker, to ten, and to the best; to the best in batches; and fifty a second,
 * at an even pace, to ten.
 */
export const SHAPES = ['1', '10', 'best', 'batch', 'paced'] as const;
export type Shape = (typeof SHAPES)[number];

export const TITLES: Record<Shape, string> = {
  1: '1 worker',
  10: '10 workers',
  best: 'best',
  batch: 'batches',
  paced: '50/s, ms: p50, p99',
};

export interface Contender {
  readonly name: string;
  readonly module: string;
  readonly server: ServerName;
  readonly callback?: true;
  /** Tasks of one measurement; a shape that is absent is not measured. */
  readonly counts: Partial<Record<Shape, number>>;
}

/** Tasks a call, where they go in batches. */
export const BATCH_COUNT = 500;

const ours = (name: string, server: 'sqlite' | 'mariadb'): Contender[] => [
  {
    name: `Soda, ${name}: client SDK`,
    module: './soda.ts',
    server,
    counts: { 1: 3_000, 10: 8_000, best: 10_000, batch: 20_000, paced: 500 },
  },
  {
    name: `Soda, ${name}: client SDK, callback`,
    module: './soda.ts',
    server,
    callback: true,
    counts: { best: 8_000, batch: 12_000 },
  },
  {
    name: `Soda, ${name}: executors on the wire alone`,
    module: './soda-wire.ts',
    server,
    counts: { 1: 3_000, best: 10_000, batch: 20_000, paced: 500 },
  },
  {
    name: `Soda, ${name}: plain HTTP, callback`,
    module: './soda-http.ts',
    server,
    callback: true,
    counts: { best: 6_000 },
  },
];

const REDIS_COUNTS = { 1: 3_000, 10: 10_000, best: 15_000, paced: 500 };

const CONTENDERS: readonly Contender[] = [
  ...ours('SQLite', 'sqlite'),
  ...ours('MariaDB', 'mariadb'),
  ...(['always', 'everysec'] as const).flatMap((fsync): Contender[] => [
    {
      name: `BullMQ, ${fsync}`,
      module: './libraries/bullmq.mjs',
      server: `redis ${fsync}`,
      counts: { ...REDIS_COUNTS, batch: 20_000 },
    },
    {
      name: `bee-queue, ${fsync}`,
      module: './libraries/bee-queue.mjs',
      server: `redis ${fsync}`,
      counts: REDIS_COUNTS,
    },
  ]),
  {
    name: 'graphile-worker',
    module: './libraries/graphile-worker.mjs',
    server: 'postgres',
    counts: { 1: 1_000, 10: 1_000, best: 2_000, batch: 30_000, paced: 500 },
  },
  {
    name: 'pg-boss',
    module: './libraries/pg-boss.mjs',
    server: 'postgres',
    counts: { best: 4_000, batch: 20_000, paced: 500 },
  },
  {
    name: 'beanstalkd',
    module: './libraries/beanstalkd.mjs',
    server: 'beanstalkd',
    counts: { 1: 4_000, 10: 8_000, best: 8_000, paced: 500 },
  },
];

/** In whose name one of these is, in whatever case; all where nobody is named. */
export function contendersOf(parts: readonly string[] | undefined): readonly Contender[] {
  if (parts === undefined) return CONTENDERS;
  return CONTENDERS.filter(({ name }) =>
    parts.some((part) => name.toLowerCase().includes(part.toLowerCase())),
  );
}
