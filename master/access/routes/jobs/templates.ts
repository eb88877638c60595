/**
 * What runs of jobs are submitted as: their templates, read by the very rules of a submit, with the defaults and the
 * schema of the type as it is now.
 */
import { hash, randomBytes } from 'node:crypto';
import { BrokenJson, NEW_TASK_ID_PATTERN } from '@soda-scheduler/protocol';
import type { Templated, Templates } from '../../../application/jobs/templates.ts';
import type { Submission } from '../../../application/master-handle.ts';
import { TEMPLATES_KEPT_LENGTH_MAX } from '../../../domain/bounds.ts';
import { BY_HAND } from '../../../domain/model/job.ts';
import type { NewTask } from '../../../domain/model/new-task.ts';
import { runAtOnce } from '../../body/pieces.ts';
import { RulesOfTypes } from '../../body/type-rules.ts';
import { Problem } from '../../http/problem.ts';
import { readSubmission, type RefusalOf } from '../submission.ts';

/** In place of a trigger: in ids, and where people ask for what was run so. */
export const BY_HAND_NAME = 'manual';

export type TemplateRules = Parameters<typeof readSubmission>[4];

/** What was read of a template, as long as its type is as it was. */
interface Kept {
  readonly typeText: string | null;
  readonly task: NewTask | string;
}

/** Of one namespace. */
export class JobTemplates implements Templates {
  readonly #namespace: string;
  readonly #refusalOf: RefusalOf;
  readonly #rules = new RulesOfTypes();
  /** By the text: that of a job which is fired often is read once. */
  readonly #kept = new Map<string, Kept>();
  #keptLength = 0;

  constructor(namespace: string, refusalOf: RefusalOf) {
    this.#namespace = namespace;
    this.#refusalOf = refusalOf;
  }

  taskOf(
    { template }: Templated,
    typeOf: Parameters<Templates['taskOf']>[1],
    params: string | null,
  ): NewTask | string {
    if (params !== null) return this.#read(withParams(template, params), typeOf).task;
    const kept = this.#kept.get(template);
    if (kept !== undefined) {
      const { task } = kept;
      const type = typeof task === 'string' ? null : typeOf(task.type);
      if (typeof task !== 'string' && (type?.text ?? null) === kept.typeText) return task;
    }
    const read = this.#read(template, typeOf);
    this.#keep(template, read);
    return read.task;
  }

  #keep(template: string, read: Kept): void {
    if (!this.#kept.delete(template)) this.#keptLength += template.length;
    this.#kept.set(template, read);
    for (const text of this.#kept.keys()) {
      if (this.#keptLength <= TEMPLATES_KEPT_LENGTH_MAX || text === template) break;
      this.#kept.delete(text);
      this.#keptLength -= text.length;
    }
  }

  #read(text: string, typeOf: Parameters<Templates['taskOf']>[1]): Kept {
    let typeText: string | null = null;
    try {
      const reading = readTemplate(text, this.#refusalOf, (name) => {
        const type = typeOf(name);
        typeText = type?.text ?? null;
        return type === null ? null : this.#rules.of(this.#namespace, type);
      });
      const submission = runAtOnce(reading);
      const { asked: _, misfits, ...task } = submission;
      if (misfits === undefined) return { typeText, task };
      return { typeText, task: wordsOf(misfits) };
    } catch (error) {
      if (error instanceof BrokenJson) return { typeText, task: 'its template is no JSON' };
      if (!(error instanceof Problem)) throw error;
      return { typeText, task: wordsOf(error.errors) || error.message };
    }
  }

  taskIdOf(job: string, trigger: string, of: number | string, rerun: number): string {
    return taskIdOf(job, trigger, of, rerun);
  }

  anotherIdOf(taskId: string): string {
    return fitting(`${taskId}.${randomBytes(8).toString('hex')}`);
  }
}

/** It yields. @throws {Problem} @throws {BrokenJson} as a submit of it would be refused. */
export function readTemplate(
  text: string,
  refusalOf: RefusalOf,
  rulesOf: TemplateRules,
): Generator<void, Submission> {
  const bytes = Buffer.from(text);
  const whole = { start: 0, end: bytes.length };
  return readSubmission(bytes, whole, null, refusalOf, rulesOf);
}

function wordsOf(errors: Problem['errors']): string {
  return (errors ?? []).map(({ field, message }) => `${field}: ${message}`).join('; ');
}

/** JSON of a template with other params. */
function withParams(template: string, params: string): string {
  const { task, ...rest } = JSON.parse(template) as { task: object };
  const { params: _, ...fields } = task as { params?: unknown };
  const taskText = JSON.stringify(fields);
  const comma = taskText === '{}' ? '' : ',';
  const others = Object.entries(rest).map(
    ([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  return `{"task":${taskText.slice(0, -1)}${comma}"params":${params}}${others.join('')}}`;
}

/** As `nightly.default.20261122T190000Z`, or of as much a hash where that is none of an id. */
function taskIdOf(job: string, trigger: string, of: number | string, rerun: number): string {
  const what = typeof of === 'string' ? of : compact(of);
  const again = rerun === 0 ? '' : `.r${rerun}`;
  return fitting(`${job}.${trigger === BY_HAND ? BY_HAND_NAME : trigger}.${what}${again}`);
}

function fitting(id: string): string {
  return NEW_TASK_ID_PATTERN.test(id) ? id : `job-${hash('sha256', id).slice(0, 40)}`;
}

/** As `20261122T190000Z`, with milliseconds where it has some. */
function compact(at: number): string {
  return new Date(at).toISOString().replaceAll(/[-:]|\.000/g, '');
}
