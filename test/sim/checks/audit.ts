/**
 * A1: what somebody has changed is in the audit once, by the commit that changes it, and is there when he is answered.
 *
 * A2: it tells how that was before and how it is after.
 */
import type { Commit } from '../../../master/application/ports.ts';
import type { Audit } from '../../../master/domain/changes.ts';
import type { Author, AuditRecord } from '../../../master/domain/model/audit.ts';
import type { SharedLimit } from '../../../master/domain/model/shared-limit.ts';
import type { TaskType } from '../../../master/domain/model/task-type.ts';
import type { Work } from '../../../master/domain/long-work/work.ts';
import { isTerminal, type Task, type TaskState } from '../../../master/domain/model/task.ts';
import type { Settings } from '../../../master/domain/state/state.ts';
import { pauseTarget } from '../../../master/domain/operators/audit.ts';
import type { World } from '../world.ts';

/** As a commit finds it. */
export interface RowsBefore {
  readonly settings: Settings;
  readonly history: ReadonlyMap<number, Task>;
  readonly operations: { readonly rows: ReadonlyMap<string, Work> };
  typeOf(name: string): TaskType | undefined;
  limitOf(name: string): SharedLimit | undefined;
  rowOf(taskId: string): Task | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** What is done changes something, whatever there was. */
const CHANGING: ReadonlySet<string> = new Set([
  'retryRequested',
  'changeRequested',
  'suspendRequested',
  'taskResumeRequested',
  'redeliverRequested',
]);

/** What each command on a task leaves, as it is told. */
const EFFECTS: Readonly<Record<string, (before: Fields, after: Fields) => boolean>> = {
  cancelRequested: (_, after) => [after['state'], after['cancel_reason']].includes('canceled'),
  retryRequested: (before, after) =>
    isTerminal(before['state'] as TaskState) && !isTerminal(after['state'] as TaskState),
  suspendRequested: (_, after) => after['cancel_reason'] === 'suspended',
  taskResumeRequested: (before) => before['cancel_reason'] === 'suspended',
};

export class AuditChecks {
  readonly #world: World;
  #authorCount = 0;
  readonly #records = new Map<string, AuditRecord>();
  /** Those that have a row. */
  readonly #pauses = new Set<number>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Of one command, told from all others. `action`: the type of its event. */
  author(action: string): Author {
    const actor = `c${++this.#authorCount}`;
    return { actor, role: 'operate', address: '127.0.0.1', action, namespace: 'default' };
  }

  /** He hears what became of it. */
  answered({ actor, action }: Author, reply: unknown): void {
    const isDone = (reply as { readonly kind?: string } | null)?.kind === 'done';
    if (!isDone || !CHANGING.has(action) || this.#records.has(actor ?? '')) return;
    this.#world.violate('A1', `${action} of ${actor} is done, and is not in the audit`);
  }

  /** @param before the rows as they were. */
  committed(commit: Commit, before: RowsBefore): void {
    const audit = commit.audit ?? [];
    for (const { record } of audit) {
      const { actor, action, target } = record;
      if (this.#records.has(actor ?? '')) {
        this.#world.violate('A1', `${action} of ${actor} on ${target} is in the audit twice`);
      }
      this.#records.set(actor ?? '', record);
    }
    this.#checkPauses(commit);
    const told = new Set(audit.map(({ table, record: { target } }) => `${table} ${target}`));
    for (const what of changedByPeople(commit, before)) {
      if (!told.has(what))
        this.#world.violate('A1', `${what} is another now, and no audit says so`);
    }
    for (const one of audit) this.#checkTold(one, commit, before);
  }

  /** Of a group or a label; that of all namespaces is not set in one of them. */
  #checkPauses({ writes, audit = [] }: Commit): void {
    for (const write of writes) {
      if (write.table !== 'pause') continue;
      if (write.op === 'remove') this.#pauses.delete(write.key);
      if (write.op !== 'put' || write.row.scope === 'all' || this.#pauses.has(write.key)) continue;
      this.#pauses.add(write.key);
      const target = pauseTarget(write.row.scope, write.row.value);
      if (audit.some(({ record }) => record.target === target)) continue;
      this.#world.violate('A1', `${target} is paused now, and no audit says so`);
    }
  }

  #checkTold({ table, record }: Audit, commit: Commit, before: RowsBefore): void {
    const { action, target, actor } = record;
    const [was, is] = [fieldsOf(record.before), fieldsOf(record.after)];
    const fits = EFFECTS[action]?.(was, is) ?? true;
    if (!fits) this.#world.violate('A2', `${action} of ${actor}: ${record.before} ${record.after}`);
    const isOnly = commit.audit?.filter((one) => one.record.target === target).length === 1;
    if (!isOnly) return;
    const check = (name: string, rows: readonly [unknown, unknown]): void => {
      const said = [was[name], is[name]];
      const isSame = said.every((value, at) => value === undefined || value === rows[at]);
      if (!isSame || (name in is && said[0] === said[1])) {
        const what = `${name} of ${table} ${target} was and is ${rows.join(', ')}`;
        this.#world.violate('A2', `${what}, and ${action} of ${actor} says ${said.join(', ')}`);
      }
    };
    if (table === 'settings') {
      const { settings } = commit;
      check('max_running', [before.settings.maxRunning, settings?.maxRunning]);
      check('max_waiting', [before.settings.maxWaiting, settings?.maxWaiting]);
    }
    const now = table === 'task' ? writtenTo(commit, target) : undefined;
    if (now !== undefined) check('priority', [before.rowOf(target ?? '')?.priority, now.priority]);
  }
}

const fieldsOf = (text: string | null): Fields => JSON.parse(text ?? '{}') as Fields;

function writtenTo({ writes }: Commit, taskId: string | null): Task | undefined {
  for (const write of writes) {
    if (write.op === 'remove') continue;
    if (write.table === 'task' && write.row.id === taskId) return write.row;
    if (write.table === 'history' && write.op === 'insert' && write.row.task.id === taskId)
      return write.row.task;
  }
  return undefined;
}

/** Tables and names of what nothing but a command changes. */
function* changedByPeople({ writes, settings }: Commit, before: RowsBefore): Generator<string> {
  const isOther = (name: 'maxWaiting' | 'maxRunning' | 'retention') =>
    settings !== undefined && settings[name] !== before.settings[name];
  if (isOther('maxWaiting') || isOther('maxRunning') || isOther('retention'))
    yield 'settings default';
  const isSlice = writes.some(({ table }) => table === 'work');
  for (const write of writes) {
    if (write.table === 'type') {
      const row = before.typeOf(write.key);
      // A pause that ends by itself is all that there was.
      const isOther = write.op === 'put' ? write.row.text !== row?.text : row?.paused === null;
      if (isOther) yield `type ${write.key}`;
    }
    if (write.table === 'limit') {
      const row = write.op === 'put' ? write.row : undefined;
      if (JSON.stringify(row) !== JSON.stringify(before.limitOf(write.key)))
        yield `limit ${write.key}`;
    }
    if (write.table === 'work' && write.op === 'put') {
      const row = before.operations.rows.get(write.key);
      const { state } = write.row;
      if (row === undefined || (state !== row.state && state !== 'done')) yield `work ${write.key}`;
    }
    if (write.table !== 'history' || write.op !== 'remove' || isSlice) continue;
    const { id } = before.history.get(write.key[0]) ?? {};
    const isDeleted = !writes.some(({ table, key }) => table === 'task' && key === write.key[0]);
    yield `${isDeleted ? 'history' : 'task'} ${id}`;
  }
}
