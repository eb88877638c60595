/** Does what is proposed for the task `asked`, as an operator would. */
import { NO_SETTINGS } from '../../../master/domain/state/state.ts';
import type { GateBench } from '../gates.ts';

export async function make(
  bench: GateBench,
  { action, target, value, limit }: Proposal,
): Promise<void> {
  const [kind = '', name = ''] = target?.split(/\/(.*)/s) ?? [];
  switch (action) {
    case 'wait_until':
      return waitUntil(bench, value as number);
    case 'resume':
      await bench.command(resumeOf(kind, name));
      return;
    case 'raise_limit':
      await bench.command(raiseOf(bench, { kind, name, limit, max: value as number }));
      return;
    case 'start_executor': {
      const { count, type, labels, executorId } = value as {
        count: number;
        type: string;
        labels: string[];
        executorId: string | null;
      };
      const ids = Array.from({ length: count }, (_, at) => executorId ?? `new-${at}`);
      const ready = { ok: true, reason: null, diskBytes: 1e12 };
      await bench.connect(...ids.map((id) => ({ executorId: id, types: [type], labels, ready })));
      return;
    }
    case 'add_label': {
      const override = { labels: value as string[] };
      await bench.command({ type: 'relabelRequested', executorId: name, override, by: null });
      return;
    }
    case 'undrain':
      await bench.command({ type: 'resumeRequested', executorId: name });
      return;
    case 'none':
      throw new Error('nothing is proposed');
  }
}

/** What is offered meanwhile begins. */
async function waitUntil(bench: GateBench, at: number): Promise<void> {
  while (bench.now < at) {
    await bench.pass(Math.min(4_000, at - bench.now), 4_000);
    for (const { id, occupation } of bench.state.executors.values()) {
      if (occupation?.accepted === false) await bench.accept(id);
    }
  }
}

interface Proposal {
  readonly action: string;
  readonly target: string | null;
  readonly value: unknown;
  readonly limit: string;
}

function resumeOf(kind: string, name: string) {
  if (kind === 'task') return { type: 'taskResumeRequested', taskId: 'asked' } as const;
  if (kind === 'type') return { type: 'typeResumed', name } as const;
  if (kind === 'namespace') return { type: 'settingsChanged', ...NO_SETTINGS } as const;
  return { type: 'pauseSet', scope: kind as 'group' | 'label', value: name, pause: null } as const;
}

function raiseOf(
  { state }: GateBench,
  { kind, name, limit, max }: { kind: string; name: string; limit: string; max: number },
) {
  if (kind === 'namespace') {
    return { type: 'settingsChanged', ...NO_SETTINGS, maxRunning: max } as const;
  }
  if (kind === 'limit') {
    const known = state.supplies.get(name)?.limit;
    if (known === undefined) throw new Error(`there is no limit ${name}`);
    return { type: 'limitSet', name, limit: { ...known, max } } as const;
  }
  const limits = limit.startsWith('limits.per_group')
    ? { per_group: { max_running: max } }
    : limit === 'limits.concurrency'
      ? { concurrency: { pointer: '/film', max } }
      : { max_running: max };
  const layer = { text: JSON.stringify({ limits }), by: null, reason: 'why', until: null };
  return { type: 'typeOverridden', name, layer } as const;
}
