/**
/**
 * The bodies of the HTTP API for those who run the master: executors, namespaces, pauses and tokens. As in
 * `api/tasks.ts`, the master validates with these schemas and generates OpenAPI from them.
 */
import { z } from 'zod';
import { countInQuery, instant, label, text } from './fields.ts';
import { attemptOutcome, taskState } from './tasks.ts';
import {
  HTTP_LIMITS,
  LABEL_PATTERN,
  NAMESPACE_PATTERN,
  SESSION_LIMITS,
  TASK_TYPE_PATTERN,
  TOKEN_NAME_PATTERN,
} from '../limits.ts';
import { pauseView, scopedPause } from './tasks.ts';
import { YEAR_SECONDS } from '../words.ts';

export const drainRequest = z.strictObject({
  timeout: z
    .number()
    .min(0)
    .max(YEAR_SECONDS)
    .nullable()
    .optional()
    .describe('Seconds after which a task that still runs is given back. Default: never.'),
  reason: text(256)
    .nullable()
    .optional()
    .describe('Why, for whoever looks at the list of executors.'),
});

const labels = z.array(label).max(SESSION_LIMITS.labelCountMax);

/** What is left out stays as it is. */
export const executorChange = z
  .strictObject({ labels: labels.nullable().optional(), reserve: labels.nullable().optional() })
  .refine((body) => body.labels !== undefined || body.reserve !== undefined, {
    error: 'expected `labels`, `reserve` or both: lists of labels, or null for its own',
  })
  .describe('What counts in place of what it says of itself; null: its own word counts again.');

/** The answer to drain, resume, change and remove. */
export const executorCommandResponse = z.object({
  executor_id: z.string(),
  code: z.literal(200),
  lasting: z
    .boolean()
    .optional()
    .describe('Of a drain or a change: whether it outlives the process of the executor.'),
});

const executorState = z.enum(['connecting', 'idle', 'offered', 'busy', 'draining', 'gone'], {
  error: 'expected connecting, idle, offered, busy, draining or gone',
});

const attemptOn = { task_id: z.string(), attempt: z.int(), type: z.string() };

export const executorView = z.object({
  executor_id: z.string(),
  state: executorState,
  superseded: z
    .boolean()
    .describe('Another process has its id; it is listed until its own lease ends.'),
  connected: z.boolean(),
  draining: z.boolean(),
  drained_by: z
    .string()
    .nullable()
    .describe(
      'The name of the token that an operator drained it with; null: nobody has, or none was needed.',
    ),
  drained_at: z.string().nullable().describe('Null: no operator has.'),
  drain_reason: z.string().nullable(),
  drain_deadline: z.string().nullable().describe('When what it still runs is taken back.'),
  lasting: z.boolean(),
  types: z.array(z.string()),
  labels: z.array(z.string()).describe('Those that count.'),
  reserve: z.array(z.string()).describe('Those that count.'),
  own: z
    .object({ labels: z.array(z.string()), reserve: z.array(z.string()) })
    .describe('What it says of itself.'),
  override: z
    .object({
      labels: z.array(z.string()).nullable(),
      reserve: z.array(z.string()).nullable(),
      by: z.string().nullable().describe('By whom: the name of a token.'),
    })
    .describe('What an operator has set in place of that; null: nothing.'),
  task_id: z.string().nullable(),
  attempt: z.int().nullable(),
  current: z
    .object({
      ...attemptOn,
      state: z
        .enum(['offered', 'running', 'over'])
        .describe('`over`: for its task, though it may still run here.'),
      since: z.string().nullable().describe('When it was offered, or begun.'),
    })
    .nullable()
    .describe('The attempt that it has.'),
  booked: z
    .object({
      booking_id: z.string().nullable().describe('Null: of a type or group beyond the scope.'),
      state: z
        .enum(['kept', 'bound'])
        .describe('`kept`: it is about to be bound, and takes what must end before.'),
      until: z.string().describe('Of `kept`: when it is bound; of `bound`: when the window ends.'),
    })
    .nullable()
    .describe('The booking that has it; null: none.'),
  last: z
    .array(z.object({ ...attemptOn, state: attemptOutcome, at: z.string() }))
    .describe('How attempts have ended here, the newest first: ten since the master has started.'),
  host: z.string(),
  pid: z.int(),
  sdk: z.string(),
  version: z.string().nullable().describe('Of its program, by its own word; null: it has none.'),
  connected_at: z.string().nullable(),
  last_seen_at: z.string().nullable(),
  lease_until: z
    .string()
    .nullable()
    .describe(
      'Of one that is silent: until then it may come back, and keeps what it has. Null: it is connected, or gone.',
    ),
  loop_lag_ms: z.number().nullable(),
  rss_bytes: z.number().nullable(),
  cpu_percent: z
    .number()
    .nullable()
    .describe('How busy all processors of its host are; null: it does not say.'),
  ready: z
    .object({
      ok: z.boolean(),
      reason: z.string().nullable(),
      disk_bytes: z.int().nullable().describe('Free for its scratch files, where it says so.'),
    })
    .nullable()
    .describe('Whether it says that it can work now; null: it is not here.'),
});
export const executorList = z.object({
  executors: z.array(executorView).describe('By id.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

export const executorListQuery = z.strictObject({
  id: z.string().max(64).optional(),
  type: z.string().max(64).optional().describe('Those that run tasks of it.'),
  label: z.string().max(64).optional().describe('Those that have it.'),
  host: z.string().max(255).optional(),
  version: z.string().max(64).optional().describe('Of their program; empty: those without one.'),
  state: executorState.optional(),
  selector: z
    .string()
    .max(1024)
    .optional()
    .describe('Terms with commas between, all of which must hold: `version=1.4,label!=gpu`.'),
  limit: countInQuery(HTTP_LIMITS.listCountMax).optional().describe('Default: all of them.'),
  cursor: z.string().max(256).optional().describe('`next_cursor` of a page.'),
});

/** Tasks of which an executor has the newest attempt, or had the last one. */
export const executorTasksQuery = z.strictObject({
  state: taskState.optional(),
  limit: countInQuery(HTTP_LIMITS.listCountMax).default(50),
  cursor: z.string().max(256).optional(),
});

const retention = z.enum(['short', 'normal', 'long'], {
  error: 'expected short, normal or long',
});
const limit = z.int().min(0).max(1_000_000_000);

/** Makes a namespace or changes it. What is left out stays as it is, or is as by default. */
export const namespaceSettings = z.strictObject({
  retention: retention
    .optional()
    .describe(
      'How long its tasks are kept once they have ended: by which of three settings of the master. ' +
        'A change is for those that end from then on.',
    ),
  max_waiting: limit
    .nullable()
    .optional()
    .describe('Tasks that may wait: further ones are refused. Null: no limit of its own.'),
  max_running: limit
    .nullable()
    .optional()
    .describe('Tasks that may run at the same time: others wait. Null: no limit.'),
  paused: z
    .strictObject({
      reason: text(256).nullable().optional(),
      until: instant.nullable().optional(),
    })
    .nullable()
    .optional()
    .describe('Nothing is begun until then, or until somebody ends the pause by null.'),
});

export const namespaceView = z.object({
  name: z.string(),
  retention,
  max_waiting: z.int().nullable(),
  max_running: z.int().nullable(),
  paused: pauseView
    .extend({ scope: z.enum(['namespace', 'all']).describe('`all`: all namespaces are paused.') })
    .nullable(),
  pauses: z.int().describe('Groups and labels in it that are paused.'),
  counts: z.object({ waiting: z.int(), running: z.int(), held: z.int() }),
});

export const namespaceListQuery = z.strictObject({
  limit: countInQuery(HTTP_LIMITS.listCountMax).default(50),
  cursor: z.string().regex(NAMESPACE_PATTERN).optional().describe('`next_cursor` of a page.'),
});

export const namespaceList = z.object({
  namespaces: z.array(namespaceView).describe('By name.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

/** The answer to the deletion of a namespace. */
export const namespaceCommandResponse = z.object({ name: z.string(), code: z.literal(200) });

const pauseScope = z.enum(['group', 'label', 'namespace', 'all'], {
  error: 'expected group, label, namespace or all',
});
const paused = {
  scope: pauseScope.describe('`all`: every namespace, also those that are made later.'),
  value: text(64)
    .nullable()
    .optional()
    .describe('The group, or the label; of a namespace its name, or nothing; of all: nothing.'),
};

interface Paused {
  readonly scope: z.infer<typeof pauseScope>;
  readonly value?: string | null | undefined;
}

/** What is wrong with the value; null: nothing. */
function expectedOf({ scope, value = null }: Paused): string | null {
  if (scope === 'all') return value === null ? null : 'expected none: all is all';
  if (scope === 'namespace') return null;
  if (value === null) return `expected the ${scope}`;
  const isFit = scope === 'group' || LABEL_PATTERN.test(value);
  return isFit ? null : 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : = / -';
}

const fits = (body: Paused): boolean => expectedOf(body) === null;
const misfit = {
  path: ['value'],
  error: ({ input }: { readonly input?: unknown }) => expectedOf(input as Paused),
};

export const resumeRequest = z.strictObject(paused).refine(fits, misfit);

export const pauseRequest = z
  .strictObject({
    ...paused,
    reason: text(256).nullable().optional().describe('Why, for those whose tasks wait.'),
    until: instant.nullable().optional().describe('When it ends by itself.'),
  })
  .refine(fits, misfit);

/** The answer to both: what holds now of what was asked for. */
export const pauseCommandResponse = z.object({ pauses: z.array(scopedPause) });

export const pauseListQuery = z.strictObject({
  limit: countInQuery(HTTP_LIMITS.listCountMax).default(50),
  cursor: text(80).optional().describe('`next_cursor` of a page.'),
});

export const pauseList = z.object({
  pauses: z.array(scopedPause).describe('Of all, of the namespace, then by scope and value.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

const role = z.enum(['read', 'submit', 'operate', 'admin', 'executor'], {
  error: 'expected read, submit, operate, admin or executor',
});
const some = (one: z.ZodString) => z.array(one).min(1).max(HTTP_LIMITS.scopeCountMax).optional();
const scope = z
  .strictObject({
    namespaces: some(
      z.string().regex(NAMESPACE_PATTERN, 'expected 1 to 32 characters of a-z 0-9 -'),
    ),
    groups: some(text(64)),
    types: some(
      z.string().regex(TASK_TYPE_PATTERN, 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : -'),
    ),
  })
  .describe('What it is limited to; a list that is left out limits nothing.');

export const tokenRequest = z.strictObject({
  name: z
    .string()
    .regex(TOKEN_NAME_PATTERN, 'expected 1 to 64 characters of A-Z a-z 0-9 _ . -')
    .describe('Whose it is: what is done with it is done by this name.'),
  role,
  scope: scope.optional(),
  expires_at: instant.optional().describe('From when on it opens nothing. Default: never.'),
});

const ofToken = {
  role,
  scope: scope.nullable().describe('Null: it is not limited.'),
  expires_at: z.string().nullable(),
};
export const tokenView = z.object({
  name: z.string(),
  ...ofToken,
  created_at: z.string(),
  created_by: z.string().nullable().describe('The token that made it; null: none was needed.'),
  last_used_at: z.string().nullable().describe('After a restart of the master: to the minute.'),
});
/** The token itself is never told again. */
export const tokenMade = tokenView.extend({ token: z.string() });
export const tokenListQuery = z.strictObject({
  limit: countInQuery(HTTP_LIMITS.listCountMax).default(50),
  cursor: z.string().regex(TOKEN_NAME_PATTERN).optional().describe('`next_cursor` of a page.'),
});
export const tokenList = z.object({
  tokens: z.array(tokenView).describe('By name.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});
/** The answer to a revocation. */
export const tokenCommandResponse = z.object({ name: z.string(), code: z.literal(200) });

export const whoami = z.object({
  name: z
    .string()
    .nullable()
    .describe('Of the token, `config:admin` for one of the configuration; null: none is needed.'),
  ...ofToken,
  csrf: z
    .string()
    .optional()
    .describe('Of a login at the console: what `x-soda-csrf` of its requests has to be.'),
});

/** A login at the console, and what is answered to one that ends. */
export const sessionRequest = z.strictObject({ token: z.string().min(1).max(1024) });
export const sessionView = z.object({ name: z.string().nullable(), role });
export const sessionEnded = z.object({ code: z.literal(200) });

/** What a master does by itself. */
export const governanceView = z.object({
  duties: z.array(
    z.object({
      name: z.string(),
      interval: z.number().nullable().describe('Seconds; null: whenever there is a reason.'),
      overdue: z.boolean().describe('It should have been done once more by now.'),
      runs: z.int().describe('Since the master has started.'),
      last: z
        .object({
          at: z.string().describe('When it ended.'),
          took: z.number().nullable().describe('Seconds, where it is known.'),
          found: z.int().describe('What there was to do.'),
          done: z.int().describe('What of that was done.'),
          error: z.string().nullable().describe('Why it failed; null: it did not.'),
        })
        .nullable(),
    }),
  ),
});

export type ExecutorChange = z.input<typeof executorChange>;
export type ExecutorCommandResponse = z.infer<typeof executorCommandResponse>;
export type ExecutorView = z.infer<typeof executorView>;
export type ExecutorList = z.infer<typeof executorList>;
export type ExecutorQuery = z.input<typeof executorListQuery>;
export type ExecutorTasksQuery = z.input<typeof executorTasksQuery>;
export type NamespaceSettings = z.input<typeof namespaceSettings>;
export type NamespaceView = z.infer<typeof namespaceView>;
export type NamespaceList = z.infer<typeof namespaceList>;
export type PauseRequest = z.input<typeof pauseRequest>;
export type ResumeRequest = z.input<typeof resumeRequest>;
export type PauseCommandResponse = z.infer<typeof pauseCommandResponse>;
export type PauseList = z.infer<typeof pauseList>;
export type TokenRequest = z.input<typeof tokenRequest>;
export type TokenView = z.infer<typeof tokenView>;
export type TokenMade = z.infer<typeof tokenMade>;
export type TokenList = z.infer<typeof tokenList>;
export type Whoami = z.infer<typeof whoami>;
export type GovernanceView = z.infer<typeof governanceView>;
