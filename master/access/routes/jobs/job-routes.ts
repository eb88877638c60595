/** Jobs: what is submitted again and again, when, and what has become of each time. */
import {
  API_BASE,
  HTTP_LIMITS,
  JOB_LIMITS,
  JOB_NAME_PATTERN,
  jsonObject,
} from '@soda-scheduler/protocol';
import {
  jobCommandResponse,
  jobList,
  jobListQuery,
  jobNext,
  jobNextQuery,
  jobPutQuery,
  jobRequest,
  jobRollbackRequest,
  jobRunRequest,
  jobRunResponse,
  jobVersions,
  jobView,
  occurrenceList,
  occurrenceQuery,
  skipRequest,
} from '@soda-scheduler/protocol/schemas';
import type { SeenJobInDetail } from '../../../application/jobs/jobs-handle.ts';
import { type OccurrencePlace, placeOf } from '../../../domain/model/job-query.ts';
import type { JobChange } from '../../../domain/jobs/job-events.ts';
import { BY_HAND, idleActivity, type Trigger } from '../../../domain/model/job.ts';
import { answers } from '../../http/answers.ts';
import { checkShape, validate, valueWithParams } from '../../body/fields.ts';
import { instantOf, iso, timesOf } from '../../body/instants.ts';
import { Pieces } from '../../body/pieces.ts';
import { RulesOfTypes } from '../../body/type-rules.ts';
import { etagOf, ifMatch, ifNoneMatch, versionOf } from '../../http/etag.ts';
import { invalidFields, Problem, wrongCursor } from '../../http/problem.ts';
import type { ApiRequest, NamespaceRoute, Reply } from '../../http/route.ts';
import type { ScopedMaster } from '../../scoped-master.ts';
import type { RefusalOf } from '../submission.ts';
import { newTaskId } from '../task-ids.ts';
import { jsonReply } from '../tasks.ts';
import { type JobRules, keptJob, readJob } from './job-body.ts';
import {
  detailText,
  nextView,
  occurrenceView,
  summaryOf,
  textsOf,
  versionText,
} from './job-views.ts';
import { BY_HAND_NAME } from './templates.ts';
import { timesToCome } from './times-to-come.ts';
import { warningsOf } from './warnings.ts';

const PATH = `${API_BASE}/job/{name}`;
const NEXT_COUNT = 5;

/** @param refusalOf Why the receiver of a callback would be refused, if that is known already. */
export function jobRoutes(refusalOf: RefusalOf): NamespaceRoute[] {
  const rules = new RulesOfTypes();
  const rulesFor = (master: ScopedMaster): JobRules => ({
    refusalOf,
    rulesOf: (name) => {
      const type = master.typeOf(name);
      return type === null ? null : rules.of(master.namespace, type);
    },
    hasCalendar: (name) => master.jobs().calendar(name) !== null,
  });
  const pieces = new Pieces();
  return [
    ...readRoutes(pieces),
    ...timeRoutes(),
    ...changeRoutes(pieces, rulesFor),
    ...steerRoutes(),
  ];
}

function readRoutes(pieces: Pieces): NamespaceRoute[] {
  return [
    {
      method: 'GET',
      path: `${API_BASE}/jobs`,
      summary: 'The jobs by name, with their next and newest runs.',
      query: jobListQuery,
      replies: { done: jobList },
      handle: async ({ query }, master) => {
        const { limit, cursor, ...asked } = checkShape(jobListQuery, query);
        const after = cursor === undefined ? '' : nameIn(cursor);
        const { tag = null, text = null, enabled } = asked;
        const isEnabled = enabled === undefined ? null : enabled === 'true';
        const page = await master.jobs().list({ after, limit, tag, text, isEnabled });
        const next = page.after === null ? null : cursorOf(page.after);
        const texts = textsOf(page.jobs, (job) => JSON.stringify(summaryOf(job)));
        const jobs = await pieces.run(texts);
        return jsonReply(jsonObject({ next_cursor: next }, { jobs }));
      },
    },
    {
      method: 'GET',
      path: PATH,
      summary: 'A job: what it submits, what fires it, when next, and how its newest runs went.',
      headers: ifNoneMatch,
      replies: { done: jobView, unchanged: null },
      handle: async (request, master) => {
        const { text, version } = await shown(master, nameOf(request));
        return { ...jsonReply(text), headers: { ETag: etagOf(version, text) } };
      },
    },
    {
      method: 'GET',
      path: `${PATH}/versions`,
      summary: 'How a job was before: the newest thirty versions.',
      replies: { done: jobVersions },
      handle: async (request, master) => {
        const found = await master.jobs().versions(nameOf(request));
        if (found === null) throw noJob();
        return jsonReply(`{"versions":${await pieces.run(textsOf(found, versionText))}}`);
      },
    },
  ];
}

function timeRoutes(): NamespaceRoute[] {
  return [
    {
      method: 'GET',
      path: `${PATH}/next`,
      summary: 'The next times of a job, with what calendars and black-outs make of them.',
      query: jobNextQuery,
      replies: { done: jobNext },
      handle: async (request, master) => {
        const { count, trigger, from } = checkShape(jobNextQuery, request.query);
        const { job, triggers } = await found(master, nameOf(request));
        const asked = trigger === undefined ? triggers : [triggerOf(triggers, trigger)];
        const after = instantOf(from) ?? Date.now();
        const { next, fires } = await timesToCome(master, job, asked, after, count);
        return { body: { next: next.map(nextView), fires: fires.map(nextView) } };
      },
    },
    {
      method: 'GET',
      path: `${PATH}/occurrences`,
      summary: 'What has become of each time of a job, newest first.',
      query: occurrenceQuery,
      replies: { done: occurrenceList },
      handle: async (request, master) => {
        const { limit, cursor, ...asked } = checkShape(occurrenceQuery, request.query);
        const { trigger = null, state = null } = asked;
        const isByHand = trigger === BY_HAND_NAME;
        const after = cursor === undefined ? null : placeIn(cursor);
        const times = { ...timesOf(asked), after, limit: limit + 1 };
        const by = { job: nameOf(request), trigger: isByHand ? BY_HAND : trigger, state };
        const listed = await master.jobs().occurrences({ ...by, ...times });
        if (listed === null) throw noJob();
        const { occurrences: rows, lookedTo } = listed;
        // One that it does not have any more may have records.
        if (rows.length === 0 && lookedTo === null && trigger !== null && !isByHand) {
          triggerOf((await found(master, by.job)).triggers, trigger);
        }
        const page = rows.slice(0, limit);
        const last = rows.length > limit ? page.at(-1) : undefined;
        const place = last === undefined ? lookedTo : placeOf(last);
        const next = place && cursorOf(place);
        return { body: { occurrences: page.map(occurrenceView), next_cursor: next } };
      },
    },
  ];
}

function changeRoutes(
  pieces: Pieces,
  rulesFor: (master: ScopedMaster) => JobRules,
): NamespaceRoute[] {
  return [
    {
      method: 'PUT',
      path: PATH,
      summary: 'Make a job, or change it: all of it. What is left out is not set any more.',
      headers: ifMatch,
      query: jobPutQuery,
      body: { schema: jobRequest, bytesMax: JOB_LIMITS.jobBytesMax },
      replies: { done: jobView, created: jobView },
      handle: async (request, master) => {
        const name = nameOf(request);
        const asked = await pieces.run(readJob(name, request.body, rulesFor(master)));
        const isTrial = checkShape(jobPutQuery, request.query).dry_run === 'true';
        return set(master, { name, ...asked, expect: versionOf(request), isTrial }, request);
      },
    },
    {
      method: 'POST',
      path: `${PATH}/rollback`,
      summary: 'Make a job as it was in an earlier version, as a new one.',
      headers: ifMatch,
      body: { schema: jobRollbackRequest, bytesMax: HTTP_LIMITS.bodyBytesMax },
      replies: { done: jobView },
      handle: async (request, master) => {
        const name = nameOf(request);
        const { version } = validate(jobRollbackRequest, request.body);
        await found(master, name);
        const kept = await master.jobs().version(name, version);
        if (kept === null) throw new Problem('unknown', 'There is no such version of it.');
        const reading = keptJob(name, kept.spec, kept.template, rulesFor(master));
        const asked = await pieces.run(reading);
        const change = { name, ...asked, expect: versionOf(request), isTrial: false };
        return set(master, change, request);
      },
    },
    {
      method: 'DELETE',
      path: PATH,
      summary: 'Delete a job. Runs that have begun go on.',
      headers: ifMatch,
      replies: { done: jobCommandResponse },
      handle: async (request, master) => {
        const name = nameOf(request);
        await changed(master, { type: 'jobRemoved', name, expect: versionOf(request) });
        return { body: { name, code: answers.done.status } };
      },
    },
  ];
}

function steerRoutes(): NamespaceRoute[] {
  return [
    {
      method: 'POST',
      path: `${PATH}/run`,
      summary: 'Run a job now, perhaps with other params, whatever its triggers say.',
      body: { schema: jobRunRequest, bytesMax: HTTP_LIMITS.bodyBytesMax, optional: true },
      replies: { accepted: jobRunResponse },
      handle: runNow,
    },
    ...[true, false].map((isEnabled): NamespaceRoute => {
      return {
        method: 'POST',
        path: `${PATH}/${isEnabled ? 'enable' : 'disable'}`,
        summary: isEnabled
          ? 'Let the triggers of a job fire it, those too that were paused.'
          : 'Let no trigger fire a job. It can still be run by hand.',
        replies: { done: jobView },
        handle: async (request, master) => {
          const name = nameOf(request);
          await changed(master, { type: 'jobEnabled', name, isEnabled });
          return jsonReply((await shown(master, name)).text);
        },
      };
    }),
    ...[true, false].map((isSkipped): NamespaceRoute => {
      return {
        method: 'POST',
        path: `${PATH}/${isSkipped ? 'skip' : 'unskip'}`,
        summary: isSkipped
          ? 'Do not run a job at one time that is to come.'
          : 'Run a job at a time that was to be skipped.',
        body: { schema: skipRequest, bytesMax: HTTP_LIMITS.bodyBytesMax },
        replies: { done: jobCommandResponse },
        handle: (request, master) => skip(request, master, isSkipped),
      };
    }),
  ];
}

async function runNow(request: ApiRequest, master: ScopedMaster): Promise<Reply> {
  const name = nameOf(request);
  const { value, params } = valueWithParams(request.body, 'body');
  const { key = newTaskId() } = checkShape(jobRunRequest, value);
  const { run } = await changed(master, { type: 'jobRun', name, key, params });
  if (run === undefined) throw new Error('The engine has run nothing.');
  const { taskId, nominal } = run;
  const body = { task_id: taskId, code: answers.accepted.status, occurrence: iso(nominal) };
  return { kind: 'accepted', body };
}

async function skip(request: ApiRequest, master: ScopedMaster, isSkipped: boolean): Promise<Reply> {
  const name = nameOf(request);
  const { trigger: asked, nominal } = validate(skipRequest, request.body);
  const { job, triggers } = await found(master, name);
  const { name: trigger } = triggerOf(triggers, asked);
  const at = instantOf(nominal) ?? 0;
  const times = await master.jobs().next(job, [triggerOf(triggers, trigger)], at - 1, 1);
  if (isSkipped && times[0]?.coming.nominal !== at) {
    const message = 'expected a time of the trigger, as `GET /job/{name}/next` has them';
    throw invalidFields([{ field: 'nominal', message }]);
  }
  await changed(master, { type: 'occurrenceSkipped', name, trigger, nominal: at, isSkipped });
  return { body: { name, code: answers.done.status } };
}

async function set(
  master: ScopedMaster,
  change: Omit<Extract<JobChange, { type: 'jobSet' }>, 'type' | 'by'>,
  { actor }: ApiRequest,
): Promise<Reply> {
  const { name, definition, isTrial } = change;
  const outcome = await changed(master, { type: 'jobSet', ...change, by: actor.name });
  const { version = 0, isNew = false, triggers = [] } = outcome;
  const kind = isNew ? 'created' : 'done';
  if (!isTrial) {
    const { text } = await shown(master, name);
    return { kind, ...jsonReply(text), headers: { ETag: etagOf(version) } };
  }
  const before = await master.jobs().show(name);
  const isEnabled = definition.isEnabled ?? before?.job.isEnabled ?? true;
  const now = Date.now();
  const nothing = {
    createdAt: now,
    ownedAt: now,
    lastStartedAt: null,
    lastEndedAt: null,
    recent: '',
  };
  const job = { ...nothing, ...before?.job, ...definition, name, version, isEnabled };
  const { activity = idleActivity(name) } = before ?? {};
  const seen = { job: { ...job, changedAt: now, by: actor.name }, triggers, activity };
  return { kind, ...jsonReply(await detail(master, seen)), logged: null };
}

async function changed(master: ScopedMaster, change: JobChange) {
  const outcome = await master.jobs().change(change);
  if (outcome.kind === 'done') return outcome;
  const { kind, message } = outcome;
  if (kind === 'misfit' && change.type === 'jobSet') {
    throw invalidFields([{ field: 'triggers', message }]);
  }
  throw new Problem(kind, message, kind === 'limited' ? { limit: outcome.limit } : {});
}

async function shown(master: ScopedMaster, name: string) {
  const seen = await found(master, name);
  return { text: await detail(master, seen), version: seen.job.version };
}

async function detail(master: ScopedMaster, seen: SeenJobInDetail) {
  const { job, triggers } = seen;
  const { next, fires } = await timesToCome(master, job, triggers, Date.now(), NEXT_COUNT);
  const runs = await master.jobs().runs(job);
  const fired = job.isEnabled ? new Set(fires.map(({ trigger }) => trigger)) : null;
  const warnings = await warningsOf(triggers, master.jobs(), fired);
  return detailText(seen, runs, next, fires, warnings);
}

export async function found(master: ScopedMaster, name: string): Promise<SeenJobInDetail> {
  const seen = await master.jobs().show(name);
  if (seen === null) throw noJob();
  return seen;
}

const noJob = () => new Problem('unknown', 'There is no such job.');

/** The only one where none is named. @throws {Problem} */
export function triggerOf(triggers: readonly Trigger[], name: string | undefined): Trigger {
  const found =
    name === undefined && triggers.length === 1
      ? triggers[0]
      : triggers.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = triggers.map((one) => one.name).join(', ');
  throw invalidFields([{ field: 'trigger', message: `expected one of ${names || 'none'}` }]);
}

export function nameOf({ params }: ApiRequest): string {
  const { name = '' } = params;
  if (JOB_NAME_PATTERN.test(name)) return name;
  const message = 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : -';
  throw invalidFields([{ field: 'name', message }]);
}

function cursorOf(place: OccurrencePlace | string): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

function placeIn(cursor: string): OccurrencePlace {
  try {
    const place = jsonIn(cursor);
    if (Array.isArray(place) && place.length === 3) {
      const [nominal, trigger, rerun] = place as unknown[];
      const isPlace = Number.isSafeInteger(nominal) && Number.isSafeInteger(rerun);
      if (isPlace && typeof trigger === 'string') return place as unknown as OccurrencePlace;
    }
  } catch {
    // Said below.
  }
  throw wrongCursor();
}

/** Of a list by name: the last one of its page. */
function nameIn(cursor: string): string {
  try {
    const name = jsonIn(cursor);
    if (typeof name === 'string' && JOB_NAME_PATTERN.test(name)) return name;
  } catch {
    // Said below.
  }
  throw wrongCursor();
}

const jsonIn = (cursor: string): unknown => JSON.parse(Buffer.from(cursor, 'base64url').toString());
