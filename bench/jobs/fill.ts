/** Many jobs with a trigger each, put into a database as commits of a master would. */
import { DEFAULT_NAMESPACE_ID } from '../../master/application/ports.ts';
import type { RowWrite } from '../../master/domain/changes.ts';
import { openSqlStore } from '../../master/infrastructure/sql/open.ts';
import { sampleJob, sampleSpec, sampleTrigger } from '../../test/helpers/jobs/sample-job.ts';

/** Jobs that one commit makes. */
const COMMIT_COUNT = 1_000;
const TEMPLATE = '{"task":{"type":"report","params":{"table":"orders"}},"user":{"group":"bench"}}';

export interface FilledTriggers {
  /** Of their jobs: each has a name of its own. */
  readonly prefix: string;
  readonly count: number;
  readonly everyMs: number;
  /** Of the trigger with that number: when it is due first, and since when nobody has looked at it. */
  readonly nextAt: (at: number) => number;
}

/** Nobody else uses the database. */
export async function fillTriggers(url: string, groups: readonly FilledTriggers[]): Promise<void> {
  const store = await openSqlStore({ url, allowWeakDurability: false });
  const now = Date.now();
  await store.open(now);
  const tasks = store.tasks(DEFAULT_NAMESPACE_ID);
  const { term, lastSeq } = await tasks.takeTerm('bench', now);
  for (const group of groups) {
    for (let from = 0; from < group.count; from += COMMIT_COUNT) {
      const writes: RowWrite[] = [];
      for (let at = from; at < Math.min(from + COMMIT_COUNT, group.count); at++) {
        writes.push(...rowsOf(group, at));
      }
      await tasks.commit({ term, now, lastSeq, saysAlive: false, writes, absences: [] });
    }
  }
  await store.close();
}

function rowsOf({ prefix, everyMs, nextAt: nextAtOf }: FilledTriggers, at: number): RowWrite[] {
  const name = `${prefix}-${String(at).padStart(6, '0')}`;
  const spec = sampleSpec({ timing: { kind: 'every', everyMs } });
  const nextAt = nextAtOf(at);
  const before = nextAt - everyMs;
  const trigger = sampleTrigger({
    job: name,
    spec: JSON.stringify(spec),
    isCalendared: false,
    anchorAt: before,
    changedAt: before,
    decidedUntil: before,
    nextAt,
    nextNominal: nextAt,
  });
  const job = sampleJob({ name, type: 'report', group: 'bench', template: TEMPLATE });
  return [
    { op: 'put', table: 'job', key: name, row: job },
    { op: 'put', table: 'trigger', key: [name, trigger.name], row: trigger },
  ];
}
