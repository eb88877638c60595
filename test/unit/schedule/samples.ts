/** Triggers for tests, with only that said of them on which the test depends. */
import type { Surroundings } from '../../../master/domain/schedule/coming.ts';
import type { TriggerSpec } from '../../../master/domain/schedule/trigger-spec.ts';

export function spec(parts: Partial<TriggerSpec> & { readonly cron?: string } = {}): TriggerSpec {
  const { cron = '0 3 * * *', ...others } = parts;
  return {
    name: 'default',
    timing: { kind: 'cron', expression: cron },
    zone: 'UTC',
    startAt: null,
    endAt: null,
    maxRuns: null,
    jitterMs: 0,
    misfire: 'once',
    graceMs: 60_000,
    overlap: { kind: 'queue_one' },
    isEnabled: true,
    onlyOn: null,
    except: null,
    shift: 'skip',
    ...others,
  };
}

export function around(parts: Partial<Surroundings> = {}): Surroundings {
  return {
    key: 'job/default',
    anchorAt: 0,
    changedAt: 0,
    armedAt: null,
    calendars: new Map(),
    blackouts: [],
    skips: new Set(),
    runsLeft: null,
    ...parts,
  };
}
