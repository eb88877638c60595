/**
 * Environment and flags to one frozen configuration. A single schema says what there is: the CLI
 * makes its flags from it and `docs/configuration.md` its table. Reads secrets from files; prints
 * nothing and never puts a secret into a message.
 */
import path from 'node:path';
import { DEFAULT_PORT } from '@soda-scheduler/protocol';
import { z } from 'zod';
import { shownUrl } from './domain/alerts/rule.ts';
import { isZone } from './domain/usage/day.ts';
import { AddressPolicy, AddressRanges } from '@soda-scheduler/address-policy';
import { CallbackSigner } from './infrastructure/callbacks/callback-message.ts';
import { readDatabaseUrl } from './infrastructure/sql/database-url.ts';
import {
  asGiven,
  type ConfigField,
  type ConfigSources,
  rawValue,
  tokenProblems,
  withoutPassword,
} from './config-sources.ts';
import { commaList, seconds, switched, token, wholeNumber, works } from './config-values.ts';
import { isServiceLink, unknownVariables } from './unknown-variables.ts';

interface FieldMeta {
  readonly env: string;
  readonly value: string | null;
  readonly default?: string;
  readonly secret?: boolean;
  readonly fromFile?: boolean;
}

const YEAR_SECONDS = 31_536_000;
/** Where nobody says. */
const LONG_DAYS = 90;
/** Without tokens the master is for the programs of this machine, which reach these anyway. */
const LOOPBACK = ['127.0.0.0/8', '::1'];
const fieldMeta = z.registry<FieldMeta>();

const configSchema = z.object({
  host: z
    .string()
    .min(1, 'expected an address')
    .describe('Address to listen on. Beyond loopback all three tokens are required.')
    .register(fieldMeta, { env: 'SODA_HOST', value: 'address', default: '127.0.0.1' }),
  port: z
    .string()
    .refine((text) => !isServiceLink(text), {
      error:
        'Kubernetes has set it for a Service named `soda`: set `enableServiceLinks: false` in the ' +
        'spec of the pod, or rename the Service',
      abort: true,
    })
    .pipe(wholeNumber(0, 65_535))
    .describe('Port to listen on, for HTTP and for executors. 0: any free one.')
    .register(fieldMeta, { env: 'SODA_PORT', value: 'port', default: String(DEFAULT_PORT) }),
  tlsCert: z
    .string()
    .nullable()
    .describe(
      'File of the certificate with which the master speaks TLS by itself, in PEM, followed by those between it and ' +
        'its CA. Read again when it changes.',
    )
    .register(fieldMeta, { env: 'SODA_TLS_CERT', value: 'file' }),
  tlsKey: z
    .string()
    .nullable()
    .describe('File of its key, in PEM, without a passphrase.')
    .register(fieldMeta, { env: 'SODA_TLS_KEY', value: 'file' }),
  trustedProxies: commaList
    .refine((list) => works(() => new AddressRanges(list)), {
      error: 'expected addresses or CIDRs',
    })
    .describe(
      'Comma list of addresses or CIDRs of proxies in front that are believed when they say, at the end of ' +
        '`X-Forwarded-For`, where a request came from: for the limit of wrong logins, the log and the audit.',
    )
    .register(fieldMeta, { env: 'SODA_TRUSTED_PROXIES', value: 'list', default: '' }),
  databaseUrl: z
    .string()
    .superRefine((text, context) => {
      const read = readDatabaseUrl(text);
      if ('problem' in read) context.addIssue(read.problem);
    })
    .nullable()
    .describe(
      'Where tasks are stored: `sqlite:<path>`, or `mysql://user:password@host:port/database` ' +
        'with the user and the password percent-encoded. Without one: `sqlite:<data dir>/soda.db`. ' +
        '`?ssl=true` or `?ssl=<CA file>` after a mysql URL: over TLS.',
    )
    .register(fieldMeta, { env: 'SODA_DATABASE_URL', value: 'url', fromFile: true }),
  dbPoolMax: wholeNumber(2, 100)
    .describe(
      'MySQL and MariaDB only: connections at most. One of them is for scheduling alone; with less ' +
        'than 4, lists that take long keep other reads waiting.',
    )
    .register(fieldMeta, { env: 'SODA_DB_POOL_MAX', value: 'count', default: '4' }),
  dbPoolIdleMs: wholeNumber(100, 15_000)
    .describe(
      'MySQL and MariaDB only: milliseconds after which a connection that nobody uses is ended. ' +
        'The server ends those of the master after 20 s.',
    )
    .register(fieldMeta, { env: 'SODA_DB_POOL_IDLE_MS', value: 'ms', default: '10000' }),
  dbPoolWaitMs: wholeNumber(100, 600_000)
    .describe(
      'MySQL and MariaDB only: milliseconds that a statement waits for a free connection before ' +
        'it has failed.',
    )
    .register(fieldMeta, { env: 'SODA_DB_POOL_WAIT_MS', value: 'ms', default: '30000' }),
  dataDir: z
    .string()
    .min(1, 'expected a directory')
    .describe('Directory of the embedded database and of the callback secret.')
    .register(fieldMeta, { env: 'SODA_DATA_DIR', value: 'directory', default: './data' }),
  adminToken: token()
    .describe('Opens everything: the API, the fleet, metrics, executor sessions.')
    .register(fieldMeta, { env: 'SODA_ADMIN_TOKEN', value: 'file', secret: true }),
  submitToken: token()
    .describe('Opens submit, read, list, cancel, retry, change and redeliver.')
    .register(fieldMeta, { env: 'SODA_SUBMIT_TOKEN', value: 'file', secret: true }),
  executorToken: token()
    .describe('Opens executor sessions, and nothing else.')
    .register(fieldMeta, { env: 'SODA_EXECUTOR_TOKEN', value: 'file', secret: true }),
  notifyAllow: commaList
    .refine((list) => works(() => new AddressPolicy(list, 'SODA_NOTIFY_ALLOW')), {
      error: 'expected host names, addresses or CIDRs',
    })
    .describe(
      'Comma list of host names, addresses or CIDRs that callbacks may reach although they are ' +
        'not public. `private` among them: loopback and private ranges. Without tokens loopback ' +
        'is always allowed.',
    )
    .register(fieldMeta, { env: 'SODA_NOTIFY_ALLOW', value: 'list', default: '' }),
  notifySecrets: commaList
    .refine((list) => list.length <= 2 && works(() => new CallbackSigner(list)), {
      error: 'expected one or two secrets, each `whsec_` and 24 to 64 bytes in base64',
    })
    .describe(
      'Signs callbacks: one `whsec_` secret, or two with a comma while it is being rotated. ' +
        'Without one the master makes one at its first start and keeps it in the data directory.',
    )
    .register(fieldMeta, { env: 'SODA_NOTIFY_SECRET', value: 'file', default: '', secret: true }),
  leaseMs: seconds(6, 3600, ': two seconds of it are for an attempt to end in')
    .describe(
      'Seconds after which a silent executor has lost its task. At least 6: executors give up ' +
        'their task a tenth of it, and at least two seconds, before its end.',
    )
    .register(fieldMeta, { env: 'SODA_LEASE', value: 'seconds', default: '30' }),
  assignTimeoutMs: seconds(0.1, 3600)
    .describe('Seconds an executor has to accept a task, where the task does not say.')
    .register(fieldMeta, { env: 'SODA_ASSIGN_TIMEOUT', value: 'seconds', default: '5' }),
  executionTimeoutMs: seconds(0.001, YEAR_SECONDS)
    .nullable()
    .describe(
      'Seconds an attempt may run, where the task does not say; stored with each task as it is ' +
        'submitted. Without one: no limit.',
    )
    .register(fieldMeta, { env: 'SODA_EXECUTION_TIMEOUT', value: 'seconds' }),
  startTimeoutMs: seconds(0.001, YEAR_SECONDS)
    .nullable()
    .describe(
      'Seconds from due to started, where the task does not say; stored with each task as it is ' +
        'submitted. Without one: no limit.',
    )
    .register(fieldMeta, { env: 'SODA_START_TIMEOUT', value: 'seconds' }),
  cancelGraceMs: seconds(0, 3600)
    .describe('Seconds an attempt has to end after it was told to.')
    .register(fieldMeta, { env: 'SODA_CANCEL_GRACE', value: 'seconds', default: '10' }),
  crashBudget: wholeNumber(1, 1000)
    .describe('Executors that may die under a task, without a new checkpoint, before it fails.')
    .register(fieldMeta, { env: 'SODA_CRASH_BUDGET', value: 'count', default: '3' }),
  retentionDays: wholeNumber(2, 3650)
    .describe(
      'Days for which finished tasks, and their ids, are kept, in namespaces whose `retention` is ' +
        '`normal`: in all, unless told otherwise. At least two: callbacks are tried for about one.',
    )
    .register(fieldMeta, { env: 'SODA_RETENTION_DAYS', value: 'days', default: '7' }),
  retentionShortDays: wholeNumber(2, 3650)
    .describe(
      'The same where it is `short`. At least two, and not more than `SODA_RETENTION_DAYS`.',
    )
    .register(fieldMeta, { env: 'SODA_RETENTION_SHORT_DAYS', value: 'days', default: '2' }),
  retentionLongDays: wholeNumber(2, 3650)
    .nullable()
    .describe(
      'The same where it is `long`. Not less than `SODA_RETENTION_DAYS`; without one: 90, or as ' +
        'many as that if it is more.',
    )
    .register(fieldMeta, { env: 'SODA_RETENTION_LONG_DAYS', value: 'days' }),
  archiveDir: z
    .string()
    .min(1, 'expected a directory')
    .nullable()
    .describe(
      'Directory that ended tasks are written to before they are dropped, as NDJSON, compressed, one file a day. Where it ' +
        'takes nothing, nothing is dropped. Each database needs one of its own. Without one: what is dropped is gone.',
    )
    .register(fieldMeta, { env: 'SODA_ARCHIVE_DIR', value: 'directory' }),
  auditDays: wholeNumber(0, 3650)
    .describe('Days for which the audit is kept: who has changed what. 0: for good.')
    .register(fieldMeta, { env: 'SODA_AUDIT_DAYS', value: 'days', default: '365' }),
  events: z
    .enum(['all', 'ends', 'none'], { error: 'expected all, ends or none' })
    .describe(
      'What the event feed tells: `all`; `ends`, without the offers, starts, progress, checkpoints and tries of ' +
        'callbacks of each task; or `none`, not even what handlers tell of.',
    )
    .register(fieldMeta, { env: 'SODA_EVENTS', value: 'level', default: 'ends' }),
  eventDays: wholeNumber(1, 3650)
    .describe('Days for which the event feed is kept.')
    .register(fieldMeta, { env: 'SODA_EVENT_DAYS', value: 'days', default: '7' }),
  logBytes: wholeNumber(0, 16_777_216)
    .describe(
      'Bytes of the log of an attempt that are kept: of a longer one the first half and the newest. 0: none of any.',
    )
    .register(fieldMeta, { env: 'SODA_LOG_BYTES', value: 'bytes', default: '1048576' }),
  reportZone: z
    .string()
    .refine(isZone, { error: 'expected a zone of the IANA, as Europe/Berlin' })
    .describe('In which the days of reports begin. What was counted before keeps its day.')
    .register(fieldMeta, { env: 'SODA_REPORT_ZONE', value: 'zone', default: 'UTC' }),
  usageDays: wholeNumber(1, 3650)
    .describe('Days for which usage is kept: who has used how much of what.')
    .register(fieldMeta, { env: 'SODA_USAGE_DAYS', value: 'days', default: '400' }),
  laneWindow: wholeNumber(100, 1_000_000)
    .describe('Waiting tasks of each lane that are held in memory.')
    .register(fieldMeta, { env: 'SODA_LANE_WINDOW', value: 'count', default: '10000' }),
  maxWaiting: wholeNumber(1, 1_000_000_000)
    .describe('Waiting and suspended tasks beyond which submits are answered 429.')
    .register(fieldMeta, { env: 'SODA_MAX_WAITING', value: 'count', default: '10000000' }),
  smtpUrl: z
    .string()
    .regex(/^smtps?:\/\/[^/]/i, 'expected smtp://user:password@host:port, or smtps://')
    .refine((text) => URL.canParse(text), { error: 'expected a URL: percent-encode the password' })
    .nullable()
    .describe(
      'Where alerts are mailed by: `smtp://user:password@host:port`, or `smtps://`, with the user and the ' +
        'password percent-encoded.',
    )
    .register(fieldMeta, { env: 'SODA_SMTP_URL', value: 'url', fromFile: true }),
  mailFrom: z
    .string()
    .regex(/^[^\p{Cc}]*@[^\p{Cc}]*$/u, 'expected an address')
    .nullable()
    .describe('Sender of mails: an address, or `Soda <soda@example.com>`.')
    .register(fieldMeta, { env: 'SODA_MAIL_FROM', value: 'address' }),
  aliveUrl: z
    .string()
    .refine((text) => URL.canParse(text) && /^https?:/i.test(text), {
      error: 'expected an http or https URL',
    })
    .nullable()
    .describe(
      'Posted to each minute while the master takes work, so that whoever is called there can raise the alarm ' +
        'when it does not.',
    )
    .register(fieldMeta, { env: 'SODA_ALIVE_URL', value: 'url', fromFile: true }),
  logLevel: z
    .enum(['debug', 'info', 'warn', 'error'], { error: 'expected debug, info, warn or error' })
    .describe('Least level that is logged: debug, info, warn or error.')
    .register(fieldMeta, { env: 'SODA_LOG_LEVEL', value: 'level', default: 'info' }),
  requireMac: switched()
    .describe(
      'Refuse executors that cannot prove which attempts they were offered: those of version 2.0.0.',
    )
    .register(fieldMeta, { env: 'SODA_REQUIRE_MAC', value: null, default: 'false' }),
  allowWeakDurability: switched()
    .describe(
      'Start although the store may lose commits in a power cut. Breaks the promise of 202.',
    )
    .register(fieldMeta, { env: 'SODA_ALLOW_WEAK_DURABILITY', value: null, default: 'false' }),
});

type Parsed = z.output<typeof configSchema>;

/** Names end in their unit. `notifySecrets` is empty where the master is to use its own. */
export type Config = Readonly<
  Omit<
    Parsed,
    'databaseUrl' | 'retentionLongDays' | 'trustedProxies' | 'notifyAllow' | 'notifySecrets'
  >
> & {
  readonly retentionLongDays: number;
  readonly databaseUrl: string;
  readonly trustedProxies: readonly string[];
  readonly notifyAllow: readonly string[];
  readonly notifySecrets: readonly string[];
};

type Name = keyof Parsed;
const names = Object.keys(configSchema.shape) as Name[];

/** In the order of the documentation. */
export const configFields: readonly (ConfigField & { readonly name: Name })[] = names.map(
  (name) => {
    const schema = configSchema.shape[name];
    const meta = fieldMeta.get(schema);
    if (meta === undefined) throw new Error(`No variable is named for ${name}.`);
    const secret = meta.secret ?? false;
    const word = meta.env
      .replace(/^SODA_/, '')
      .toLowerCase()
      .replaceAll('_', '-');
    const flag = secret ? `${word}-file` : word;
    return {
      name,
      env: meta.env,
      flag: `--${flag}`,
      flagKey: flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
      value: meta.value,
      description: schema.description ?? '',
      default: meta.default ?? null,
      secret,
      fromFile: secret || (meta.fromFile ?? false),
    };
  },
);

export type ConfigOutcome =
  /** `warnings`: of secrets that others can see. They name no secret. */
  | { readonly config: Config; readonly warnings: readonly string[] }
  | { readonly problems: readonly string[] };

/** A flag goes before the environment, that before the default. Tells all problems at once. */
export function loadConfig({ env, flags }: ConfigSources): ConfigOutcome {
  const known = configFields.flatMap((field) =>
    field.fromFile ? [field.env, `${field.env}_FILE`] : [field.env],
  );
  const warnings: string[] = [];
  const problems = unknownVariables(env, known);
  const raw = Object.fromEntries(
    configFields.map((field) => [field.name, rawValue(field, { env, flags }, problems, warnings)]),
  );
  problems.push(...tokenProblems(raw));
  const parsed = configSchema.safeParse(raw);
  for (const issue of parsed.error?.issues ?? []) {
    const field = configFields.find(({ name }) => name === issue.path[0]);
    if (field !== undefined) problems.push(`${asGiven(field, flags)}: ${issue.message}`);
  }
  if (parsed.success)
    problems.push(...retentionProblems(parsed.data, flags), ...pairProblems(parsed.data));
  if (!parsed.success || problems.length > 0) return { problems };
  const { data } = parsed;
  return {
    warnings,
    config: Object.freeze({
      ...data,
      databaseUrl: data.databaseUrl ?? `sqlite:${path.join(data.dataDir, 'soda.db')}`,
      retentionLongDays: data.retentionLongDays ?? Math.max(LONG_DAYS, data.retentionDays),
      trustedProxies: Object.freeze(data.trustedProxies),
      notifyAllow: Object.freeze(
        data.adminToken === null ? [...data.notifyAllow, ...LOOPBACK] : data.notifyAllow,
      ),
      notifySecrets: Object.freeze(data.notifySecrets),
    }),
  };
}

/** What is to be kept for longer is not kept for less. */
function retentionProblems(
  { retentionShortDays: short, retentionDays: normal, retentionLongDays: long }: Parsed,
  flags: ConfigSources['flags'],
): string[] {
  const nameOf = (wanted: string) => {
    const field = configFields.find(({ name }) => name === wanted);
    return field === undefined ? wanted : asGiven(field, flags);
  };
  const than = `${nameOf('retentionDays')}, which is ${normal}`;
  return [
    ...(short > normal ? [`${nameOf('retentionShortDays')}: expected at most ${than}`] : []),
    ...(long !== null && long < normal
      ? [`${nameOf('retentionLongDays')}: expected at least ${than}`]
      : []),
  ];
}

/** One of both is of no use. */
function pairProblems({ smtpUrl, mailFrom, tlsCert, tlsKey }: Parsed): string[] {
  const isHalf = (one: string | null, other: string | null) => (one === null) !== (other === null);
  return [
    ...(isHalf(smtpUrl, mailFrom) ? ['SODA_SMTP_URL, SODA_MAIL_FROM'] : []),
    ...(isHalf(tlsCert, tlsKey) ? ['SODA_TLS_CERT, SODA_TLS_KEY'] : []),
  ].map((pair) => `${pair}: set both, or none of them`);
}

/** What `--print-config` shows: secrets only as being set or not. */
export function redacted(config: Config): Readonly<Record<string, unknown>> {
  const entries = configFields.map(({ name, secret }) => {
    const value = config[name];
    if (name === 'aliveUrl') return [name, value && shownUrl(String(value))];
    if (name.endsWith('Url')) return [name, value && withoutPassword(String(value))];
    return [name, secret ? (isSet(value) ? '(set)' : '(not set)') : value];
  });
  return Object.fromEntries(entries);
}

function isSet(secret: unknown): boolean {
  return Array.isArray(secret) ? secret.length > 0 : secret !== null;
}
