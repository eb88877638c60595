/**
 * I37: a task stands where it came to stand, until somebody puts it elsewhere, as the audit says, or it is queued anew.
 *
 * I38: who is put first, or last, comes before, or behind, all of its type that are due then, and next to one of them.
 */
import type { Commit } from '../../../master/application/ports.ts';
import { waits, type Task } from '../../../master/domain/model/task.ts';
import { comesFirst } from '../../../master/domain/queue/agenda.ts';
import type { Faults } from '../faults.ts';
import type { World } from '../world.ts';

/** From the look at who is due to the commit, where nothing and where something holds it up: what became due since is not asked of. */
const LATE_MS = 1_000;
const HELD_UP_MS = 80_000;

/** @param live the rows as they were before that. */
export function checkPlaces(
  world: World,
  { classes }: Faults,
  { writes, audit = [], now }: Commit,
  live: ReadonlyMap<number, Task>,
): void {
  const lateMs = classes.store || classes.masterPause ? HELD_UP_MS : LATE_MS;
  const dueBy = world.wallsMs.length > 1 ? Number.NEGATIVE_INFINITY : now - lateMs;
  const moved = new Set(
    audit.flatMap(({ record }) => (record.action === 'moveRequested' ? [record.target] : [])),
  );
  const written = new Set(writes.flatMap(({ table, key }) => (table === 'task' ? [key] : [])));
  for (const write of writes) {
    if (write.table !== 'task' || write.op !== 'set') continue;
    const { row } = write;
    const before = live.get(row.seq);
    if (before === undefined) continue;
    if (before.orderTime !== row.orderTime) {
      if (row.queueTime === row.orderTime) continue;
      world.violate('I37', `${row.id} is queued anew elsewhere`);
    } else if (before.queueTime !== row.queueTime) {
      if (!moved.has(row.id)) {
        world.violate('I37', `${row.id} stands elsewhere, and nobody has put it there`);
      }
      const others = [...live.values()].filter(
        (one) => one.seq !== row.seq && one.type === row.type && waits(one),
      );
      const due = others.filter(({ seq, dueAt }) => dueAt <= dueBy && !written.has(seq));
      checkEnd(world, row, row.queueTime < before.queueTime, { due, others });
    }
  }
}

function checkEnd(
  world: World,
  row: Task,
  isFirst: boolean,
  { due, others }: { readonly due: readonly Task[]; readonly others: readonly Task[] },
): void {
  const behind = due.find((other) => comesFirst(row, other) !== isFirst);
  if (behind !== undefined) {
    const what = `${row.id} was put ${isFirst ? 'first' : 'last'} on the wrong side of ${behind.id}`;
    return world.violate('I38', what);
  }
  const isNext = others.some(({ queueTime }) => Math.abs(queueTime - row.queueTime) <= 1);
  if (!isNext) world.violate('I38', `${row.id} was put where nobody stands`);
}
