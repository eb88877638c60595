/** Tasks that ask for more of a shared limit than there is: each would wait until somebody raises it. */
import type { MasterHandle, Submission } from '../../application/master-handle.ts';
import type { Use } from '../../domain/model/shared-limit.ts';
import { type FieldError, invalidFields } from '../http/problem.ts';

type Limits = Pick<MasterHandle, 'seenLimit'>;

/** @param field where in the body they are. One that there is not is nothing to this. */
export function excessErrors(uses: readonly Use[], limits: Limits, field: string): FieldError[] {
  return uses.flatMap(({ limit, n }) => {
    const max = limits.seenLimit(limit)?.limit.max ?? n;
    if (n <= max) return [];
    return [{ field, message: `${n} are above the max of limit ${limit}, which is ${max}` }];
  });
}

/** With what is wrong with it: a repetition of what was taken may come when there is not so much any more. @throws {Problem} it can be none. */
export function withExcess(submission: Submission, limits: Limits): Submission {
  if (submission.uses.length === 0) return submission;
  const errors = excessErrors(submission.uses, limits, 'task.uses');
  if (errors.length === 0) return submission;
  if (submission.requestHash === '') throw invalidFields(errors);
  return { ...submission, misfits: [...(submission.misfits ?? []), ...errors] };
}
