/** From the body of a `PUT /type` to the text that is kept: the words of the source, and what no schema can say. */
import type { TypeView } from '@soda-scheduler/protocol';
import { typeDefinition, type typeOverrideRequest } from '@soda-scheduler/protocol/schemas';
import type { z } from 'zod';
import type { MasterHandle } from '../../application/master-handle.ts';
import { KIND_LENGTH_MAX, kindKeyOf } from '../../domain/model/task.ts';
import { isZone } from '../../domain/usage/day.ts';
import { canonicalJson } from '../body/canonical-json.ts';
import { ParamsSchema } from '../body/params-schema.ts';
import { soundFields } from '../body/fields.ts';
import { type FieldError, invalidFields, Problem } from '../http/problem.ts';
import type { RefusalOf } from './submission.ts';

type Definition = Partial<z.output<typeof typeDefinition>>;
type Override = z.output<typeof typeOverrideRequest>;
/** In the words of the API alone: what of a view was defined. */
export type Defined = Omit<
  TypeView,
  'type' | 'registered' | 'version' | 'paused' | 'overrides' | 'counts' | 'executors' | 'constraint'
>;

/**
 * @param name In the path. @param body Of whatever shape.
 * @throws {Problem} 400 with the path of each field that is wrong, in whatever way.
 */
export function definitionText(
  name: string,
  body: unknown,
  parent: Parent,
  refusalOf: RefusalOf,
): string {
  const { fields, errors: misshapen } = soundFields(typeDefinition, body);
  const { defined, errors: contrary } = inOurWords(name, fields);
  const errors = [
    ...misshapen,
    ...contrary,
    ...defaultErrors(name, defined.defaults, refusalOf),
    ...limitErrors(defined.limits, parent),
    ...usesErrors(defined.uses, parent),
    ...weightErrors(defined),
    ...routeErrors(defined.route),
    ...schemaErrors(defined.params_schema),
  ];
  if (errors.length > 0) throw invalidFields(errors);
  return textOf(defined);
}

/** @throws {Problem} 400 */
export function overrideText({ limits, route }: Override, parent: Parent): string {
  const errors = [...limitErrors(limits, parent), ...routeErrors(route)];
  if (errors.length > 0) throw invalidFields(errors);
  return textOf({ limits, route });
}

/** Equal for what means the same, whatever the order of its keys. */
const textOf = (value: object): string => canonicalJson(JSON.stringify(value));

/** The names of Asyncflow mean these; who says a thing in both ways must say the same. */
function inOurWords(
  name: string,
  body: Definition,
): { readonly defined: Defined; readonly errors: readonly FieldError[] } {
  const {
    type,
    max_retry_num,
    max_retry_interval,
    max_processing_time,
    schedule_limit,
    schedule_interval,
    ...defined
  } = body;
  const errors: FieldError[] = [];
  const differs = (field: string, other: string) =>
    errors.push({ field, message: `differs from ${other}` });
  if (type !== undefined && type !== name) differs('type', 'the one in the path');
  /** What of both is said. */
  const one = <T>(field: string, given: T | undefined, other: string, ours: T | undefined) => {
    const isSame = JSON.stringify(given) === JSON.stringify(ours);
    if (given !== undefined && ours !== undefined && !isSame) differs(field, other);
    return ours ?? given;
  };
  const { defaults = {}, pull = {} } = defined;
  const { retry = {} } = defaults;
  const tries = max_retry_num === undefined ? undefined : max_retry_num + 1;
  const max_attempts = one(
    'max_retry_num',
    tries,
    'defaults.retry.max_attempts',
    retry.max_attempts,
  );
  const interval = one(
    'max_retry_interval',
    max_retry_interval,
    'defaults.retry.interval',
    retry.interval,
  );
  const execution_timeout = one(
    'max_processing_time',
    max_processing_time,
    'defaults.execution_timeout',
    defaults.execution_timeout,
  );
  const limit = one('schedule_limit', schedule_limit, 'pull.limit', pull.limit);
  const pause = one('schedule_interval', schedule_interval, 'pull.interval', pull.interval);
  return {
    defined: {
      ...defined,
      defaults: given({ ...defaults, retry: given({ max_attempts, interval }), execution_timeout }),
      pull: given({ limit, interval: pause }),
    },
    errors,
  };
}

/** Without what is undefined; undefined itself where nothing is left. */
function given<T extends object>(fields: T): T | undefined {
  const said = Object.entries(fields).filter(([, value]) => value !== undefined);
  return said.length === 0 ? undefined : (Object.fromEntries(said) as T);
}

function defaultErrors(
  name: string,
  defaults: Defined['defaults'],
  refusalOf: RefusalOf,
): FieldError[] {
  const { labels = [], requires = [], notify_url } = defaults ?? {};
  const errors: FieldError[] = [];
  if (kindKeyOf(name, requires, labels).length > KIND_LENGTH_MAX) {
    const field = requires.length > 0 ? 'defaults.requires' : 'defaults.labels';
    const message = `expected type, requires and labels of ${KIND_LENGTH_MAX} characters together`;
    errors.push({ field, message });
  }
  const refusal = notify_url === undefined ? null : refusalOf(notify_url);
  if (refusal !== null) errors.push({ field: 'defaults.notify_url', message: refusal });
  return errors;
}

/** One above its parent's would never be reached, and is a mistake. */
function limitErrors(limits: Defined['limits'], parent: Parent): FieldError[] {
  if (limits === undefined) return [];
  const { namespace } = parent;
  const errors: FieldError[] = [];
  const within = (
    field: string,
    value: number | null,
    max: number | null,
    above: string,
    how = '',
  ) => {
    if (value === null || max === null || value <= max) return;
    const message = `${value} is above ${above}, which is ${max}: set ${max} or less, or raise that${how}`;
    errors.push({ field: `limits.${field}`, message });
  };
  const ofNamespace = (field: string, option: string, value: number | null, max: number | null) => {
    const how = ` (soda namespace set ${namespace} --${option} ${value})`;
    within(field, value, max, `${field} of namespace ${namespace}`, how);
  };
  const { maxRunning, maxWaiting } = parent.settings();
  const { max_running: running = null, max_waiting: waiting = null, windows = [] } = limits;
  ofNamespace('max_running', 'max-running', running, maxRunning);
  ofNamespace('max_waiting', 'max-waiting', waiting, maxWaiting);
  const { max_running = null, max_waiting = null } = limits.per_group ?? {};
  within('per_group.max_running', max_running, running, 'limits.max_running');
  within('per_group.max_waiting', max_waiting, waiting, 'limits.max_waiting');
  within('concurrency.max', limits.concurrency?.max ?? null, running, 'limits.max_running');
  for (const [index, window] of windows.entries()) {
    const field = `windows[${index}].max_running`;
    within(field, window.max_running ?? null, running, 'limits.max_running');
    if (!isZone(window.zone)) {
      errors.push({
        field: `limits.windows[${index}].zone`,
        message: 'expected a zone, as Europe/Berlin',
      });
    }
  }
  return errors;
}

/** What its parent is, and what is set for that. */
type Parent = Pick<MasterHandle, 'namespace' | 'settings' | 'seenLimit'>;

function schemaErrors(schema: Defined['params_schema']): readonly FieldError[] {
  try {
    if (schema !== undefined) new ParamsSchema(schema);
    return [];
  } catch (error) {
    if (error instanceof Problem && error.errors !== undefined) return error.errors;
    throw error;
  }
}

/** A limit that there is not, or more than there is of it, would keep every task waiting. */
function usesErrors(uses: Defined['uses'], parent: Parent): FieldError[] {
  return (uses ?? []).flatMap(({ limit, n }, index) => {
    const max = parent.seenLimit(limit)?.limit.max;
    if (max === undefined) {
      return [{ field: `uses[${index}].limit`, message: `there is no limit ${limit}` }];
    }
    if (n <= max) return [];
    return [
      { field: `uses[${index}].n`, message: `above the max of limit ${limit}, which is ${max}` },
    ];
  });
}

function routeErrors(route: Defined['route']): FieldError[] {
  if (route === undefined) return [];
  const { rule, pointer, wait } = route;
  if (rule === 'sticky' && pointer === undefined) {
    return [{ field: 'route.pointer', message: 'sticky needs one: where in the params to look' }];
  }
  if (rule === 'sticky') return [];
  const errors: FieldError[] = [];
  const message = 'for sticky alone';
  if (pointer !== undefined) errors.push({ field: 'route.pointer', message });
  if (wait !== undefined) errors.push({ field: 'route.wait', message });
  return errors;
}

function weightErrors({ group_weights, fair_by }: Defined): FieldError[] {
  if (group_weights === undefined || fair_by !== undefined) return [];
  return [{ field: 'group_weights', message: 'needs fair_by: "group"' }];
}
