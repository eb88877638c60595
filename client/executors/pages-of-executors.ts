/** All executors that a filter leaves, however many pages that takes. */
import { type ExecutorList, type ExecutorView, HTTP_LIMITS } from '@soda-scheduler/protocol';
import type { ApiCaller, Call } from '../api-call.ts';
import { SodaError } from '../soda-error.ts';

/**
 * `call`: asks, once or patiently.
 * @throws {SodaError} the master is of 2.0.0, which knows no filters and would answer with all executors.
 */
export async function executorsOf(
  filter: object,
  call: (call: Call) => Promise<unknown>,
  { base }: ApiCaller,
): Promise<ExecutorView[]> {
  const found: ExecutorView[] = [];
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const question = { method: 'GET', path: `${base}/executors`, field: 'executors' } as const;
  const limit = HTTP_LIMITS.listCountMax;
  for (let cursor: string | undefined; ; ) {
    const answer = await call({ ...question, query: { ...filter, limit, cursor } });
    const { executors, next_cursor: next } = answer as Partial<ExecutorList> & ExecutorList;
    found.push(...executors);
    if (next === undefined && isFiltered) {
      throw new SodaError('this master is older than filters of executors', { status: 400 });
    }
    if ((next ?? null) === null) return found;
    cursor = next as string;
  }
}
