/** A job and a trigger made by hand, for tests that begin behind the rules by which they come to be. */
import type { Job, Trigger } from '../../../master/domain/model/job.ts';
import type { TriggerSpec } from '../../../master/domain/schedule/trigger-spec.ts';
import { NOW } from '../task.ts';

export function sampleJob(change: Partial<Job> = {}): Job {
  return {
    name: 'nightly',
    version: 1,
    isEnabled: true,
    spec: '{}',
    template: '{"task":{"type":"echo"},"user":{"group":"g"}}',
    type: 'echo',
    group: 'g',
    tags: [],
    description: null,
    createdAt: NOW,
    changedAt: NOW,
    ownedAt: NOW,
    by: null,
    lastStartedAt: null,
    lastEndedAt: null,
    recent: '',
    ...change,
  };
}

export function sampleSpec(change: Partial<TriggerSpec> = {}): TriggerSpec {
  return {
    name: 'default',
    timing: { kind: 'every', everyMs: 60_000 },
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
    ...change,
  };
}

export function sampleTrigger(change: Partial<Trigger> = {}): Trigger {
  return {
    job: 'nightly',
    name: 'default',
    kind: 'every',
    spec: JSON.stringify(sampleSpec()),
    isCalendared: true,
    source: null,
    anchorAt: NOW,
    changedAt: NOW,
    armedAt: null,
    nextAt: NOW + 60_000,
    nextNominal: NOW + 60_000,
    decidedUntil: NOW,
    firedCount: 0,
    lastFiredAt: null,
    failureCount: 0,
    paused: null,
    skips: [],
    decidedAhead: [],
    openRun: null,
    ...change,
  };
}
