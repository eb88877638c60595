/** Who has changed what, and whether that is as it was written. */
import { API_BASE, type AuditView } from '@soda-scheduler/protocol';
import {
  auditList,
  auditQuery,
  auditVerified,
  auditVerifyQuery,
} from '@soda-scheduler/protocol/schemas';
import type { Position } from '../../application/ports.ts';
import type { AuditTrail } from '../../application/process/audit-trail.ts';
import type { AuditRecord, Fields } from '../../domain/model/audit.ts';
import { checkShape } from '../body/fields.ts';
import { instantOf, iso } from '../body/instants.ts';
import { wrongCursor } from '../http/problem.ts';
import type { Route } from '../http/route.ts';

export function auditRoutes(audit: Pick<AuditTrail, 'list' | 'verify'>): Route[] {
  return [
    {
      method: 'GET',
      path: `${API_BASE}/audit`,
      summary:
        'Who has changed what, newest first. A page looks at so many rows: it may be short, or ' +
        'empty, and the next one goes on where it ended.',
      query: auditQuery,
      replies: { done: auditList },
      handle: async (request) => {
        const query = checkShape(auditQuery, request.query);
        const { actor = null, action = null, target = null, limit, cursor } = query;
        const { records, before } = await audit.list({
          from: instantOf(query.from),
          to: instantOf(query.to),
          ...{ actor, action, target, limit },
          before: cursor === undefined ? null : positionOf(cursor),
        });
        const next_cursor = before && cursorOf(before);
        return { body: { changes: records.map(viewOf), next_cursor } };
      },
    },
    {
      method: 'GET',
      path: `${API_BASE}/audit/verify`,
      summary: 'Whether the audit is as it was written: a piece of it, from the oldest on.',
      query: auditVerifyQuery,
      replies: { done: auditVerified },
      handle: async ({ query }) => {
        const { cursor } = checkShape(auditVerifyQuery, query);
        const { count, from, to, next, misfit } = await audit.verify(
          cursor === undefined ? null : Number(cursor),
        );
        return {
          body: {
            count,
            from: from && iso(from),
            to: to && iso(to),
            misfit: misfit && {
              number: misfit.seq,
              at: misfit.at && iso(misfit.at),
              message: misfit.why,
            },
            next_cursor: next === null ? null : String(next),
          },
        };
      },
    },
  ];
}

function viewOf({ at, filter, before, after, outcome, ...record }: AuditRecord): AuditView {
  return {
    at: iso(at),
    ...record,
    outcome,
    filter: shown(filter),
    before: shown(before),
    after: shown(after),
  };
}

/** Instants as everywhere in the API. */
function shown(text: string | null): Record<string, unknown> | null {
  if (text === null) return null;
  const fields = Object.entries(JSON.parse(text) as Fields);
  return Object.fromEntries(
    fields.map(([name, value]) => {
      const isInstant = typeof value === 'number' && /_(at|until)$|^(from|to)$/.test(name);
      return [name, isInstant ? iso(value) : value];
    }),
  );
}

/** Opaque to clients, so that what it holds may change. */
function cursorOf({ time, seq }: Position): string {
  return Buffer.from(`${time}:${seq}`).toString('base64url');
}

function positionOf(cursor: string): Position {
  const [, time, seq] =
    /^(\d{1,16}):(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (time !== undefined && seq !== undefined) return { time: Number(time), seq: Number(seq) };
  throw wrongCursor();
}
