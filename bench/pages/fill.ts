/**
 * A store as it is after a month of much work: of each day some thousand tasks that have ended, and of today those
 * that wait. A commit has ended the first thousand, a master has taken the first thousand of those that wait; all
 * others are copies of these, by SQL. Says how far it is on stderr.
 */
import { Agent } from 'node:http';
import { API_BASE } from '@soda-scheduler/protocol';
import { type Commit, DEFAULT_NAMESPACE_ID, type Store } from '../../master/application/ports.ts';
import { openSqlStore } from '../../master/infrastructure/sql/open.ts';
import { segmentAt } from '../../master/infrastructure/sql/segments.ts';
import { post } from '../load.ts';
import { startMaster } from '../system.ts';
import { type Copier, copyOf, openCopier } from './copier.ts';
import { endedSeeds, SEED_COUNT, SUSPENDED_IDS, waitingSeeds } from './seeds.ts';

const DAY_MS = 86_400_000;
export const DAY_COUNT = 30;
/** For masters on such a store. */
export const RETENTION = { SODA_RETENTION_DAYS: String(DAY_COUNT + 1) };
/** How often one transaction copies all seeds. */
const COPY_COUNT = 20;
/** Numbers from one copy of those that wait to the next: their lanes have some too. */
const LIVE_SEQS = 2 * SEED_COUNT;
const INSTANTS = [
  ...[
    'submitted_at',
    'order_time',
    'queue_time',
    'due_at',
    'offered_at',
    'started_at',
    'finished_at',
  ],
  ...['ended_at', 'notify_next_at', 'notify_since', 'delivered_at'],
];

export interface Size {
  readonly liveCount: number;
  readonly endedCount: number;
}

/**
 * One that was filled before stays as it is.
 * @throws {Error} it was filled in part only, or to another size.
 */
export async function fillStore(url: string, { liveCount, endedCount }: Size): Promise<void> {
  const liveCopies = Math.round(liveCount / SEED_COUNT);
  const copiesADay = Math.round(endedCount / SEED_COUNT / DAY_COUNT);
  const endedSeq = copiesADay * DAY_COUNT * SEED_COUNT;
  const endSeq = endedSeq + liveCopies * LIVE_SEQS;
  const spanMs = Math.floor(DAY_MS / copiesADay);
  const firstDay = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_COUNT * DAY_MS;

  const lastSeq = await writeSeeds(url, { firstDay, spanMs, endedSeq });
  if (lastSeq >= endSeq) return;
  if (lastSeq > 0) throw new Error('the store was filled in part, or to another size: remove it');
  const copies = Array.from({ length: copiesADay * DAY_COUNT }, (_, at): Copy => {
    const shiftMs = Math.floor(at / copiesADay) * DAY_MS + (at % copiesADay) * spanMs;
    return { to: segmentAt('normal', firstDay + shiftMs).table, seqs: at * SEED_COUNT, shiftMs };
  });
  const { table } = segmentAt('normal', firstDay);
  await copySeeds(url, { table, seqs: [1, SEED_COUNT], what: 'ended tasks' }, copies);

  await submitSeeds(url);
  const live = Array.from({ length: liveCopies }, (_, at): Copy => {
    return { to: 'task', seqs: at * LIVE_SEQS, shiftMs: at };
  });
  const seqs = [endedSeq + 1, endedSeq + LIVE_SEQS] as const;
  await copySeeds(url, { table: 'task', seqs, what: 'live tasks' }, live);
  await writing(url, ({ commit }) => commit({ lastSeq: endSeq }));
}

/** Returns the last number that the store had given before. */
function writeSeeds(
  url: string,
  { firstDay, spanMs, endedSeq }: { firstDay: number; spanMs: number; endedSeq: number },
): Promise<number> {
  return writing(url, async ({ store, lastSeq, commit }) => {
    if (lastSeq > 0) return lastSeq;
    for (let day = 0; day < DAY_COUNT; day++) await store.prepareSegments(firstDay + day * DAY_MS);
    await commit({ lastSeq: endedSeq, writes: endedSeeds(firstDay, spanMs) });
    return 0;
  });
}

interface Writer {
  readonly store: Store;
  readonly lastSeq: number;
  commit(what: Pick<Commit, 'lastSeq'> & Partial<Commit>): Promise<void>;
}

export async function writing<T>(url: string, work: (writer: Writer) => Promise<T>): Promise<T> {
  const store = await openSqlStore({ url, allowWeakDurability: false });
  try {
    const now = Date.now();
    await store.open(now);
    const tasks = store.tasks(DEFAULT_NAMESPACE_ID);
    const { term, lastSeq } = await tasks.takeTerm('bench', now);
    const nothing = { term, now, saysAlive: true, writes: [], absences: [] };
    return await work({
      store,
      lastSeq,
      commit: (what) => tasks.commit({ ...nothing, ...what }),
    });
  } finally {
    await store.close();
  }
}

/** A master takes them, so that they have lanes. */
async function submitSeeds(url: string): Promise<void> {
  const master = await startMaster(url, undefined, RETENTION);
  const agent = new Agent();
  const body = JSON.stringify({ tasks: waitingSeeds() });
  await post(agent, master.url, `${API_BASE}/task/submit-batch`, body);
  for (const id of SUSPENDED_IDS) {
    await post(agent, master.url, `${API_BASE}/task/${id}/suspend`, '{}');
  }
  await master.stop();
}

/** Where they are. */
interface Seeds {
  readonly table: string;
  readonly seqs: readonly [least: number, most: number];
}

/** All of them, so much further. */
interface Copy {
  readonly to: string;
  readonly seqs: number;
  readonly shiftMs: number;
}

/** The first copy is the seeds themselves. */
async function copySeeds(
  url: string,
  { table, seqs, what }: Seeds & { readonly what: string },
  copies: readonly Copy[],
): Promise<void> {
  const copier = await openCopier(url);
  const tables = [{ table, key: 'seq' }];
  if (table !== 'task') tables.push({ table: 'task_attempt', key: 'task_seq' });
  for (let at = 1; at < copies.length; at += COPY_COUNT) {
    await copier.run('BEGIN');
    for (const copy of copies.slice(at, at + COPY_COUNT)) {
      for (const one of tables) await copySeed(copier, one, seqs, copy);
    }
    await copier.run('COMMIT');
    showProgress(Math.min(at + COPY_COUNT, copies.length) / copies.length, what);
  }
  process.stderr.write('\n');
  await copier.close();
}

async function copySeed(
  copier: Copier,
  { table, key }: { table: string; key: string },
  [least, most]: Seeds['seqs'],
  { to, seqs, shiftMs }: Copy,
): Promise<void> {
  const moved = INSTANTS.map((name) => [name, `${name} + ${shiftMs}`] as const);
  const id = `CASE WHEN id LIKE 'job-%' THEN ${copier.freshId('job-')} ELSE ${copier.freshId('')} END`;
  const changed = { ...Object.fromEntries(moved), [key]: `${key} + ${seqs}`, id };
  const where = `${key} BETWEEN ${least} AND ${most}`;
  const tables = { from: table, to: key === 'seq' ? to : table };
  await copier.run(await copyOf(copier, tables, changed, where));
}

export function showProgress(share: number, what: string): void {
  const width = 40;
  const bar = '#'.repeat(Math.round(share * width)).padEnd(width);
  if (process.stderr.isTTY || share === 1) {
    process.stderr.write(`\r[${bar}] ${Math.floor(share * 100)} % of the ${what}`);
  }
}
