/** Triggers for tests, with only that said of them on which the test depends. */
import type { Surroundings } from '../../../master/domain/schedule/coming.ts';
import type { TriggerSpec } from '../../../master/domain/schedule/trigger-spec.ts';
import { sampleSpec } from '../../helpers/jobs/sample-job.ts';

export function spec(parts: Partial<TriggerSpec> & { readonly cron?: string } = {}): TriggerSpec {
  const { cron: expression = '0 3 * * *', ...others } = parts;
  return sampleSpec({ timing: { kind: 'cron', expression }, ...others });
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
