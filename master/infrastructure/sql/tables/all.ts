/** Every table: those that commits write, and what all have that are made as they are now. */
import type { TableName, WholeName } from '../../../domain/changes.ts';
import {
  alertDefinition,
  alertSettingDefinition,
  deliveryDefinition,
} from '../alerts/alert-tables.ts';
import { auditDefinition } from '../audit/append.ts';
import type { Types } from '../dialects/dialect.ts';
import { eventDefinition } from '../feed/event-table.ts';
import { installationDefinition } from '../installation.ts';
import { LOAD_TABLE, loadDefinition } from '../load/load-table.ts';
import { LOG_TABLE, logDefinition, logEnd } from '../logs/log-table.ts';
import { work, workDefinition } from '../long-work/work-table.ts';
import {
  activityDefinition,
  calendar,
  calendarDefinition,
  job,
  jobActivity,
  jobDefinition,
  jobVersion,
  jobVersionDefinition,
  occurrence,
  occurrenceDefinition,
  trigger,
  triggerDefinition,
} from '../jobs/job-tables.ts';
import { deltaDefinition, usage, usageDefinition } from '../usage/usage-table.ts';
import { attempt } from './attempt.ts';
import { booking, bookingDefinition } from '../bookings/booking-table.ts';
import { executor, executorDefinition } from './executor.ts';
import { history } from './history.ts';
import { lane, laneDefinition } from './lane.ts';
import { leftover, leftoverDefinition } from './leftover.ts';
import { holding, holdingDefinition, limit, limitDefinition } from './limit.ts';
import { pause, pauseDefinition } from './pause.ts';
import { rate, rateDefinition } from './rate.ts';
import { view, viewDefinition } from './saved-view.ts';
import type { Table, WholeTable } from './table.ts';
import { task } from './task.ts';
import { tokenDefinition } from './token.ts';
import { type, typeDefinition } from './type.ts';

type Tables = { readonly [N in TableName]: Table<N> };
type WholeTables = { readonly [N in WholeName]: WholeTable<N> };

/** In the order in which commits write them. */
export const tables: Tables & WholeTables = {
  lane,
  task,
  history,
  attempt,
  executor,
  leftover,
  limit,
  holding,
  rate,
  type,
  pause,
  view,
  work,
  job,
  jobVersion,
  trigger,
  occurrence,
  jobActivity,
  calendar,
  booking,
  usage,
  logEnd,
};

/** The columns of each table that has them from the start: of all that 2.0.0 did not have. */
export const definitions: Readonly<Record<string, (t: Types) => string>> = {
  lane: laneDefinition,
  executor: executorDefinition,
  leftover: leftoverDefinition,
  rate: rateDefinition,
  shared_limit: limitDefinition,
  holding: holdingDefinition,
  task_type: typeDefinition,
  pause: pauseDefinition,
  saved_view: viewDefinition,
  installation: installationDefinition,
  token: tokenDefinition,
  audit: auditDefinition,
  feed_event: eventDefinition,
  work: workDefinition,
  alert: alertDefinition,
  alert_delivery: deliveryDefinition,
  alert_setting: alertSettingDefinition,
  [LOG_TABLE]: logDefinition,
  usage_delta: deltaDefinition,
  usage_day: usageDefinition,
  [LOAD_TABLE]: loadDefinition,
  job: jobDefinition,
  job_version: jobVersionDefinition,
  job_trigger: triggerDefinition,
  occurrence: occurrenceDefinition,
  job_activity: activityDefinition,
  calendar: calendarDefinition,
  booking: bookingDefinition,
};
