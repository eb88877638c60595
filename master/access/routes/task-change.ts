/** What is to be another of a task that there is: of that very task, or of a copy of it. */
import type { Submission } from '../../application/master-handle.ts';
import type { TaskChange } from '../../domain/events.ts';
import { inOrder } from '../../domain/model/shared-limit.ts';
import type { Task } from '../../domain/model/task.ts';
import { copyRequest, patchRequest } from '@soda-scheduler/protocol/schemas';
import type { z } from 'zod';
import { checkShape, valueWithParams } from '../body/fields.ts';
import { instantOf } from '../body/instants.ts';
import { digestOf } from '../body/request-digest.ts';
import { type TypeRules, withDefaults } from '../body/type-rules.ts';
import { invalidFields } from '../http/problem.ts';
import {
  checkParamsSize,
  checkTogether,
  idOfKey,
  millisecondsOf,
  priorityOf,
  type RefusalOf,
  retryOf,
} from './submission.ts';
import { newTaskId } from './task-ids.ts';

type Fields = z.output<typeof patchRequest>;
/** Of those that are given, without what is null. */
type Said = { readonly [N in keyof Fields]: Exclude<Fields[N], null> };
type Parts = Record<Exclude<keyof Fields, 'params' | 'retry' | 'user'>, () => TaskChange>;

/** What a body says is to be another. */
interface Patch {
  readonly fields: Fields;
  /** As they are written; null: they stay. */
  readonly params: string | null;
}

/** @throws {Problem} 400: of whichever task it is, this cannot be. */
export function readPatch(body: Buffer | undefined): Patch {
  const { value, params } = valueWithParams(body, 'body');
  refuseFixed(value);
  return { fields: checkShape(patchRequest, value), params };
}

/** What a submit takes and a change does not: `not a known field` would be no answer. */
function refuseFixed(value: unknown): void {
  const given = Object.keys(value ?? {});
  const message = 'a task keeps it: POST /task/{task_id}/copy makes another task';
  const fixed = ['id', 'type'].filter((name) => given.includes(name));
  const errors = fixed.map((field) => ({ field, message }));
  if (given.includes('booking')) {
    errors.push({
      field: 'booking',
      message: 'a task keeps it, and a copy of one is of no booking',
    });
  }
  if (errors.length > 0) throw invalidFields(errors);
}

/** Of tasks of any type: nothing is as their types have it. @throws {Problem} 400 */
export function changeForAny(fields: Fields, refusalOf: RefusalOf): TaskChange {
  return changeOf({ fields, params: null }, null, 'change.', refusalOf);
}

/** Of a task of the type that the rules are of. @throws {Problem} 400, 413 */
export function changeFor(
  { fields, params }: Patch,
  rules: TypeRules | null,
  refusalOf: RefusalOf,
): TaskChange {
  const change = changeOf({ fields, params }, rules, '', refusalOf);
  const misfits = params === null ? [] : (rules?.schema?.errorsOf(params) ?? []);
  if (misfits.length === 0) return change;
  throw invalidFields(misfits.map((one) => ({ ...one, field: one.field.slice('task.'.length) })));
}

/**
 * A submit of what the task was submitted as, but for what is to be another. It is due at once, unless that says
 * more. Yields between its steps, as `readSubmission`.
 * @throws {Problem} 400, 413
 */
export function* readCopy(
  body: Buffer | undefined,
  key: string | null,
  task: Task,
  rules: TypeRules | null,
  refusalOf: RefusalOf,
): Generator<void, Submission> {
  const { value, params } = valueWithParams(body, 'task');
  yield;
  const { id: given, task: fields = {} } = checkShape(copyRequest, value);
  const change = changeOf({ fields, params }, rules, 'task.', refusalOf);
  const user = { ...task.user, ...change.user };
  const id = given ?? (key === null ? null : idOfKey(user.group, key));
  const retry = { ...task.retry, ...change.retry };
  const copy: Submission = {
    ...submittedAs(task),
    ...change,
    id: id ?? newTaskId(),
    retry,
    user,
  };
  checkTogether(copy);
  yield;
  const misfits = rules?.schema?.errorsOf(copy.params) ?? [];
  if (id === null && misfits.length > 0) throw invalidFields(misfits);
  if (id === null) return copy;
  yield;
  const requestHash = digestOf(copy);
  return misfits.length > 0 ? { ...copy, requestHash, misfits } : { ...copy, requestHash };
}

function submittedAs(task: Task): Omit<Submission, 'id' | 'user' | 'retry'> {
  return {
    requestHash: '',
    type: task.type,
    params: task.params,
    labels: task.labels,
    requires: task.requires,
    notifyUrl: task.notifyUrl,
    priority: task.priority,
    runAt: null,
    assignTimeoutMs: task.assignTimeoutMs,
    executionTimeoutMs: task.executionTimeoutMs,
    stallTimeoutMs: task.stallTimeoutMs,
    startTimeoutMs: task.startTimeoutMs,
    startTimeoutAction: task.startTimeoutAction,
    diskBytes: task.diskBytes,
    uses: task.uses,
    deadlineAt: task.deadlineAt,
    traceparent: task.traceparent,
  };
}

/**
 * Whatever is null is as of a task of that type that is submitted without it.
 * @param at Where in the body the fields are. @throws {Problem} 400, 413
 */
function changeOf(
  { fields, params }: Patch,
  rules: TypeRules | null,
  at: string,
  refusalOf: RefusalOf,
): TaskChange {
  const entries = Object.entries(fields).filter(([, value]) => value !== null);
  const said = withDefaults(Object.fromEntries(entries) as Said, rules?.defaults ?? {});
  const parts: Parts = {
    notify_url: () => ({ notifyUrl: said.notify_url ?? null }),
    priority: () => ({ priority: priorityOf(said.priority) }),
    labels: () => ({ labels: [...new Set(said.labels)] }),
    requires: () => ({ requires: [...new Set(said.requires)] }),
    run_at: () => ({ runAt: instantOf(said.run_at) }),
    assign_timeout: () => ({ assignTimeoutMs: millisecondsOf(said.assign_timeout) }),
    execution_timeout: () => ({ executionTimeoutMs: millisecondsOf(said.execution_timeout) }),
    stall_timeout: () => ({ stallTimeoutMs: millisecondsOf(said.stall_timeout) }),
    start_timeout: () => ({ startTimeoutMs: millisecondsOf(said.start_timeout) }),
    start_timeout_action: () => ({ startTimeoutAction: said.start_timeout_action ?? null }),
    needs: () => ({ diskBytes: said.needs?.disk_bytes ?? null }),
    uses: () => ({ uses: inOrder(said.uses ?? []) }),
    deadline: () => ({ deadlineAt: instantOf(said.deadline) }),
  };
  const { retry, user } = fields;
  const change: TaskChange = {
    ...Object.assign({}, ...namesIn(fields, parts).map((name) => parts[name]())),
    ...(retry !== undefined && { retry: retryChangeOf(retry, said.retry) }),
    ...(user !== undefined && { user: user as Partial<Task['user']> }),
    ...(params !== null && { params }),
  };
  checkParamsSize(params ?? '');
  const refusal = change.notifyUrl ? refusalOf(change.notifyUrl) : null;
  if (refusal === null) return change;
  throw invalidFields([{ field: `${at}notify_url`, message: refusal }]);
}

const namesIn = (fields: Fields, parts: Parts): (keyof Parts)[] =>
  (Object.keys(parts) as (keyof Parts)[]).filter((name) => fields[name] !== undefined);

/** Of one that is given each field by itself; null: all of it is as submitted without. */
function retryChangeOf(given: Fields['retry'], unsaid: Said['retry']): Partial<Task['retry']> {
  const retry = retryOf(unsaid);
  if (given === null || given === undefined) return retry;
  return {
    ...(given.max_attempts !== undefined && { maxAttempts: retry.maxAttempts }),
    ...(given.interval !== undefined && { interval: retry.interval }),
  };
}
