/** The bodies of the audit: who has changed what. As in `api/tasks.ts`, the master validates with these schemas. */
import { z } from 'zod';
import { countInQuery, instantInQuery, text } from './fields.ts';
import { HTTP_LIMITS } from '../limits.ts';

export const auditQuery = z.strictObject({
  from: instantInQuery.optional().describe('Not before this instant.'),
  to: instantInQuery.optional().describe('Before this instant.'),
  actor: text(64).optional().describe('The name of a token, or `config:admin` and the like.'),
  action: z
    .string()
    .regex(/^[a-z_]{1,32}(\.[a-z_]{1,32})?$/, 'expected type.pause, or type for all that begin so')
    .optional(),
  target: text(128).optional().describe('What was changed, by its name.'),
  limit: countInQuery(HTTP_LIMITS.listCountMax).default(50),
  cursor: z.string().max(64).optional().describe('`next_cursor` of a page.'),
});

const fields = z.record(z.string(), z.unknown());

export const auditView = z.object({
  at: z.string(),
  actor: z.string().nullable().describe('The name of a token; null: none was needed.'),
  role: z.string(),
  address: z.string().describe('Where the request came from, which may be a proxy.'),
  action: z.string(),
  namespace: z.string().nullable().describe('In which; null: in none.'),
  target: z.string().nullable().describe('What was changed, by its name.'),
  outcome: z.enum(['done', 'refused']).describe('`refused`: to somebody who may not do this.'),
  filter: fields.nullable().describe('By which many were chosen.'),
  count: z
    .int()
    .nullable()
    .describe('How many; of what was refused: the tries since the row before that was.'),
  before: fields.nullable().describe('What of it has changed, as it was; null: it was not there.'),
  after: fields.nullable().describe('The same as it is since; null: it is gone.'),
  reason: z.string().nullable(),
});
export const auditList = z.object({
  changes: z.array(auditView).describe('Newest first.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

export const auditVerifyQuery = z.strictObject({
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'expected the `next_cursor` of a piece')
    .optional(),
});
/** Of a piece of it. */
export const auditVerified = z.object({
  count: z.int().describe('Rows that were looked at.'),
  from: z.string().nullable().describe('When the first of them was written; null: there is none.'),
  to: z.string().nullable().describe('And the last.'),
  misfit: z
    .object({ number: z.int(), at: z.string().nullable(), message: z.string() })
    .nullable()
    .describe('The first row that is not as it was written; null: all of them are.'),
  next_cursor: z.string().nullable().describe('Where the next piece begins; null: the last.'),
});

export type AuditQuery = z.input<typeof auditQuery>;
export type AuditView = z.infer<typeof auditView>;
export type AuditList = z.infer<typeof auditList>;
export type AuditVerified = z.infer<typeof auditVerified>;
