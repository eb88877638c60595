/** What people, programs and executors say, as alerts: in the same words, but for numbers, it is one. */
import type { Observation } from '../effects.ts';
import { alike } from '../views/alike.ts';
import type { Alert } from './alert.ts';
import type { Message } from './book.ts';
import { commandIn } from './command.ts';
import { plainRule } from './rule.ts';

type Words = Pick<Message, 'severity' | 'message' | 'fields' | 'by'>;

/** What became of it: under which ids it is raised, and by how many rules it is not, because too many are. */
export interface Said {
  readonly ids: readonly string[];
  readonly omittedCount: number;
}

/** Of somebody who speaks of a namespace. */
export function saidIn(namespace: string, { severity, message, fields, by }: Words): Message {
  const about = { namespace, type: null, group: null, subject: alike(message) };
  return { ...about, severity, message, fields, by, change: null };
}

/** Of an executor, about the task that it runs: those of another type or group are apart. */
export function saidOfTask(
  namespace: string,
  { task, severity, message, fields }: Extract<Observation, { event: 'alert_said' }>,
): Message {
  const { id, type, executorId } = task;
  const { group } = task.user;
  return {
    ...{ namespace, type, group, severity, fields },
    subject: `type ${type}, group ${group}: ${alike(message)}`,
    message: `Task ${id} on executor ${executorId}: ${message}`,
    by: `executor ${executorId}`,
    change: null,
  };
}

/** Of a job that does not run when it is to: each of its triggers is apart. */
export function saidOfJob(
  namespace: string,
  {
    event,
    job,
    trigger,
    reason,
  }: Extract<Observation, { event: 'fire_refused' | 'trigger_paused' }>,
): Message {
  const isPaused = event === 'trigger_paused';
  const what = `Trigger ${trigger === '' ? 'manual' : trigger} of job ${job}`;
  return {
    ...{ namespace, type: null, group: null, severity: 'warning', fields: null },
    by: `job ${job}`,
    subject: `job ${job}/${trigger}: ${isPaused ? 'paused' : 'refused'}`,
    message: isPaused ? `${what} is paused: ${reason}` : `${what} could not run: ${reason}`,
    change: isPaused
      ? `Mend what fails, then ${commandIn(namespace, `job enable ${job}`)}.`
      : `See ${commandIn(namespace, `job runs ${job}`)}.`,
  };
}

/** Of nobody: it only tries whether a receiver hears. */
export function testAlert(id: string, now: number): Alert {
  const { name: rule, kind } = plainRule('message', 'message');
  return {
    ...{ id, rule, kind, severity: 'info', fields: null },
    ...{ namespace: null, type: null, group: null, subject: 'test', change: null },
    message: 'This is a test of the receiver: nothing is wrong.',
    ...{ raisedAt: now, seenAt: now, count: 1, clearedAt: null, toldAt: now, repeatCount: 0 },
    ...{ silencedUntil: null, silencedBy: null, silenceReason: null },
  };
}
