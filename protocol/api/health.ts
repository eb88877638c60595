/** The answer of the HTTP API to how the work flows. As in `tasks.ts`, the master makes OpenAPI from this. */
import { z } from 'zod';
import { reasonDetails } from './why.ts';

const seconds = z.number().nullable();
const instant = z.string().nullable();

const flow = z.object({
  state: z
    .enum(['flowing', 'idle', 'stopped'])
    .describe(
      '`idle`: nothing is due, and nothing runs. `stopped`: nothing of what is due starts.',
    ),
  message: z.string(),
  waiting: z.int().describe('Due or not; those that are held or suspended come on top.'),
  held: z.int(),
  suspended: z.int(),
  running: z.int().describe('Offered ones too.'),
  oldest_wait: seconds.describe(
    'Seconds since the first task that is due is, as far as that is known; null: none is.',
  ),
  oldest_wait_known: z
    .boolean()
    .describe('False: others are due that were not read yet, nobody knows since when.'),
  started_at: instant.describe('When the newest attempt was started; null: none since `since`.'),
  executors: z
    .object({ connected: z.int(), ready: z.int(), free: z.int() })
    .describe('Connected; of these take tasks, now or later; take one now.'),
});

const success = z.object({
  state: z.enum(['succeeding', 'failing', 'unknown']),
  message: z.string(),
  attempts: z
    .int()
    .describe('That ended in the last 15 minutes: of each type and group the newest 20.'),
  failed: z.int().describe('Of these; those that somebody has ended count as neither.'),
});

const figures = z.object({
  fresh: z.boolean().describe('They are as the store has it.'),
  at: instant.describe('When all of it was so; null: the master knows of nothing yet.'),
  age: seconds.describe('Seconds since then.'),
  since: instant.describe('From when on this master remembers how attempts ended.'),
});

/** Of tasks that wait, what `why` would say of the first of them. */
const details = reasonDetails.extend({
  outcomes: z.int().optional().describe('So many of the newest were looked at.'),
  failed: z.int().optional().describe('Of these.'),
  alike: z.int().optional().describe('Of these with `error`.'),
  pending: z.int().optional().describe('Callbacks that are not settled.'),
  free_bytes: z.number().optional(),
  free_percent: z.int().optional(),
  overdue: z.literal(true).optional().describe('It has not failed: it was not done in time.'),
});

const finding = z.object({
  kind: z.enum([
    'store_away',
    'starting',
    'shutting_down',
    'paused',
    'no_executor',
    'labels_unmatched',
    'reserved',
    'draining',
    'not_ready',
    'limited',
    'all_busy',
    'cooling_down',
    'failing',
    'callbacks',
    'queue_full',
    'disk_low',
    'duty',
  ]),
  severity: z
    .enum(['critical', 'warning', 'info'])
    .describe('`info`: as somebody has decided, or as it is under load.'),
  subject: z
    .string()
    .nullable()
    .describe('`type/` and its name, `duty/` and its name, `namespace`, `all`; null: the master.'),
  since: instant,
  count: z.int().nullable().describe('Tasks, attempts or callbacks; null: it is about none.'),
  message: z.string().describe('What is so.'),
  cause: z.string().nullable().describe('The likeliest one; null: the message says it.'),
  advice: z.string().describe('What would help.'),
  command: z.string().describe('What to type next.'),
  details: details.describe('What the sentences say, in fields; each kind has its own.'),
});

export const healthView = z.object({
  status: z
    .enum(['ok', 'degraded', 'stopped'])
    .describe('`degraded`: some finding is critical or a warning. `stopped`: nothing starts.'),
  message: z.string().describe('The worst of it in a sentence.'),
  flow: flow.nullable().describe('Null: the master knows of no task yet.'),
  success: success.nullable(),
  figures,
  findings: z.array(finding).describe('The worst first, 20 at most.'),
});

export type HealthView = z.infer<typeof healthView>;
