/** What scenarios are built of: the task `asked`, executors at work, and what operators set. */
import type { NewTask } from '../../../master/domain/events.ts';
import type { GateBench } from '../gates.ts';

export const pause = { by: null, reason: 'the disk is full', until: null };

export const BACKFILLED = {
  ...{ name: 'nightly', version: 1, trigger: 'default', nominal: 0 },
  backfill: { rerun: 1, operationId: 'op' },
};

/** `asked` with these fields, of type `echo` and group `g`. */
export const asked = (fields: Partial<NewTask> = {}): Partial<NewTask> & { id: string } => ({
  id: 'asked',
  ...fields,
});
export const ofGroup = (group: string) => ({
  user: { group, project: null, env: null, user: null },
});

/** Executors that run a task each. */
export async function atWork(bench: GateBench, ...ids: string[]): Promise<void> {
  for (const id of ids) {
    await bench.connect(id);
    await bench.submit(`on ${id}`);
    await bench.accept(id);
  }
}

export const setType = (bench: GateBench, definition: object): Promise<unknown> =>
  bench.command({
    type: 'typeSet',
    name: 'echo',
    text: JSON.stringify(definition),
    expect: null,
  });

export const setLimit = (
  bench: GateBench,
  max: number,
  per: 'cluster' | { label: string } = 'cluster',
): Promise<unknown> =>
  bench.command({ type: 'limitSet', name: 'drm', limit: { name: 'drm', max, per } });

export const drain = (bench: GateBench, executorId: string): Promise<unknown> =>
  bench.command({ type: 'drainRequested', executorId, timeoutMs: null, reason: null, by: null });

export const unready = (reason: string | null, diskBytes: number | null) => ({
  ready: { ok: reason === null, reason, diskBytes },
});
