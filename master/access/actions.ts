/**
 * How each change is called in the audit, or that it is not kept there: all of it stands in this table. It does not
 * compile, and the server does not start, with a route that changes something and is not in it.
 */
import { belowBase, type RouteName } from './rights.ts';

type ChangingRoute = Exclude<RouteName, `GET ${string}`>;

/**
 * Null: what is submitted, or said, a test of a receiver too, is no change of what there is; it says itself for whom it is, and when it came. Nor is
 * a login of the console: what is done with it is kept under the name of its token.
 */
const actions: Readonly<Record<ChangingRoute, string | null>> = {
  'POST /session': null,
  'DELETE /session': null,
  'POST /tokens': 'token.create',
  'DELETE /token/{name}': 'token.revoke',
  'PUT /namespace/{namespace}': 'namespace.set',
  'DELETE /namespace/{namespace}': 'namespace.delete',
  'POST /task/submit': null,
  'POST /task/submit-batch': null,
  'POST /task/{task_id}/copy': null,
  'POST /task/{task_id}/cancel': 'task.cancel',
  'PATCH /task/{task_id}': 'task.change',
  'POST /task/{task_id}/suspend': 'task.suspend',
  'POST /task/{task_id}/resume': 'task.resume',
  'POST /task/{task_id}/first': 'task.first',
  'POST /task/{task_id}/last': 'task.last',
  'DELETE /task/{task_id}': 'task.delete',
  'POST /task/{task_id}/retry': 'task.retry',
  'POST /task/{task_id}/redeliver': 'task.redeliver',
  'POST /tasks/bulk': 'task.bulk',
  'PUT /job/{name}': 'job.set',
  'DELETE /job/{name}': 'job.delete',
  'POST /job/{name}/run': 'job.run',
  'POST /job/{name}/enable': 'job.enable',
  'POST /job/{name}/disable': 'job.disable',
  'POST /job/{name}/rollback': 'job.rollback',
  'POST /job/{name}/skip': 'job.skip',
  'POST /job/{name}/unskip': 'job.unskip',
  'POST /job/{name}/backfill': 'job.backfill',
  'PUT /calendar/{name}': 'calendar.set',
  'DELETE /calendar/{name}': 'calendar.delete',
  'PUT /blackouts': 'blackouts.set',
  'POST /operation/{operation_id}/cancel': 'operation.cancel',
  'POST /operation/{operation_id}/pause': 'operation.pause',
  'POST /operation/{operation_id}/resume': 'operation.resume',
  'POST /executor/{executor_id}/drain': 'executor.drain',
  'POST /executor/{executor_id}/resume': 'executor.resume',
  'PATCH /executor/{executor_id}': 'executor.change',
  'DELETE /executor/{executor_id}': 'executor.remove',
  'POST /pause': 'pause.set',
  'POST /resume': 'pause.end',
  'POST /alert': null,
  'POST /alert/{alert_id}/silence': 'alert.silence',
  'POST /alerts/test': null,
  'PUT /alert-rule/{name}': 'alert_rule.set',
  'DELETE /alert-rule/{name}': 'alert_rule.delete',
  'PUT /alert-receiver/{name}': 'alert_receiver.set',
  'DELETE /alert-receiver/{name}': 'alert_receiver.delete',
  'PUT /view/{name}': 'view.set',
  'DELETE /view/{name}': 'view.delete',
  'POST /booking': 'booking.create',
  'DELETE /booking/{booking_id}': 'booking.cancel',
  'POST /booking/{booking_id}/skip': 'booking.skip',
  'PUT /limit/{name}': 'limit.set',
  'DELETE /limit/{name}': 'limit.delete',
  'PUT /type/{type}': 'type.set',
  'DELETE /type/{type}': 'type.delete',
  'POST /type/{type}/pause': 'type.pause',
  'POST /type/{type}/resume': 'type.resume',
  'PUT /type/{type}/override': 'type.override',
  'DELETE /type/{type}/override': 'type.end_override',
};

/** Null: what it does is not kept. @throws {Error} nobody has said whether it is. */
export function actionOf(method: string, path: string): string | null {
  if (method === 'GET') return null;
  const all: Readonly<Record<string, string | null>> = actions;
  const action = all[`${method} ${belowBase(path)}`];
  if (action === undefined)
    throw new Error(`No action is set for ${method} ${path}: see actions.ts.`);
  return action;
}
