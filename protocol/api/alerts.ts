/**
 * Alerts: what is raised, by which rules, and who is told. As in `api/tasks.ts`, the master validates with these
 * schemas and generates OpenAPI from them; webhooks have `alertMessage`.
 */
import { z } from 'zod';
import {
  ALERT_NAME_PATTERN,
  HTTP_LIMITS,
  NAMESPACE_PATTERN,
  SESSION_LIMITS,
  TASK_TYPE_PATTERN,
} from '../limits.ts';
import { alertChannels, alertKinds, alertSeverities } from '../words.ts';
import { countInQuery, instant, text } from './fields.ts';

const NAME_EXPECTED = 'expected 1 to 64 characters of A-Z a-z 0-9 _ . -, not . or ..';
const MONTH_SECONDS = 30 * 86_400;

const name = z.string().regex(ALERT_NAME_PATTERN, NAME_EXPECTED);
const severity = z.enum(alertSeverities);
const kind = z.enum(alertKinds);
/** What an executor, a program or a person writes: lines and all. */
const prose = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^(?:[\n\t]|[^\p{Cc}\p{Cs}])*$/u, 'expected text without control characters');

export const alertFields = z
  .record(z.string().max(64), z.unknown())
  .refine((fields) => JSON.stringify(fields).length <= SESSION_LIMITS.alertFieldsBytesMax, {
    error: 'expected up to 4096 characters as JSON',
  })
  .describe('Whatever else is to be told: a JSON object.');

/** What somebody says. */
export const alertRequest = z.strictObject({
  severity: severity.default('warning'),
  message: prose(SESSION_LIMITS.alertMessageLengthMax),
  fields: alertFields.optional(),
});
export const alertSaid = z.object({
  code: z.literal(200),
  alerts: z
    .array(z.string())
    .describe('The ids under which it is raised; none: no rule is for it, or there are too many.'),
  omitted: z
    .int()
    .describe('By how many rules it is not raised: too many messages of the namespace are.'),
});

const list = (one: z.ZodString) => z.array(one).min(1).max(HTTP_LIMITS.scopeCountMax).optional();
const scope = z
  .strictObject({
    namespaces: list(
      z.string().regex(NAMESPACE_PATTERN, 'expected 1 to 32 characters of a-z 0-9 -'),
    ),
    types: list(
      z.string().regex(TASK_TYPE_PATTERN, 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : -'),
    ),
  })
  .describe('What it speaks of; a list that is left out limits nothing.');

const receivers = z.array(name).max(50).nullable().describe('Who is told; null: every receiver.');

/** What is left out is the default of its kind. */
export const alertRuleRequest = z.strictObject({
  kind,
  scope: scope.optional(),
  threshold: z
    .number()
    .min(0)
    .max(1_000_000_000)
    .optional()
    .describe('Seconds, percent or a count, by its kind.'),
  window: z
    .number()
    .positive()
    .max(MONTH_SECONDS)
    .optional()
    .describe('Seconds; of kinds that count what has happened lately, up to 3600.'),
  reasons: z
    .array(z.string().regex(/^[a-z_]{1,32}$/))
    .min(1)
    .max(20)
    .optional()
    .describe('Of `oldest_wait`: the reasons of waiting that it speaks of.'),
  severity: severity.optional(),
  receivers: receivers.optional(),
  repeat: z
    .number()
    .min(60)
    .max(MONTH_SECONDS)
    .nullable()
    .optional()
    .describe('Seconds after which it is told again while it lasts; null: never.'),
  checks: z
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe('Checks in a row, 15 s apart, to raise it, and to clear it.'),
  enabled: z.boolean().optional(),
});

export const alertRuleView = z.object({
  name: z.string(),
  kind,
  scope: scope.nullable().describe('Null: it speaks of everything.'),
  threshold: z.number().nullable(),
  window: z.number().nullable(),
  reasons: z.array(z.string()).nullable(),
  severity: severity.nullable().describe('Null: that of the message.'),
  receivers,
  repeat: z.number().nullable(),
  checks: z.int(),
  enabled: z.boolean(),
});
export const alertRuleList = z.object({
  rules: z.array(alertRuleView).describe('By name: default ones too.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

export const alertReceiverRequest = z.strictObject({
  channel: z.enum(alertChannels),
  to: z
    .array(z.email('expected an address, as ann@example.com'))
    .min(1)
    .max(20)
    .optional()
    .describe('Of `mail`: addresses.'),
  url: z
    .string()
    .max(HTTP_LIMITS.notifyUrlBytesMax)
    .regex(/^https?:\/\/[^\s/?#]+/i, 'expected an http or https URL')
    .optional()
    .describe('Of all others.'),
  secret: z
    .string()
    .min(1)
    .max(256)
    .regex(/^[!-~]*$/, 'expected printable ASCII without spaces')
    .optional()
    .describe('Of `webhook`, `feishu` and `dingtalk`: what messages are signed with.'),
  template: z
    .unknown()
    .optional()
    .describe(
      'Of `json`: the body, with {{title}}, {{text}}, {{severity}} and {{count}} in its texts.',
    ),
});

export const alertReceiverView = z.object({
  name: z.string(),
  channel: z.enum(alertChannels),
  to: z.array(z.string()).nullable(),
  url: z.string().nullable().describe('Where it leads to; its path is never told.'),
  has_secret: z.boolean(),
  template: z.unknown(),
});
export const alertReceiverList = z.object({
  receivers: z.array(alertReceiverView).describe('By name.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

/** The answer to the deletion of a rule or a receiver. */
export const alertCommandResponse = z.object({ name: z.string(), code: z.literal(200) });

export const alertTestRequest = z.strictObject({ receiver: name });
export const alertTestView = z.object({
  receiver: z.string(),
  delivered: z.boolean(),
  error: z.string().nullable().describe('What went wrong; null: it was taken.'),
});

export const alertSilenceRequest = z.strictObject({
  until: instant
    .nullable()
    .describe('Until then, up to 30 days from now, nobody is told of it; null: now.'),
  reason: text(256).nullable().optional().describe('Why, for whoever looks at it.'),
});

/** What is so, as receivers are told of it. */
const told = {
  id: z.string(),
  rule: z.string(),
  kind,
  severity,
  namespace: z.string().nullable().describe('Null: it is about the master itself.'),
  type: z.string().nullable(),
  group: z.string().nullable(),
  subject: z.string().describe('With rule and namespace, what it is raised once for.'),
  message: z.string(),
  change: z.string().nullable().describe('The least that would mend it.'),
  fields: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('What came with a message; of all other kinds what it says, in fields.'),
  count: z.int().describe('How often it was said.'),
  raised_at: z.string(),
  cleared_at: z.string().nullable().describe('Null: it goes on.'),
} as const;

export const alertView = z.object({
  ...told,
  lasts: z.number().describe('Seconds, up to now or its end.'),
  told_at: z
    .string()
    .nullable()
    .describe('When receivers were last to be told; `deliveries` say how that went.'),
  repeats: z.int().describe('How often they were told again.'),
  silenced_until: z.string().nullable(),
  silenced_by: z.string().nullable(),
  silence_reason: z.string().nullable(),
  deliveries: z
    .array(
      z.object({
        receiver: z.string(),
        event: z.enum(['raised', 'repeated', 'cleared']),
        state: z.enum(['pending', 'delivered', 'failed']),
        tries: z.int(),
        at: z.string().describe('When it was to be told.'),
        error: z.string().nullable(),
      }),
    )
    .describe('The newest that the master remembers, the oldest first.'),
});

const CURSOR = /^(\d{1,16}\.[a-z0-9-]{1,64}|[\w-]{38,256})$/;

export const alertListQuery = z.strictObject({
  state: z.enum(['raised', 'cleared']).default('raised'),
  namespace: z.string().regex(NAMESPACE_PATTERN).optional(),
  limit: countInQuery(HTTP_LIMITS.listCountMax).default(50),
  cursor: z
    .string()
    .regex(CURSOR, 'expected the `next_cursor` of a page')
    .optional()
    .describe('`next_cursor` of a page.'),
});
export const alertNameListQuery = z.strictObject({
  limit: countInQuery(HTTP_LIMITS.listCountMax).default(50),
  cursor: name.optional().describe('`next_cursor` of a page.'),
});
export const alertList = z.object({
  alerts: z.array(alertView).describe('The newest first.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

/** What a webhook is sent. */
export const alertMessage = z.object({
  id: z.string().describe('The same for each try.'),
  alerts: z.array(z.object({ event: z.enum(['raised', 'repeated', 'cleared', 'test']), ...told })),
  more: z.int().describe('Others that were told at the same time.'),
});

export type AlertRequest = z.input<typeof alertRequest>;
export type AlertSaid = z.infer<typeof alertSaid>;
export type AlertRuleRequest = z.input<typeof alertRuleRequest>;
export type AlertRuleView = z.infer<typeof alertRuleView>;
export type AlertReceiverRequest = z.input<typeof alertReceiverRequest>;
export type AlertReceiverView = z.infer<typeof alertReceiverView>;
export type AlertTestView = z.infer<typeof alertTestView>;
export type AlertView = z.infer<typeof alertView>;
export type AlertListQuery = Pick<z.input<typeof alertListQuery>, 'state' | 'namespace'>;
export type AlertMessage = z.infer<typeof alertMessage>;
