/** What people, programs and executors say, as alerts: in the same words, but for numbers, it is one. */
import type { Observation } from '../effects.ts';
import { alike } from '../views/alike.ts';
import type { Message } from './book.ts';

type Words = Pick<Message, 'severity' | 'message' | 'fields'>;

/** Of somebody who speaks of a namespace. */
export function saidIn(namespace: string, { severity, message, fields }: Words): Message {
  const about = { namespace, type: null, group: null, subject: alike(message) };
  return { ...about, severity, message, fields, change: null };
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
    change: null,
  };
}
