/** Past times of a job that are run now: shown first, then begun, and followed as an operation. */
import { API_BASE, HTTP_LIMITS } from '@soda-scheduler/protocol';
import { backfillPreview, backfillRequest, operationBegun } from '@soda-scheduler/protocol/schemas';
import { decidedUntil, refusalOf } from '../../../application/jobs/backfill-times.ts';
import type { Job, Trigger } from '../../../domain/model/job.ts';
import { BACKFILL_COUNT_MAX } from '../../../domain/bounds.ts';
import { validate } from '../../body/fields.ts';
import { instantOf, iso } from '../../body/instants.ts';
import { invalidFields, Problem } from '../../http/problem.ts';
import type { ApiRequest, NamespaceRoute, Reply } from '../../http/route.ts';
import {
  type BackfillAsker,
  openBackfill,
  operationIdOf,
  PREVIEW_MS,
  sealBackfill,
} from '../../previews.ts';
import type { ScopedMaster } from '../../scoped-master.ts';
import { found, nameOf, triggerOf } from './job-routes.ts';

/** The first instants that a schedule may be asked for: what is before it is a mistake. */
const FROM_MIN = Date.UTC(2000, 0, 1);

export function backfillRoute(): NamespaceRoute {
  return {
    method: 'POST',
    path: `${API_BASE}/job/{name}/backfill`,
    summary:
      'Tell how many past times of a trigger would be run; with the token of that answer, run them.',
    body: { schema: backfillRequest, bytesMax: HTTP_LIMITS.bodyBytesMax },
    replies: { done: backfillPreview, accepted: operationBegun },
    handle: backfill,
  };
}

async function backfill(request: ApiRequest, master: ScopedMaster): Promise<Reply> {
  const { token, reason = null, ...body } = validate(backfillRequest, request.body);
  const name = nameOf(request);
  const { job, triggers } = await found(master, name);
  const trigger = triggerOf(triggers, body.trigger);
  const { which, max_running: maxRunning } = body;
  const from = instantOf(body.from) ?? 0;
  const to = instantOf(body.to) ?? 0;
  const asked = { trigger: trigger.name, from, to, which, maxRunning };
  const { actor } = request;
  const asker: BackfillAsker = { namespace: master.namespace, actor, job: name, asked };
  if (token === undefined) return preview(master, job, trigger, asker);
  const shown = openBackfill(token, asker, await master.operations().secrets());
  if (shown === null) throw refusedToken('it is of no preview of this very request by this caller');
  const { until, count, isExact, version, expiresAt } = shown;
  const workId = operationIdOf(token);
  // Sent again, it is answered as before, whatever has become of the job.
  if ((await master.operations().of(workId)) === null) {
    if (expiresAt <= Date.now()) throw refusedToken('its preview is older than ten minutes');
    if (version !== job.version) throw refusedToken('the job has been changed since its preview');
  }
  const { to: _, ...kept } = asked;
  const begun = { ...kept, job: name, until, reason, by: actor.name, count, isExact };
  const outcome = await master.jobs().backfill(workId, begun);
  if (outcome.kind !== 'done') throw new Problem(outcome.kind, outcome.message);
  const logged = { operation_id: workId, action: 'backfill', job: name, count, reason };
  return { kind: 'accepted', body: { operation_id: workId }, logged };
}

async function preview(
  master: ScopedMaster,
  job: Job,
  trigger: Trigger,
  asker: BackfillAsker,
): Promise<Reply> {
  const { from, to, which } = asker.asked;
  const now = Date.now();
  const impossible = refusalOf(trigger);
  if (impossible !== null) throw refused('trigger', impossible);
  if (from < FROM_MIN) throw refused('from', 'expected not before 2000-01-01');
  if (to <= from) throw refused('to', 'expected later than `from`');
  if (to > now)
    throw refused('to', 'expected a time that has passed: later ones come by themselves');
  const until = Math.min(to, decidedUntil(trigger, now) + 1);
  const found = await master.jobs().previewBackfill(job, trigger, { from, until, which });
  if (typeof found === 'string') throw refused('trigger', found);
  const { count, isExact, first, last, coveredCount, leftOutCount, cutAt } = found;
  if (cutAt !== null) {
    const max = BACKFILL_COUNT_MAX.toLocaleString('en');
    // `to` itself is not in it.
    const end = iso(cutAt + 1);
    throw refused('to', `one goes through ${max} times at most: those before ${end}, here`);
  }
  const secrets = await master.operations().secrets();
  const expiresAt = now + PREVIEW_MS;
  const { version } = job;
  const body = {
    count,
    exact: isExact,
    first: iso(first),
    last: iso(last),
    covered: coveredCount,
    left_out: leftOutCount,
    trigger: trigger.name,
    to: iso(until),
    token: sealBackfill({ until, count, isExact, version, expiresAt }, asker, secrets),
    expires_at: iso(expiresAt),
  };
  return { body, logged: null };
}

function refused(field: string, message: string): Problem {
  return invalidFields([{ field, message }]);
}

function refusedToken(why: string): Problem {
  return refused('token', `${why}: ask for another preview`);
}
