/** The options of `soda task submit`, as the request they stand for. The master checks values. */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { type RawJson, rawJson, type TaskInfo, type UserInfo } from '@soda-scheduler/client';
import { ExitCode, Failure } from '../exit-code.ts';

export interface SubmitOptions {
  readonly type: string;
  readonly group: string;
  readonly id?: string;
  readonly project?: string;
  readonly env?: string;
  readonly user?: string;
  readonly priority?: string;
  readonly label?: string[];
  readonly requires?: string[];
  readonly use?: string[];
  readonly runAt?: string;
  readonly deadline?: string;
  readonly maxAttempts?: number;
  readonly retryInterval?: number | number[];
  readonly assignTimeout?: number;
  readonly executionTimeout?: number;
  readonly stallTimeout?: number;
  readonly startTimeout?: number;
  readonly startTimeoutAction?: 'fail' | 'alert';
  readonly diskBytes?: number;
  readonly notifyUrl?: string;
}

export function submissionOf(
  options: SubmitOptions,
  params: unknown,
): { readonly task: TaskInfo; readonly user: UserInfo } {
  const { type, group, id, project, env, user, priority, label, requires } = options;
  const { maxAttempts, retryInterval } = options;
  const retry = { max_attempts: maxAttempts, interval: retryInterval };
  return {
    task: {
      id,
      type,
      params,
      priority: priorityOf(priority),
      labels: label,
      requires,
      uses: options.use?.map(useOf),
      run_at: instantOf(options.runAt),
      deadline: instantOf(options.deadline),
      retry: maxAttempts === undefined && retryInterval === undefined ? undefined : retry,
      assign_timeout: options.assignTimeout,
      execution_timeout: options.executionTimeout,
      stall_timeout: options.stallTimeout,
      start_timeout: options.startTimeout,
      start_timeout_action: options.startTimeoutAction,
      needs: options.diskBytes === undefined ? undefined : { disk_bytes: options.diskBytes },
      notify_url: options.notifyUrl,
    },
    user: { group, project, env, user },
  };
}

/** `encoder=2`, or `encoder` for one. */
function useOf(text: string): { limit: string; n: number } {
  const [limit = '', n = '1', ...rest] = text.split('=');
  if (rest.length === 0 && /^\d{1,7}$/.test(n)) return { limit, n: Number(n) };
  throw new Failure(`--use ${text}: expected a limit, or limit=count`, ExitCode.usage);
}

/** A name, or seconds. Of the two only the master knows which names there are. */
export function priorityOf(text: string | undefined): TaskInfo['priority'] {
  const seconds = Number(text);
  return (text === undefined || Number.isNaN(seconds) ? text : seconds) as TaskInfo['priority'];
}

/** Text as it stands, or epoch milliseconds: fewer digits are no instant that anybody means. */
export function instantOf(text: string | undefined): string | number | undefined {
  return text !== undefined && /^\d{12,}$/.test(text) ? Number(text) : text;
}

/** JSON as it stands, or from a file after `@`, or from stdin for `-`; to be sent as it is written. */
export async function readJson(source: string): Promise<RawJson> {
  try {
    if (source === '-') return rawJson(await text(process.stdin));
    if (source.startsWith('@')) return rawJson(await readFile(source.slice(1), 'utf8'));
    return rawJson(source);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(`--params: ${reason}`, ExitCode.usage);
  }
}
