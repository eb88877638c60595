/**
 * Who uses this page, and what he may do: the same table as `master/access/rights.ts`, as far as the console needs it
 * (a test holds them against each other). It only saves people from buttons that would be refused: the master decides.
 */
import type { Whoami } from '@soda-scheduler/protocol';

type Role = Whoami['role'];
type ScopeRule = 'none' | 'whole' | 'namespace' | 'type' | 'types' | 'submit' | 'within';

interface Right {
  /** Beside `admin`. */
  readonly roles: readonly Role[];
  readonly scope: ScopeRule;
}

const read: readonly Role[] = ['read', 'submit', 'operate'];
const watch: readonly Role[] = ['read', 'operate'];
const steer: readonly Role[] = ['submit', 'operate'];
const operate: readonly Role[] = ['operate'];
const admin: readonly Role[] = [];

export const rights = {
  'GET /events': { roles: watch, scope: 'within' },
  'GET /executors': { roles: watch, scope: 'within' },
  'PUT /view/{name}': { roles: operate, scope: 'namespace' },
  'DELETE /view/{name}': { roles: operate, scope: 'namespace' },
  'GET /alerts': { roles: read, scope: 'within' },
  'GET /reports/load': { roles: read, scope: 'types' },
  'GET /reports/recent': { roles: read, scope: 'types' },
  'POST /alert/{alert_id}/silence': { roles: operate, scope: 'within' },
  'POST /alerts/test': { roles: operate, scope: 'whole' },
  'GET /alert-rules': { roles: watch, scope: 'whole' },
  'PUT /alert-rule/{name}': { roles: operate, scope: 'whole' },
  'DELETE /alert-rule/{name}': { roles: operate, scope: 'whole' },
  'GET /alert-receivers': { roles: watch, scope: 'whole' },
  'PUT /alert-receiver/{name}': { roles: operate, scope: 'whole' },
  'DELETE /alert-receiver/{name}': { roles: operate, scope: 'whole' },
  'GET /audit': { roles: admin, scope: 'whole' },
  'GET /tokens': { roles: admin, scope: 'whole' },
  'POST /tokens': { roles: admin, scope: 'whole' },
  'DELETE /token/{name}': { roles: admin, scope: 'whole' },
  'POST /task/submit': { roles: ['submit'], scope: 'submit' },
  'PATCH /task/{task_id}': { roles: steer, scope: 'within' },
  'DELETE /task/{task_id}': { roles: steer, scope: 'within' },
  'POST /task/{task_id}/cancel': { roles: steer, scope: 'within' },
  'POST /task/{task_id}/copy': { roles: steer, scope: 'within' },
  'POST /task/{task_id}/suspend': { roles: steer, scope: 'within' },
  'POST /task/{task_id}/resume': { roles: steer, scope: 'within' },
  'POST /task/{task_id}/first': { roles: operate, scope: 'within' },
  'POST /task/{task_id}/last': { roles: operate, scope: 'within' },
  'POST /task/{task_id}/retry': { roles: steer, scope: 'within' },
  'POST /task/{task_id}/redeliver': { roles: steer, scope: 'within' },
  'POST /tasks/bulk': { roles: operate, scope: 'within' },
  'POST /operation/{operation_id}/cancel': { roles: operate, scope: 'within' },
  'POST /operation/{operation_id}/pause': { roles: operate, scope: 'within' },
  'POST /operation/{operation_id}/resume': { roles: operate, scope: 'within' },
  'POST /executor/{executor_id}/drain': { roles: operate, scope: 'namespace' },
  'POST /executor/{executor_id}/resume': { roles: operate, scope: 'namespace' },
  'PATCH /executor/{executor_id}': { roles: operate, scope: 'namespace' },
  'DELETE /executor/{executor_id}': { roles: operate, scope: 'namespace' },
  'PUT /type/{type}': { roles: admin, scope: 'type' },
  'DELETE /type/{type}': { roles: admin, scope: 'type' },
  'POST /type/{type}/pause': { roles: operate, scope: 'type' },
  'POST /type/{type}/resume': { roles: operate, scope: 'type' },
  'PUT /type/{type}/override': { roles: operate, scope: 'type' },
  'DELETE /type/{type}/override': { roles: operate, scope: 'type' },
  'PUT /limit/{name}': { roles: operate, scope: 'namespace' },
  'DELETE /limit/{name}': { roles: operate, scope: 'namespace' },
  'PUT /calendar/{name}': { roles: operate, scope: 'namespace' },
  'DELETE /calendar/{name}': { roles: operate, scope: 'namespace' },
  'PUT /blackouts': { roles: operate, scope: 'namespace' },
  'PUT /namespace/{namespace}': { roles: admin, scope: 'namespace' },
  'DELETE /namespace/{namespace}': { roles: admin, scope: 'namespace' },
  'PUT /job/{name}': { roles: operate, scope: 'within' },
  'DELETE /job/{name}': { roles: operate, scope: 'within' },
  'POST /job/{name}/run': { roles: operate, scope: 'within' },
  'POST /job/{name}/enable': { roles: operate, scope: 'within' },
  'POST /job/{name}/disable': { roles: operate, scope: 'within' },
  'POST /job/{name}/rollback': { roles: operate, scope: 'within' },
  'POST /job/{name}/skip': { roles: operate, scope: 'within' },
  'POST /job/{name}/unskip': { roles: operate, scope: 'within' },
  'POST /job/{name}/backfill': { roles: operate, scope: 'within' },
  'POST /booking': { roles: ['submit'], scope: 'submit' },
  'DELETE /booking/{booking_id}': { roles: steer, scope: 'within' },
  'POST /booking/{booking_id}/skip': { roles: steer, scope: 'within' },
  'POST /pause': { roles: operate, scope: 'within' },
  'POST /resume': { roles: operate, scope: 'within' },
} as const satisfies Readonly<Record<string, Right>>;

export type RouteName = keyof typeof rights;

/** What of it is asked for, where the scope of a token may leave it out. */
export interface About {
  readonly type?: string;
  readonly pause?: PauseOf;
}

export interface PauseOf {
  /** As `scope` of `POST /pause`. */
  readonly scope: string;
  readonly value: string;
}

/** Whether somebody may call a route. */
export function may(me: Whoami, route: RouteName, { type, pause }: About = {}): boolean {
  const { role, scope } = me;
  const right: Right = rights[route];
  if (role !== 'admin' && !right.roles.includes(role)) return false;
  if (pause !== undefined && !mayPause(me, pause)) return false;
  if (scope === null) return true;
  if (right.scope === 'whole') return false;
  if (right.scope === 'namespace') return scope.groups === undefined && scope.types === undefined;
  if (right.scope === 'types') return scope.groups === undefined;
  if (right.scope !== 'type') return true;
  return (
    scope.groups === undefined && (type === undefined || scope.types?.includes(type) !== false)
  );
}

/** As `checkPause` of the master. */
function mayPause({ role, scope }: Whoami, pause: PauseOf): boolean {
  if (pause.scope === 'all') return role === 'admin' && scope === null;
  if (scope?.types !== undefined) return false;
  return (
    scope?.groups === undefined || (pause.scope === 'group' && scope.groups.includes(pause.value))
  );
}
