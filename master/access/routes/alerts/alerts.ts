/** Alerts: which are raised, and were; who silences them; and what people and programs have to say themselves. */
import {
  ALERT_NAME_PATTERN,
  API_BASE,
  HTTP_LIMITS,
  type AlertView,
} from '@soda-scheduler/protocol';
import {
  alertList,
  alertListQuery,
  alertRequest,
  alertSaid,
  alertSilenceRequest,
  alertTestRequest,
  alertTestView,
  alertView,
} from '@soda-scheduler/protocol/schemas';
import type { z } from 'zod';
import type { SeenAlert } from '../../../application/alerts/alert-store.ts';
import type { Alerts } from '../../../application/alerts/alerts.ts';
import type { Scope } from '../../../application/ports.ts';
import type { Alert } from '../../../domain/alerts/alert.ts';
import { saidIn } from '../../../domain/alerts/said.ts';
import { checkShape, validate } from '../../body/fields.ts';
import { iso, untilOf } from '../../body/instants.ts';
import { invalidFields, Problem, wrongCursor } from '../../http/problem.ts';
import type { NamespaceRoute, Route } from '../../http/route.ts';
import type { Actor } from '../../auth.ts';
import { mayCallWhole } from '../../rights.ts';
import { includes } from '../../scope.ts';
import { SealedPlaces } from '../../sealed-places.ts';

const SILENCE_MS_MAX = 30 * 86_400_000;
const UNKNOWN = 'There is no such alert raised.';
/** A page looks at so many, so many times, for those that are shown on it. */
const READ_COUNT = 200;
const READS_MAX = 10;
const places = new SealedPlaces();

export function alertRoutes(
  alerts: Pick<Alerts, 'raised' | 'cleared' | 'silence' | 'test'>,
): Route[] {
  return [
    {
      method: 'GET',
      path: `${API_BASE}/alerts`,
      summary: 'The alerts that are raised, or those that are over.',
      query: alertListQuery,
      replies: { done: alertList },
      handle: async ({ query, actor }) => ({
        body: await pageOf(alerts, actor, checkShape(alertListQuery, query)),
      }),
    },
    {
      method: 'POST',
      path: `${API_BASE}/alert/{alert_id}/silence`,
      summary: 'Have nobody told of an alert for a while, also if it comes back.',
      body: { schema: alertSilenceRequest, bytesMax: HTTP_LIMITS.bodyBytesMax },
      replies: { done: alertView },
      handle: async ({ params: { alert_id: id = '' }, body, actor, author }) => {
        const { until: given, reason = null } = validate(alertSilenceRequest, body);
        const until = untilOf(given);
        if (until !== null && until > Date.now() + SILENCE_MS_MAX) {
          throw invalidFields([{ field: 'until', message: 'expected up to 30 days from now' }]);
        }
        const seen = await alerts.silence(
          id,
          { until, reason },
          (one) => sees(actor.scope, one),
          author,
        );
        if (seen === null) throw new Problem('unknown', UNKNOWN);
        return { body: viewOf(seen, actor) };
      },
    },
    {
      method: 'POST',
      path: `${API_BASE}/alerts/test`,
      summary: 'Tell a receiver that this is a test, and say how that went.',
      body: { schema: alertTestRequest, bytesMax: HTTP_LIMITS.bodyBytesMax },
      replies: { done: alertTestView },
      handle: async ({ body }) => {
        const { receiver } = validate(alertTestRequest, body);
        const tried = await alerts.test(receiver);
        if (tried === null) throw new Problem('unknown', `There is no receiver ${receiver}.`);
        const { error } = tried;
        return { body: { receiver, delivered: error === null, error } };
      },
    },
  ];
}

/** What is said in a namespace. */
export function sayAlertRoute(alerts: Pick<Alerts, 'say'>): NamespaceRoute {
  return {
    method: 'POST',
    path: `${API_BASE}/alert`,
    summary: 'Raise an alert. Said again in the same words, but for numbers, it is counted.',
    body: { schema: alertRequest, bytesMax: HTTP_LIMITS.bodyBytesMax },
    replies: { done: alertSaid },
    handle: async ({ body, actor }, { namespace }) => {
      const { severity, message, fields } = validate(alertRequest, body);
      const text = fields === undefined ? null : JSON.stringify(fields);
      const by = actor.name ?? '';
      const said = await alerts.say(saidIn(namespace, { severity, message, fields: text, by }));
      return { body: { code: 200, alerts: said.ids, omitted: said.omittedCount } };
    },
  };
}

/** What a scope leaves out is as if it were not there: also what might tell of more than one group. */
function sees(scope: Scope | null, { namespace, type, group }: Alert): boolean {
  if (scope === null) return true;
  const includesOr = (what: keyof Scope, value: string | null) =>
    value === null ? scope[what] === null : includes(scope, what, value);
  return (
    includesOr('namespaces', namespace) && includesOr('types', type) && includesOr('groups', group)
  );
}

type Place = Pick<Alert, 'raisedAt' | 'id'>;

async function pageOf(
  alerts: Pick<Alerts, 'raised' | 'cleared'>,
  actor: Actor,
  { state, namespace, limit, cursor }: z.output<typeof alertListQuery>,
) {
  const { scope, name } = actor;
  const read = (before: Place | null, count: number) =>
    alerts[state === 'cleared' ? 'cleared' : 'raised'](before, count, name ?? '');
  const isShown = ({ alert }: SeenAlert): boolean =>
    sees(scope, alert) && (namespace === undefined || alert.namespace === namespace);
  const count = scope === null && namespace === undefined ? limit + 1 : READ_COUNT;
  const shown: SeenAlert[] = [];
  let next: Place | null = cursor === undefined ? null : placeIn(cursor);
  for (let reads = 0; reads < READS_MAX && shown.length <= limit; reads++) {
    const found = await read(next, count);
    shown.push(...found.filter(isShown));
    next = found.length < count ? null : (found.at(-1)?.alert ?? null);
    if (next === null) break;
  }
  const page = shown.slice(0, limit);
  const last = page.at(-1)?.alert;
  const isLast = shown.length <= limit && next === null;
  return {
    alerts: page.map((one) => viewOf(one, actor)),
    // Of one that may not be seen nothing is told, not even when it was raised.
    next_cursor: isLast ? null : last ? cursorOf(last) : next && places.sealed(cursorOf(next)),
  };
}

const cursorOf = ({ raisedAt, id }: Place): string => `${raisedAt}.${id}`;

function placeIn(cursor: string): Place {
  const place = cursor.includes('.') ? cursor : places.opened(cursor);
  if (place === null) throw wrongCursor();
  const [time = '', id = ''] = place.split('.', 2);
  return { raisedAt: Number(time), id };
}

/** By whom and with what answer receivers were told is for those who may see what receivers there are. */
function viewOf({ alert, deliveries: all }: SeenAlert, actor: Actor): AlertView {
  const deliveries = mayCallWhole(actor, 'GET /alert-receivers') ? all : [];
  const { id, rule, kind, severity, namespace, type, group, subject, message, change } = alert;
  const { raisedAt, clearedAt, toldAt, silencedUntil, silencedBy, silenceReason, fields, count } =
    alert;
  return {
    ...{ id, rule, kind, severity, namespace, type, group, subject, message, change },
    fields: fields === null ? null : (JSON.parse(fields) as Record<string, unknown>),
    count,
    raised_at: iso(raisedAt),
    cleared_at: iso(clearedAt),
    lasts: Math.max(0, Math.round(((clearedAt ?? Date.now()) - raisedAt) / 1000)),
    told_at: iso(toldAt),
    repeats: alert.repeatCount,
    silenced_until: iso(silencedUntil),
    silenced_by: silencedBy,
    silence_reason: silenceReason,
    deliveries: deliveries.flatMap(({ receiver, told, state, tries, madeAt, error }) =>
      told.flatMap(({ event, alert: { id: of } }) =>
        of === id && event !== 'test'
          ? [{ receiver, event, state, tries, at: iso(madeAt), error }]
          : [],
      ),
    ),
  };
}

/** Of a rule or a receiver, in a path. @throws {Problem} */
export function alertNameIn({ name = '' }: Readonly<Record<string, string>>): string {
  if (ALERT_NAME_PATTERN.test(name)) return name;
  const message = 'expected 1 to 64 characters of A-Z a-z 0-9 _ . -, not . or ..';
  throw invalidFields([{ field: 'name', message }]);
}

/** A page of what has names, which are in order. */
export function namedPage<T extends { readonly name: string }>(
  all: readonly T[],
  { limit, cursor = '' }: { readonly limit: number; readonly cursor?: string | undefined },
): { readonly page: readonly T[]; readonly next: string | null } {
  const rest = all.filter(({ name }) => name > cursor);
  const page = rest.slice(0, limit);
  return { page, next: rest.length > limit ? (page.at(-1)?.name ?? null) : null };
}
