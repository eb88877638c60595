/**
 * Drains the executors of a selector, so many at a time. What it has done stands in the rows of the master, by the
 * reason that it drains with: whoever is interrupted calls it again. It asks and acts; what it makes of the fleet
 * is the matter of `Rollout`.
 */
import { expectKnown } from '@soda-scheduler/protocol';
import type { ApiCaller, Call } from '../api-call.ts';
import { SodaError } from '../soda-error.ts';
import { type PatientOptions, polled } from '../waiting.ts';
import { executorsOf } from './pages-of-executors.ts';
import { type DrainProgress, type DrainStep, Rollout } from './rollout.ts';

export interface RollingOptions extends PatientOptions {
  /**
   * So many at a time; the next one follows when one of them is done with. Default: all at once. What it means to
   * be done with one is the matter of `until`.
   */
  readonly maxUnavailable?: number | undefined;
  /**
   * `empty` (default): it runs nothing any more, or has left. `replaced`: besides, another one takes tasks in its
   * place: it has come back under its id and is not selected any more (then it is resumed), or one that was not
   * here before has come that runs a type of theirs.
   */
  readonly until?: 'empty' | 'replaced' | undefined;
  /** Seconds after which what one of them still runs is taken back. Default: never. */
  readonly timeout?: number | undefined;
  /** Why, for whoever looks; by it those are known that this has drained. Default: what it does. */
  readonly reason?: string | undefined;
  readonly onStep?: ((step: DrainStep) => void) | undefined;
  /** Called at first, and whenever it is another. */
  readonly onProgress?: ((progress: DrainProgress) => void) | undefined;
}

const REASON_LENGTH_MAX = 256;
/** Calls under way at a time. */
const AT_ONCE_COUNT = 8;

/** Each of them, so that the compiler notices one that is missing. */
const OPTIONS: Record<keyof RollingOptions, true> = {
  maxUnavailable: true,
  until: true,
  timeout: true,
  reason: true,
  onStep: true,
  onProgress: true,
  signal: true,
  onAway: true,
  onBack: true,
};

export async function drainSelected(
  api: ApiCaller,
  selector: string,
  options: RollingOptions,
): Promise<DrainProgress> {
  const { maxUnavailable = Number.POSITIVE_INFINITY, until = 'empty', timeout } = checked(options);
  const reason =
    options.reason ?? `drain of ${selector}, until ${until}`.slice(0, REASON_LENGTH_MAX);
  const { signal } = options;
  const ask = (call: Call) => api.callPatiently({ ...call, signal }, options);
  const order = (command: 'drain' | 'resume') => async (id: string) => {
    const path = `${api.base}/executor/${encodeURIComponent(id)}/${command}`;
    const body = command === 'drain' ? { body: { timeout, reason } } : {};
    await ask({ method: 'POST', path, field: 'executor_id', ...body }).catch(unlessGone);
  };
  const rollout = new Rollout({ maxUnavailable, until, reason });
  let seen = '';
  const round = async () => {
    const selected = await executorsOf({ selector }, ask, api);
    const fleet = await executorsOf({}, ask, api);
    const plan = rollout.look(selected, fleet, performance.now());
    await inTurns(plan.resume, order('resume'));
    await inTurns(plan.drain, order('drain'));
    return plan;
  };
  const last = await polled(round, options, ({ steps, progress, isOver, isUnsure }) => {
    for (const step of steps) options.onStep?.(step);
    const now = JSON.stringify(progress);
    const isNew = now !== seen || steps.length > 0;
    seen = now;
    if (isNew) options.onProgress?.(progress);
    if (isOver) return 'over';
    return isNew || isUnsure ? 'changed' : 'same';
  });
  return last.progress;
}

/** @throws {TypeError} naming the option that is wrong. */
function checked(options: RollingOptions): RollingOptions {
  expectKnown(options, Object.keys(OPTIONS));
  const { maxUnavailable: max, until } = options;
  if (max !== undefined && !(Number.isSafeInteger(max) && max >= 1)) {
    throw new TypeError('maxUnavailable: expected a whole number from 1 upwards');
  }
  if (until !== undefined && until !== 'empty' && until !== 'replaced') {
    throw new TypeError("until: expected 'empty' or 'replaced'");
  }
  return options;
}

async function inTurns(ids: readonly string[], call: (id: string) => Promise<void>): Promise<void> {
  for (let at = 0; at < ids.length; at += AT_ONCE_COUNT) {
    await Promise.all(ids.slice(at, at + AT_ONCE_COUNT).map(call));
  }
}

/** It has left since it was listed. */
function unlessGone(error: unknown): void {
  if (!(error instanceof SodaError && error.status === 404)) throw error;
}
