/**
 * What a callback says and how it is signed: Standard Webhooks. Pure but for the signature; it
 * never sends anything. `docs/callbacks.md` describes the same for receivers.
 */
import { createHmac } from 'node:crypto';
import { type CallbackBody, DEFAULT_NAMESPACE, jsonObject } from '@soda-scheduler/protocol';
import type { AttemptError, EndedTask, Notification } from '../../domain/model/task.ts';
import { isLoss, isTerminal, type Task } from '../../domain/model/task.ts';

type Headers = Record<string, string>;

/** True while the task is still the finished run that the notification is about. */
export function isAbout(notification: Notification, task: EndedTask): boolean {
  return isTerminal(task.state) && task.finishedAt === notification.finishedAt;
}

/** The JSON text of the body. Result and details of the error go in as the executor wrote them. */
export function callbackJson(task: EndedTask, namespace: string): string {
  const { state, finishedAt } = task;
  if (!isTerminal(state) || finishedAt === null) throw new Error(`task ${task.id} has not ended`);
  const { group, project, env, user } = task.user;
  const error = state === 'succeeded' ? null : task.error;
  const fields = {
    task_id: task.id,
    type: task.type,
    code: callbackCode(task),
    state,
    namespace,
    attempts: task.attempt,
    ...(task.job !== null && { job: task.job.name }),
    user: {
      group,
      ...(project !== null && { project }),
      ...(env !== null && { env }),
      ...(user !== null && { user }),
    },
    submitted_at: new Date(task.submittedAt).toISOString(),
    finished_at: new Date(finishedAt).toISOString(),
  } satisfies Omit<CallbackBody, 'error' | 'result'>;
  return jsonObject(fields, {
    error: error === null ? undefined : errorJson(error),
    result: task.result ?? undefined,
  });
}

function errorJson({ message, name, details }: AttemptError): string {
  return jsonObject({ message, name }, { details });
}

/**
 * The same for every try of one run of a task, and for no other. A webhook id must not hold a
 * dot, which a task id may; `~` stands for it and is in no task id. Nor is the `@` before a namespace,
 * which that of paths without one lacks.
 */
export function webhookId({ taskId, finishedAt }: Notification, namespace: string): string {
  const place = namespace === DEFAULT_NAMESPACE ? '' : `@${namespace}`;
  return `msg_${taskId.replaceAll('.', '~')}${place}_${finishedAt}`;
}

/**
 * Signs with every secret, newest first, so that a secret can be replaced without a gap. The
 * HMAC is native: decision 002 has the figures. Tests verify with a Standard Webhooks library.
 */
export class CallbackSigner {
  readonly #keys: readonly Buffer[];

  /** @param secrets None: callbacks go out unsigned. @throws if one is not a webhook secret. */
  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map(keyOf);
  }

  headers(id: string, now: number, json: string): Headers {
    const timestamp = Math.floor(now / 1000);
    const signatures = this.#keys.map((key) => {
      const digest = createHmac('sha256', key).update(`${id}.${timestamp}.${json}`);
      return `v1,${digest.digest('base64')}`;
    });
    return {
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      ...(signatures.length > 0 && { 'webhook-signature': signatures.join(' ') }),
    };
  }
}

function keyOf(secret: string): Buffer {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const key = Buffer.from(base64 ?? '', 'base64');
  if (key.length < 24 || key.length > 64) {
    throw new Error('expected a callback secret as `whsec_` and 24 to 64 bytes in base64');
  }
  return key;
}

/** How a task has ended, as receivers of callbacks have always been told: by one number. */
function callbackCode(
  task: Pick<Task, 'state' | 'lastOutcome' | 'failureReason'>,
): 200 | 408 | 499 | 500 | 501 {
  if (task.state === 'succeeded') return 200;
  if (task.state === 'canceled') return 499;
  if (task.failureReason === 'crash_budget' || isLoss(task.lastOutcome)) return 501;
  return task.state === 'expired' || task.lastOutcome === 'timed_out' ? 408 : 500;
}
