/**
 * Counters and histograms in the words of Prometheus. Labels never hold a task id, a user or a
 * host; task types, groups and namespaces are the users' words, so that only so many of them get a label of
 * their own (`labels.ts`).
 */
import { DEFAULT_NAMESPACE } from '@soda-scheduler/protocol';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Observer } from '../../application/ports.ts';
import type { Observation } from '../../domain/effects.ts';
import type { Task } from '../../domain/model/task.ts';
import {
  type Bounded,
  type Certified,
  type Raised,
  type Scrape,
  type Scraped,
  watchGauges,
} from './gauges.ts';
import { createLabels, type Labels } from './labels.ts';

const FAST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const SLOW_SECONDS = [0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400];

export interface Metrics {
  /** Counts what happens in one namespace. */
  of(namespace: string): Observer;
  answered(route: string, status: number, seconds: number): void;
  render(): Promise<{ readonly contentType: string; readonly text: string }>;
  /** From now on scrapes read the fleet and the bounds from here. Until then those gauges are empty. */
  watch(
    scraped: Scraped,
    bounded: readonly Bounded[],
    alerts: Raised,
    certificate?: Certified | null,
  ): void;
}

export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const meters = createMeters(registry);
  const labels = createLabels();
  let scrape: Scrape = (read) => read();
  meters.buildInfo.set({ version, node: process.version }, 1);

  return {
    of: (namespace) => ({
      observe: (seen) => count(meters, labels, labels.namespaceOf(namespace), seen),
      turned: (eventCount, commitMs) => {
        meters.turnEvents.observe(eventCount);
        if (commitMs > 0) meters.dbSeconds.observe({ op: 'commit' }, commitMs / 1000);
      },
    }),
    answered: (route, status, seconds) => {
      meters.httpRequests.inc({ route, status });
      meters.httpSeconds.observe({ route }, seconds);
    },
    render: async () => {
      const text = await scrape(() => registry.metrics());
      return { contentType: registry.contentType, text };
    },
    watch: (scraped, bounded, alerts, certificate = null) => {
      scrape = watchGauges(registry, labels, scraped, bounded, alerts, certificate);
    },
  };
}

type Meters = ReturnType<typeof createMeters>;

function createMeters(registry: Registry) {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name: `scheduler_${name}`, help, labelNames: [...labelNames], registers });
  const histogram = <L extends string>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly L[] = [],
  ) =>
    new Histogram({
      name: `scheduler_${name}`,
      help,
      buckets: [...buckets],
      labelNames: [...labelNames],
      registers,
    });

  const ns = 'namespace';
  const callbacksEnded = counter('callbacks_ended_total', 'Callbacks tried no more.', [
    ns,
    'state',
  ]);
  // Before the first: an increase is seen only from a value that was there.
  for (const state of ['delivered', 'gave_up']) {
    callbacksEnded.inc({ namespace: DEFAULT_NAMESPACE, state }, 0);
  }

  return {
    submitted: counter('tasks_submitted_total', 'Tasks accepted.', [ns, 'type']),
    finished: counter('tasks_finished_total', 'Tasks that ended.', [ns, 'type', 'result']),
    groupSubmitted: counter('group_tasks_submitted_total', 'Tasks accepted, by group.', [
      ns,
      'group',
    ]),
    groupFinished: counter('group_tasks_finished_total', 'Tasks that ended, by group.', [
      ns,
      'group',
      'result',
    ]),
    startsOverdue: counter('tasks_start_overdue_total', 'Tasks not started in time.', [ns, 'type']),
    attempts: counter('task_attempts_total', 'Attempts that ended.', [ns, 'type', 'result']),
    rejected: counter('dispatch_rejected_total', 'Offers not taken.', [ns, 'reason']),
    leasesExpired: counter('leases_expired_total', 'Executors lost.', [ns]),
    staleAttempts: counter('stale_attempts_total', 'Reports of ended attempts, refused.', [ns]),
    callbacks: counter('callbacks_total', 'Tries to deliver a callback.', [ns, 'result']),
    callbacksEnded,
    httpRequests: counter('http_requests_total', 'Requests answered.', ['route', 'status']),
    fires: counter('job_times_total', 'Times of triggers, by what became of them.', [ns, 'result']),
    fireLate: histogram(
      'job_late_seconds',
      'From due to submitted, of runs of jobs.',
      FAST_SECONDS,
      [ns],
    ),
    waited: histogram('schedule_to_start_seconds', 'From due to started.', SLOW_SECONDS, [ns]),
    ran: histogram('task_duration_seconds', 'From the last start to the end.', SLOW_SECONDS, [ns]),
    dbSeconds: histogram('db_seconds', 'Time in the store.', FAST_SECONDS, ['op']),
    httpSeconds: histogram('http_request_seconds', 'Time to answer.', FAST_SECONDS, ['route']),
    turnEvents: histogram(
      'turn_events',
      'Events that one turn of the engine took.',
      [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
    ),
    buildInfo: new Gauge({
      name: 'scheduler_build_info',
      help: 'Always 1; its labels tell what runs.',
      labelNames: ['version', 'node'],
      registers,
    }),
  };
}

function count(meters: Meters, labels: Labels, namespace: string, seen: Observation): void {
  const { typeOf, groupOf } = labels;
  switch (seen.event) {
    case 'task_accepted':
      meters.submitted.inc({ namespace, type: typeOf(seen.task.type) });
      meters.groupSubmitted.inc({ namespace, group: groupOf(seen.task.user.group) });
      break;
    case 'task_started':
      meters.waited.observe({ namespace }, seen.waitedMs / 1000);
      break;
    case 'start_overdue':
      meters.startsOverdue.inc({ namespace, type: typeOf(seen.task.type) });
      break;
    case 'attempt_ended': {
      const { outcome } = seen.attempt;
      meters.attempts.inc({ namespace, type: typeOf(seen.task.type), result: outcome });
      if (outcome === 'rejected' || outcome === 'assign_timeout') {
        meters.rejected.inc({ namespace, reason: outcome });
      }
      break;
    }
    case 'task_finished':
      countEnd(meters, labels, namespace, seen.task);
      break;
    case 'executor_lost':
      meters.leasesExpired.inc({ namespace });
      break;
    case 'stale_attempt':
      meters.staleAttempts.inc({ namespace });
      break;
    case 'trigger_decided':
      meters.fires.inc({ namespace, result: seen.outcome });
      if (seen.outcome === 'ran') meters.fireLate.observe({ namespace }, seen.lateMs / 1000);
      break;
    case 'fire_refused':
      meters.fires.inc({ namespace, result: 'refused' });
      break;
    case 'notification_tried':
      meters.callbacks.inc({ namespace, result: seen.outcome });
      break;
    case 'notification_ended':
      meters.callbacksEnded.inc({ namespace, state: seen.notification.state });
      break;
    case 'alert_said':
    case 'alert_left_out':
    case 'executor_joined':
    case 'executor_left':
    case 'executor_readiness':
    case 'overdue_swept':
    case 'work_ended':
    case 'trigger_paused':
    case 'restored':
      break;
  }
}

function countEnd(
  meters: Meters,
  { typeOf, groupOf }: Labels,
  namespace: string,
  task: Task,
): void {
  const { type, state: result, user, startedAt, finishedAt } = task;
  meters.finished.inc({ namespace, type: typeOf(type), result });
  meters.groupFinished.inc({ namespace, group: groupOf(user.group), result });
  if (startedAt === null || finishedAt === null) return;
  meters.ran.observe({ namespace }, (finishedAt - startedAt) / 1000);
}
