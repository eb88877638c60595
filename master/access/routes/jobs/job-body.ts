/** From the body of a `PUT /job` to what is kept of it, and what no schema can say of it. */
import {
  BrokenJson,
  JOB_LIMITS,
  type JobRequest,
  jsonAt,
  type TriggerRequest,
} from '@soda-scheduler/protocol';
import { jobRequest } from '@soda-scheduler/protocol/schemas';
import type { z } from 'zod';
import type { JobChange } from '../../../domain/jobs/job-events.ts';
import type { Blackout } from '../../../domain/schedule/trigger-spec.ts';
import { canonicalJson } from '../../body/canonical-json.ts';
import { soundFields, valueWithParams } from '../../body/fields.ts';
import { instantOf, iso } from '../../body/instants.ts';
import { type FieldError, invalidFields, Problem } from '../../http/problem.ts';
import type { RefusalOf } from '../submission.ts';
import { readTemplate, type TemplateRules } from './templates.ts';
import { definedTrigger } from './trigger-body.ts';
import { triggerErrors } from './trigger-errors.ts';

type Fields = Partial<z.output<typeof jobRequest>>;
type Asked = Pick<Extract<JobChange, { type: 'jobSet' }>, 'definition' | 'triggers'>;

/** What the body is read against. */
export interface JobRules {
  readonly refusalOf: RefusalOf;
  readonly rulesOf: TemplateRules;
  /** Whether there is such a calendar. */
  readonly hasCalendar: (name: string) => boolean;
}

/** It yields between its steps. @throws {Problem} 400 with the path of each field that is wrong, in whatever way. */
export function* readJob(
  name: string,
  body: Buffer | undefined,
  rules: JobRules,
): Generator<void, Asked> {
  const value = valueIn(body);
  yield;
  const template = jsonAt(body?.toString() ?? '{}', ['template']);
  yield;
  return yield* jobOf(name, value, template, rules);
}

function valueIn(body: Buffer | undefined): unknown {
  try {
    return valueWithParams(body, 'template').value;
  } catch (error) {
    const count = triggerCountIn(body?.toString() ?? '');
    if (count <= JOB_LIMITS.triggerCountMax) throw error;
    // That is what is wrong, not how many values all of these have.
    const message = `expected at most ${JOB_LIMITS.triggerCountMax} entries, given a list of ${count} entries`;
    throw invalidFields([{ field: 'triggers', message }]);
  }
}

/** Of a text that may be no JSON. */
function triggerCountIn(text: string): number {
  try {
    const { triggers } = JSON.parse(text) as { readonly triggers?: unknown };
    return Array.isArray(triggers) ? triggers.length : 0;
  } catch {
    return 0;
  }
}

/** The same of a version that was kept. */
export function* keptJob(
  name: string,
  spec: string,
  template: string,
  rules: JobRules,
): Generator<void, Asked> {
  const value = { ...askedOf(spec), template: JSON.parse(template) as unknown };
  yield;
  return yield* jobOf(name, value, template, rules);
}

function* jobOf(
  name: string,
  value: unknown,
  template: string | undefined,
  rules: JobRules,
): Generator<void, Asked> {
  const { fields, errors: misshapen } = soundFields(jobRequest, value);
  const { triggers: asked = [] } = fields;
  yield;
  const isRead = fields.template !== undefined;
  const read = isRead ? yield* templateOf(template ?? '{}', rules) : null;
  yield;
  const errors = [
    ...misshapen,
    ...(read?.errors ?? []),
    ...nameErrors(name, fields),
    ...blackoutErrors(fields),
    ...(yield* triggerErrors(name, asked, rules)),
  ];
  if (errors.length > 0 || read?.task === undefined || fields.template === undefined) {
    throw invalidFields(errors);
  }
  const { task } = read;
  const { name: _, template: __, enabled = null, blackouts, tags = [], ...rest } = fields;
  const { description = null } = rest;
  const spec = {
    ...rest,
    ...(tags.length > 0 && { tags }),
    ...(blackouts !== undefined && { blackouts: blackouts.map(blackoutOf) }),
  };
  return {
    definition: {
      spec: canonicalJson(JSON.stringify(spec)),
      template: template ?? '{}',
      type: task.type,
      group: task.user.group,
      tags: [...new Set(tags)],
      description,
      isEnabled: enabled,
    },
    triggers: asked.map((trigger) =>
      definedTrigger(trigger as TriggerRequest, fields as JobRequest),
    ),
  };
}

type AskedBlackout = NonNullable<Fields['blackouts']>[number];

/** As it is kept: epoch milliseconds. */
export function blackoutOf({ from, to, reason }: AskedBlackout) {
  return { from: instantOf(from) ?? 0, to: instantOf(to) ?? 0, reason: reason ?? null };
}

/** What is kept of a job beside its template, as it is asked for. */
export function askedOf(spec: string): object {
  const { blackouts, ...rest } = JSON.parse(spec) as { readonly blackouts?: readonly Blackout[] };
  if (blackouts === undefined) return rest;
  const asked = blackouts.map(({ from, to, reason }) => {
    return { from: iso(from), to: iso(to), ...(reason !== null && { reason }) };
  });
  return { ...rest, blackouts: asked };
}

function* templateOf(text: string, { refusalOf, rulesOf }: JobRules) {
  const { task } = JSON.parse(text) as { readonly task: object };
  const errors: FieldError[] = [];
  const add = (field: string, message: string) => errors.push({ field, message });
  if (Object.hasOwn(task, 'id')) add('template.task.id', 'each run has an id of its own');
  if (Object.hasOwn(task, 'run_at')) add('template.task.run_at', 'triggers say when it runs');
  if (Object.hasOwn(task, 'deadline')) {
    add('template.task.deadline', 'it would be the same for each run: use execution_timeout');
  }
  try {
    const submission = yield* readTemplate(text, refusalOf, rulesOf);
    const misfits = (submission.misfits ?? []).map(inTemplate);
    return { task: submission, errors: [...errors, ...misfits] };
  } catch (error) {
    if (error instanceof BrokenJson || !(error instanceof Problem)) throw error;
    // As of a submit: 413.
    if (error.kind === 'tooLarge') throw error;
    const { errors: found = [{ field: 'template', message: error.message }] } = error;
    return { task: undefined, errors: [...errors, ...found.map(inTemplate)] };
  }
}

function inTemplate({ field, message }: FieldError): FieldError {
  return { field: field.startsWith('template') ? field : `template.${field}`, message };
}

function nameErrors(name: string, fields: Fields): FieldError[] {
  if (fields.name === undefined || fields.name === name) return [];
  return [{ field: 'name', message: 'differs from the one in the path' }];
}

export function blackoutErrors({ blackouts = [] }: Pick<Fields, 'blackouts'>): FieldError[] {
  return blackouts.flatMap((blackout, index) => {
    const { from, to } = blackoutOf(blackout);
    if (from < to) return [];
    const message = to === 0 ? 'expected later than 1970-01-01' : 'expected later than `from`';
    return [{ field: `blackouts[${index}].to`, message }];
  });
}
