/** Why tasks have failed, as it is listed: a few columns of many rows. */
import type { FailedTask } from '../../../application/ports.ts';
import type { Row } from '../rows.ts';
import { errorOf, lightError } from '../tables/error.ts';

/** Four times as many of these rows take as long as whole ones. */
export const FAILURES = {
  columnsOf: () => `seq, id, type, user_group, failure_reason, ${lightError}`,
  factor: 4,
} as const;

export function failureOf(row: Row): FailedTask {
  const get = <T>(name: string): T => row[name] as T;
  return {
    seq: get('seq'),
    id: get('id'),
    type: get('type'),
    group: get('user_group'),
    message: errorOf(row).error?.message ?? null,
    failureReason: get('failure_reason'),
  };
}
