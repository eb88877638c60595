/**
 * Who may call which route, and what the scope of a token means there: all of it stands in this table. The
 * server refuses to start with a route that is not in it.
 */
import { API_BASE, DEFAULT_NAMESPACE } from '@soda-scheduler/protocol';
import type { Role, Scope } from '../application/ports.ts';
import type { ScopedPause } from '../domain/model/pause.ts';
import type { IncomingMessage } from 'node:http';
import type { Actor, Authorizer } from './auth.ts';
import { Problem } from './http/problem.ts';
import { includes, isPartial } from './scope.ts';

/**
 * What a scope means for a route.
 * - `none`: nothing, what it tells or does is for any valid token.
 * - `whole`: it is about all that the master has: only for tokens without a scope.
 * - `namespace`: it changes what all types and groups of a namespace share: that one has to be in the scope, and
 *   neither types nor groups may be limited.
 * - `type`: it changes what all groups of a type share: it has to be in the scope, and groups may not be limited.
 * - `types`: it shows what all groups have in common of the types in the scope: groups may not be limited.
 * - `submit`: namespace, type and group of what is submitted have to be in the scope.
 * - `within`: it shows and touches only what is in the scope; the rest is as if it were not there.
 */
export type ScopeRule = 'none' | 'whole' | 'namespace' | 'type' | 'types' | 'submit' | 'within';

export interface Right {
  /** Beside `admin`, which may do everything; `anyone`: also without a token. */
  readonly roles: readonly Role[] | 'anyone';
  readonly scope: ScopeRule;
}

const anyone: Right = { roles: 'anyone', scope: 'none' };
const anyToken: Right = { roles: ['read', 'submit', 'operate', 'executor'], scope: 'none' };
const admin = (scope: ScopeRule): Right => ({ roles: [], scope });
const operate = (scope: ScopeRule): Right => ({ roles: ['operate'], scope });
/** Of tasks, and of what whoever submits them has to know. */
const read = (scope: ScopeRule): Right => ({ roles: ['read', 'submit', 'operate'], scope });
/** Of what runs them. */
const readFleet = (scope: ScopeRule): Right => ({ roles: ['read', 'operate'], scope });
const submit: Right = { roles: ['submit'], scope: 'submit' };
const steer: Right = { roles: ['submit', 'operate'], scope: 'within' };

/** Paths below `API_BASE` are named without it, and stand for their twins in namespaces too. */
const table = {
  'GET /livez': anyone,
  'GET /readyz': anyone,
  'GET /openapi.json': anyone,
  'GET /': anyone,
  'GET /assets/{file}': anyone,
  'GET /docs': anyone,
  'GET /docs/': anyone,
  'GET /docs/{file}': anyone,
  'POST /session': anyone,
  'DELETE /session': anyone,
  'GET /metrics': readFleet('whole'),
  'GET /whoami': anyToken,
  'GET /governance': read('whole'),
  'GET /health': read('within'),
  'POST /tokens': admin('whole'),
  'GET /tokens': admin('whole'),
  'DELETE /token/{name}': admin('whole'),
  'GET /audit': admin('whole'),
  'GET /audit/verify': admin('whole'),
  'GET /namespaces': read('within'),
  'GET /namespace/{namespace}': read('within'),
  'PUT /namespace/{namespace}': admin('namespace'),
  'DELETE /namespace/{namespace}': admin('namespace'),
  'POST /task/submit': submit,
  'POST /task/submit-batch': submit,
  'GET /task/{task_id}': read('within'),
  'GET /task/{task_id}/attempt/{attempt}': read('within'),
  'GET /task/{task_id}/why': read('within'),
  'GET /task/{task_id}/events': read('within'),
  'GET /task/{task_id}/logs': read('within'),
  'GET /logs': read('within'),
  'GET /events': readFleet('within'),
  'GET /tasks': read('within'),
  'GET /tasks/count': read('within'),
  'GET /tasks/errors': read('within'),
  'GET /history': read('within'),
  'GET /reports/usage': read('within'),
  'GET /reports/daily': read('within'),
  'GET /reports/load': read('types'),
  'GET /reports/recent': read('types'),
  'GET /views': read('within'),
  'PUT /view/{name}': operate('namespace'),
  'DELETE /view/{name}': operate('namespace'),
  'POST /task/{task_id}/cancel': steer,
  'PATCH /task/{task_id}': steer,
  'DELETE /task/{task_id}': steer,
  'POST /task/{task_id}/copy': steer,
  'POST /task/{task_id}/suspend': steer,
  'POST /task/{task_id}/resume': steer,
  'POST /task/{task_id}/first': operate('within'),
  'POST /task/{task_id}/last': operate('within'),
  'POST /task/{task_id}/retry': steer,
  'POST /task/{task_id}/redeliver': steer,
  'POST /tasks/bulk': operate('within'),
  'GET /jobs': read('within'),
  'GET /job/{name}': read('within'),
  'PUT /job/{name}': operate('within'),
  'DELETE /job/{name}': operate('within'),
  'POST /job/{name}/run': operate('within'),
  'POST /job/{name}/enable': operate('within'),
  'POST /job/{name}/disable': operate('within'),
  'POST /job/{name}/rollback': operate('within'),
  'POST /job/{name}/skip': operate('within'),
  'POST /job/{name}/unskip': operate('within'),
  'POST /job/{name}/backfill': operate('within'),
  'GET /job/{name}/versions': read('within'),
  'GET /job/{name}/next': read('within'),
  'GET /job/{name}/occurrences': read('within'),
  'GET /calendars': read('within'),
  'GET /calendar/{name}': read('within'),
  'PUT /calendar/{name}': operate('namespace'),
  'DELETE /calendar/{name}': operate('namespace'),
  'GET /blackouts': read('within'),
  'PUT /blackouts': operate('namespace'),
  'GET /operations': read('within'),
  'GET /operation/{operation_id}': read('within'),
  'POST /operation/{operation_id}/cancel': operate('within'),
  'POST /operation/{operation_id}/pause': operate('within'),
  'POST /operation/{operation_id}/resume': operate('within'),
  'GET /alerts': read('within'),
  'POST /alert': submit,
  'POST /alert/{alert_id}/silence': operate('within'),
  'POST /alerts/test': operate('whole'),
  'GET /alert-rules': readFleet('whole'),
  'PUT /alert-rule/{name}': operate('whole'),
  'DELETE /alert-rule/{name}': operate('whole'),
  'GET /alert-receivers': readFleet('whole'),
  'PUT /alert-receiver/{name}': operate('whole'),
  'DELETE /alert-receiver/{name}': operate('whole'),
  'GET /executors': readFleet('within'),
  'GET /executor/{executor_id}': readFleet('within'),
  'GET /executor/{executor_id}/tasks': readFleet('within'),
  'DELETE /executor/{executor_id}': operate('namespace'),
  'POST /executor/{executor_id}/drain': operate('namespace'),
  'POST /executor/{executor_id}/resume': operate('namespace'),
  'PATCH /executor/{executor_id}': operate('namespace'),
  'GET /bookings': read('within'),
  'GET /booking/{booking_id}': read('within'),
  'POST /booking': submit,
  'DELETE /booking/{booking_id}': steer,
  'POST /booking/{booking_id}/skip': steer,
  'GET /limits': read('within'),
  'GET /limit/{name}': read('within'),
  'PUT /limit/{name}': operate('namespace'),
  'DELETE /limit/{name}': operate('namespace'),
  'GET /types': read('within'),
  'GET /type/{type}': read('within'),
  'PUT /type/{type}': admin('type'),
  'DELETE /type/{type}': admin('type'),
  'POST /type/{type}/pause': operate('type'),
  'POST /type/{type}/resume': operate('type'),
  'GET /pauses': read('within'),
  // What of it whoever may: `checkPause`.
  'POST /pause': operate('within'),
  'POST /resume': operate('within'),
  'PUT /type/{type}/override': operate('type'),
  'DELETE /type/{type}/override': operate('type'),
} satisfies Readonly<Record<string, Right>>;

export type RouteName = keyof typeof table;
export const rights: Readonly<Record<string, Right>> = table;

/** Of the WebSocket upgrade, which is no route: the namespace; its session sees to the types. */
const executorSession: Right = { roles: ['executor'], scope: 'submit' };

const TWIN = /^\/ns\/\{namespace\}(?=\/)/;

/** @throws {Error} the route is in no table: nobody has said who may call it. */
export function rightOf(method: string, path: string): Right {
  const right = rights[`${method} ${belowBase(path)}`];
  if (right === undefined) throw new Error(`No right is set for ${method} ${path}: see rights.ts.`);
  return right;
}

/** As the tables of rights and actions name it. */
export function belowBase(path: string): string {
  const below = path.startsWith(API_BASE) ? path.slice(API_BASE.length) : path;
  return below.replace(TWIN, '');
}

/** In which something is asked for; null: in none. */
export function namespaceIn(
  params: Readonly<Record<string, string>>,
  isInNamespace: boolean,
): string | null {
  return params['namespace'] ?? (isInNamespace ? DEFAULT_NAMESPACE : null);
}

/** @throws {Problem} */
export function checkRole(actor: Actor, { roles }: Right): void {
  if (roles === 'anyone' || actor.role === 'admin' || roles.includes(actor.role)) return;
  throw new Problem(
    'forbidden',
    `${tokenOf(actor)} has the role ${actor.role}: this takes ${inWords(roles)}.`,
  );
}

/** Whether he may call a route whose right is for tokens without a scope only. */
export function mayCallWhole({ role, scope }: Actor, route: RouteName): boolean {
  const { roles }: Right = table[route];
  return scope === null && (roles === 'anyone' || role === 'admin' || roles.includes(role));
}

/** Whoever may be an executor of that namespace. @throws {Problem} */
export function authorizeExecutor(
  authorizer: Authorizer,
  request: IncomingMessage,
  namespace: string,
): Actor {
  const actor = authorizer.identify(request);
  checkRole(actor, executorSession);
  checkScope(actor, executorSession, { namespace }, true);
  return actor;
}

/** What it takes, for people: `operate or admin`. */
export function inWords(roles: readonly Role[]): string {
  const all = [...roles, 'admin'];
  return all.length === 1 ? 'admin' : `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`;
}

/**
 * What can be told before anything is looked up, so that nothing is told of what there is.
 * @param params of the path; `isInNamespace`: without a namespace it means `default`.
 * @throws {Problem} of a namespace that is left out the same, whether there is one or not.
 */
export function checkScope(
  actor: Actor,
  { scope: rule }: Right,
  params: Readonly<Record<string, string>>,
  isInNamespace: boolean,
): void {
  const { scope } = actor;
  if (scope === null || rule === 'none') return;
  if (rule === 'whole')
    throw new Problem(
      'forbidden',
      `This takes a token without a scope: that of ${actor.name} is limited.`,
    );
  const namespace = namespaceIn(params, isInNamespace);
  if (namespace !== null && !includes(scope, 'namespaces', namespace)) {
    if (rule === 'submit') throw outside(actor, 'namespaces', namespace);
    const detail = `There is no namespace ${namespace} in the scope of the token ${actor.name}.`;
    throw new Problem('unknown', detail);
  }
  if (rule === 'namespace' && isPartial(scope)) throw shared(actor, scope, 'namespace');
  if (rule === 'types' && scope.groups !== null) throw shared(actor, scope, 'type');
  if (rule !== 'type') return;
  const { type = '' } = params;
  if (!includes(scope, 'types', type)) throw outside(actor, 'types', type);
  if (scope.groups !== null) throw shared(actor, scope, 'type');
}

/** Of a pause of all namespaces. */
const everything = admin('whole');

/**
 * Who may pause what, and resume it: of a part of a namespace only the groups, and of these only where all their types
 * are in the scope. @throws {Problem}
 */
export function checkPause(actor: Actor, scope: ScopedPause['scope'], value: string): void {
  if (scope === 'all') {
    checkRole(actor, everything);
    checkScope(actor, everything, {}, false);
  }
  if (actor.scope === null || !isPartial(actor.scope)) return;
  if (scope !== 'group') throw shared(actor, actor.scope, 'namespace');
  if (!includes(actor.scope, 'groups', value)) throw outside(actor, 'groups', value);
  if (actor.scope.types !== null) throw shared(actor, actor.scope, 'group');
}

const NOUNS = { namespaces: 'namespace', groups: 'group', types: 'type' } as const;

function outside(actor: Actor, what: keyof Scope, value: string): Problem {
  return new Problem('forbidden', outsideInWords(actor, what, value));
}

export function outsideInWords({ name }: Actor, what: keyof Scope, value: string): string {
  return `The scope of the token ${name} does not include the ${NOUNS[what]} ${value}.`;
}

function shared({ name }: Actor, scope: Scope, what: 'namespace' | 'type' | 'group'): Problem {
  const limits = (['groups', 'types'] as const).filter((one) => scope[one] !== null).join(' and ');
  return new Problem(
    'forbidden',
    `This is shared by all of the ${what}, and the scope of the token ${name} has only some ${limits}.`,
  );
}

function tokenOf({ name }: Actor): string {
  return name === null ? 'Whoever has no token' : `The token ${name}`;
}
