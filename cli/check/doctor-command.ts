/** `soda doctor`: what is missing or wrong on this machine, and what to do about it. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  API_BASE,
  apiBaseOf,
  certificateTrouble,
  DEFAULT_PORT,
  type GovernanceView,
  namespaceOf,
  withoutApiBase,
} from '@soda-scheduler/protocol';
import type { SodaClient, Whoami } from '@soda-scheduler/client';
import type { Command } from 'commander';
import { verifiedInWords } from '../audit-command.ts';
import { connect, type ConnectionOptions, givenNamespace, remoteCommand } from '../connection.ts';
import { Failure } from '../exit-code.ts';
import { withoutStop } from '../output.ts';
import { certificateFindings, givenCa } from './certificate.ts';
import { clockFinding, type Finding } from './clock.ts';

const CONNECT_TIMEOUT_S = 3;
const NODE_OLDEST = [20, 19] as const;
/** What is fuller than this may soon refuse, close or put off. */
const FULL_PERCENT = 80;
/** More than one block of a disk. */
const TRIAL_BYTES = 65_536;

export function doctorCommand(): Command {
  return remoteCommand('doctor', 'Check this machine and the way to the master.')
    .option('--verify-audit', 'also whether the audit is as it was written: takes an admin token')
    .addHelpText(
      'after',
      `
Checks Node, the master and its version, its certificate, what the token opens, the clocks, how full the queues of the
master are and whether it does its duties, the database when
SODA_DATABASE_URL is set, the data directory when SODA_DATA_DIR is, ffmpeg for the video examples,
and, where no master answers at an address of this machine, its port. The exit code is 1 if a check
failed; warnings do not count.`,
    )
    .action(async (options: ConnectionOptions & { readonly verifyAudit?: boolean }) => {
      const { client, output } = connect(options);
      const findings = [
        checkNode(),
        ...(await checkMaster(options)),
        ...(options.verifyAudit === true ? [await checkAudit(client)] : []),
        ...(await checkDatabase(process.env['SODA_DATABASE_URL'])),
        ...(await checkDataDirectory(process.env['SODA_DATA_DIR'])),
        await checkFfmpeg(),
      ];
      await output.rows(findings, ['check', 'state', 'detail'], (finding) => [
        finding.check,
        finding.state,
        finding.detail,
      ]);
      if (findings.some(({ state }) => state === 'failed')) throw new Failure('');
    });
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldestMajor, oldestMinor] = NODE_OLDEST;
  const fits = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  const detail = fits ? process.version : `${process.version}; at least v${NODE_OLDEST.join('.')}`;
  return { check: 'node', state: fits ? 'ok' : 'failed', detail };
}

type Ask = (route: string, withToken?: boolean) => Promise<Response>;

async function checkMaster(options: ConnectionOptions): Promise<Finding[]> {
  const { url, token, requestTimeout: timeout = CONNECT_TIMEOUT_S } = options;
  const base = withoutApiBase(url).replace(/\/+$/, '');
  const timeoutMs = Math.ceil(timeout * 1000);
  const fetchBy = await fetcher(base);
  const ask: Ask = (route, withToken = true) =>
    fetchBy(base + route, {
      headers: withToken && token !== undefined ? { authorization: `Bearer ${token}` } : {},
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
  const certificate = await certificateFindings(base, timeoutMs);
  let ready: Response;
  const askedAt = Date.now();
  try {
    ready = await ask('/readyz');
  } catch (error) {
    const isSilent = (error as Error).name === 'TimeoutError';
    const trouble = troubleOf(error);
    if (trouble !== undefined) {
      const detail = `${base} is not trusted: ${trouble}`;
      return [{ check: 'master', state: 'failed', detail }, ...certificate];
    }
    return absent(base, isSilent ? `none within ${timeout} s` : reasonOf(error), isSilent);
  }
  const heardAt = Date.now();
  const said = (await ready.json().catch(() => null)) as Record<string, unknown> | null;
  const { status, detail } = said ?? {};
  const isMaster = ready.ok ? status === 'ready' : typeof detail === 'string';
  if (!isMaster) {
    const what = `${base} answers, but not as a master does (HTTP ${ready.status})`;
    return [{ check: 'master', state: 'failed', detail: what }];
  }
  const version = await ask('/openapi.json')
    .then((answer) => answer.json() as Promise<{ info?: { version?: string } }>)
    .then(({ info }) => info?.version)
    .catch(() => undefined);
  // Not every token opens them: without that nothing is said.
  const metrics = await ask('/metrics')
    .then((answer) => (answer.ok ? answer.text() : ''))
    .catch(() => '');
  const how = ready.ok ? status : withoutStop(String(detail));
  const what = [base, how, version && `version ${version}`].filter(Boolean);
  const state = ready.ok ? 'ok' : 'failed';
  return [
    { check: 'master', state, detail: what.join(', ') },
    ...certificate,
    await checkToken(ask, token),
    ...(await checkNamespace(ask, namespaceOf(url, givenNamespace(options)))),
    clockFinding(ready.headers.get('date'), { askedAt, heardAt }),
    ...proofFinding(metrics),
    ...boundFindings(metrics),
    ...(await checkDuties(ask)),
  ];
}

/** That of Node knows no CA of one's own, and its checks can be switched off by a variable; the other takes a while to load. */
async function fetcher(
  base: string,
): Promise<(url: string, init: RequestInit) => Promise<Response>> {
  if (!/^https:/i.test(base)) return fetch;
  const ca = givenCa();
  // Its names are those of CommonJS: once bundled, it has this one alone.
  const { Agent, fetch: fetchWith } = (await import('undici')).default;
  const dispatcher = new Agent({
    connect: { rejectUnauthorized: true, ...(ca !== undefined && { ca }) },
  });
  // The types of the two differ in what is not used here.
  return (url, init) => fetchWith(url, { ...init, dispatcher } as object);
}

/** Nobody speaks HTTP there: is the port free for a master, or has somebody else got it? */
async function absent(base: string, reason: string, isSilent: boolean): Promise<Finding[]> {
  const failed = (advice: string): Finding => ({
    check: 'master',
    state: 'failed',
    detail: `no answer from ${base} (${reason}); ${advice}`,
  });
  const { protocol, hostname, port: given } = new URL(base);
  if (!/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) {
    return [failed('is it up, and is this its address? Set SODA_URL, or give --url')];
  }
  const port = Number(given || (protocol === 'https:' ? 443 : 80));
  const finding = await checkPort(port);
  const flag = port === DEFAULT_PORT ? '' : ` --port ${port}`;
  const advice =
    finding.state === 'ok'
      ? `start one with: soda dev${flag}`
      : isSilent
        ? 'something listens there and does not answer: perhaps a master that stands still'
        : 'something else listens there: end it, or choose another port with SODA_PORT and SODA_URL';
  return [failed(advice), finding];
}

/** Which role the token opens, by what it opens. */
async function checkToken(ask: Ask, token: string | undefined): Promise<Finding> {
  const finding = (state: Finding['state'], detail: string) => ({ check: 'token', state, detail });
  const remedy = 'set SODA_TOKEN, or give --token';
  try {
    const named = await namedToken(ask);
    if (named !== null) return finding(named.opensTasks ? 'ok' : 'warning', named.inWords);
    const tasks = (await ask(`${API_BASE}/tasks?limit=1`)).status;
    if (tasks === 401) {
      return token === undefined
        ? finding('failed', `this master wants one: ${remedy}`)
        : finding(
            'failed',
            `this master does not know the one in SODA_TOKEN or --token: it may be revoked`,
          );
    }
    if (tasks === 403) return finding('warning', 'the executor token: it opens no task');
    if (tasks >= 300) return finding('warning', `not to be told now (HTTP ${tasks})`);
    if ((await ask(`${API_BASE}/tasks?limit=1`, false)).ok) {
      return finding('ok', 'none is needed: this master serves this machine only');
    }
    const executors = (await ask(`${API_BASE}/executors`)).status;
    return finding('ok', executors === 200 ? 'the admin token' : 'the submit token');
  } catch (error) {
    return finding('warning', `not to be told now (${reasonOf(error)})`);
  }
}

/** Null: it is none of these, or a master of 2.0.0 knows none. */
async function namedToken(
  ask: Ask,
): Promise<{ readonly opensTasks: boolean; readonly inWords: string } | null> {
  const answer = await ask(`${API_BASE}/whoami`);
  const me = answer.ok ? ((await answer.json().catch(() => null)) as Partial<Whoami> | null) : null;
  const { name = null, role, scope = null } = me ?? {};
  if (name === null || role === undefined || name.startsWith('config:')) return null;
  const limits = scope === null ? '' : `, limited to some ${Object.keys(scope).join(', ')}`;
  const opensTasks = role !== 'executor';
  const what = opensTasks ? '' : ': it opens no task';
  return { opensTasks, inWords: `the token ${name} of the role ${role}${limits}${what}` };
}

/** Nothing is said of the default one, which every master has. */
async function checkNamespace(ask: Ask, name: string): Promise<Finding[]> {
  const base = apiBaseOf(name);
  if (base === API_BASE) return [];
  const answer = await ask(`${base}/tasks?limit=1`).catch(() => null);
  const check = 'namespace';
  if (answer?.ok) return [{ check, state: 'ok', detail: name }];
  if (answer?.status !== 404) return [{ check, state: 'warning', detail: 'not to be told now' }];
  const detail = `there is no ${name}: make it with "soda namespace set ${name}", or name another`;
  return [{ check, state: 'failed', detail }];
}

function proofFinding(metrics: string): Finding[] {
  const count = /^scheduler_executors_without_mac (\d+)$/m.exec(metrics)?.[1];
  if (count === undefined) return [];
  if (count === '0')
    return [{ check: 'executors', state: 'ok', detail: 'all prove what they run' }];
  const detail = `${count} of version 2.0.0, which cannot prove what they run: upgrade their SDK`;
  return [{ check: 'executors', state: 'warning', detail }];
}

/** One for each queue or buffer of the master that is nearly full. */
function boundFindings(metrics: string): Finding[] {
  const limits = samplesOf(metrics, 'scheduler_bound_limit');
  const fills = [...samplesOf(metrics, 'scheduler_bound_used')].map(([bound, used]) => ({
    bound,
    percent: Math.round((100 * used) / (limits.get(bound) ?? Number.POSITIVE_INFINITY)),
  }));
  const full = fills.filter(({ percent }) => percent >= FULL_PERCENT);
  if (full.length > 0) {
    return full.map(({ bound, percent }) => ({
      check: 'bounds',
      state: 'warning',
      detail: `${bound} is ${percent} % full; docs/operations.md says what happens at 100`,
    }));
  }
  const detail = `all ${fills.length} are less than ${FULL_PERCENT} % full`;
  return fills.length === 0 ? [] : [{ check: 'bounds', state: 'ok', detail }];
}

async function checkAudit(client: SodaClient): Promise<Finding> {
  const finding = (state: Finding['state'], detail: string) => ({ check: 'audit', state, detail });
  try {
    const { isWhole, inWords } = await verifiedInWords(client);
    return finding(isWhole ? 'ok' : 'failed', inWords);
  } catch (error) {
    return finding('failed', `not to be told now (${reasonOf(error)})`);
  }
}

/** One for each duty of the master that has failed, or is not done in time. */
async function checkDuties(ask: Ask): Promise<Finding[]> {
  const answer = await ask(`${API_BASE}/governance`).catch(() => null);
  // It may be older than this, or the token may not open it.
  if (answer?.ok !== true) return [];
  const { duties } = (await answer.json()) as GovernanceView;
  const findings = duties.flatMap((duty): Finding[] => {
    const trouble = troubleWith(duty);
    if (trouble === null) return [];
    const detail = `${duty.name} ${trouble}; docs/operations.md says what it is for`;
    return [{ check: 'duties', state: 'warning', detail }];
  });
  if (findings.length > 0) return findings;
  return [{ check: 'duties', state: 'ok', detail: `all ${duties.length} are done in time` }];
}

function troubleWith({ interval, overdue, last }: GovernanceView['duties'][0]): string | null {
  if (last !== null && last.error !== null) return `has failed: ${last.error}`;
  if (!overdue) return null;
  if (last === null) return 'was not done since the master has started';
  return `was done at ${last.at} last, and is due every ${interval} s`;
}

/** By the label `bound`. */
function samplesOf(metrics: string, name: string): Map<string, number> {
  const lines = metrics.matchAll(new RegExp(`^${name}\\{bound="(\\w+)"\\} (\\S+)$`, 'gm'));
  return new Map([...lines].map(([, bound = '', value]) => [bound, Number(value)]));
}

/** Asked only where no master answers: else the port is rightly taken. */
async function checkPort(port: number): Promise<Finding> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    return { check: 'port', state: 'ok', detail: `${port} is free` };
  } catch (error) {
    return { check: 'port', state: 'failed', detail: `${port} is not free (${reasonOf(error)})` };
  }
}

async function checkDatabase(databaseUrl: string | undefined): Promise<Finding[]> {
  if (databaseUrl === undefined || databaseUrl === '') return [];
  const { loadConfig } = await import('@soda-scheduler/master');
  const settings = loadConfig({ env: { SODA_DATABASE_URL: databaseUrl }, flags: {} });
  if ('problems' in settings) {
    return [{ check: 'database', state: 'failed', detail: settings.problems.join('; ') }];
  }
  try {
    return [{ check: 'database', state: 'ok', detail: await reach(databaseUrl) }];
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return [{ check: 'database', state: 'failed', detail: message || String(code) }];
  }
}

/** Says what was reached. @throws if it was not. */
async function reach(databaseUrl: string): Promise<string> {
  const file = /^sqlite:(.+)$/.exec(databaseUrl)?.[1];
  if (file !== undefined) {
    const directory = path.dirname(path.resolve(file));
    await tryToWrite(directory).catch((error: unknown) => {
      throw new Error(`${directory} cannot be written to (${reasonOf(error)})`);
    });
    return `${directory} can be written to`;
  }
  // It takes a while to load, and only this needs it.
  const { reachMysql } = await import('@soda-scheduler/master');
  await reachMysql(databaseUrl);
  const { host, pathname } = new URL(databaseUrl);
  return `${pathname.slice(1)} at ${host} answers`;
}

/** A disk that is full lets files be made, and takes nothing into them. @throws the reason of the system. */
async function tryToWrite(directory: string): Promise<void> {
  const file = path.join(directory, `.soda-doctor-${randomUUID()}`);
  try {
    await writeFile(file, Buffer.alloc(TRIAL_BYTES), { flag: 'wx', mode: 0o600, flush: true });
  } finally {
    await rm(file, { force: true });
  }
}

async function checkDataDirectory(directory: string | undefined): Promise<Finding[]> {
  if (directory === undefined || directory === '') return [];
  const check = 'data';
  try {
    await tryToWrite(directory);
    return [{ check, state: 'ok', detail: `${directory} can be written to` }];
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === 'ENOENT') {
      return [{ check, state: 'warning', detail: `${directory} is not there yet` }];
    }
    const detail = `${directory} cannot be written to (${reason}): set SODA_DATA_DIR`;
    return [{ check, state: 'failed', detail }];
  }
}

async function checkFfmpeg(): Promise<Finding> {
  try {
    const { stdout } = await promisify(execFile)('ffmpeg', ['-version'], { timeout: 5_000 });
    return { check: 'ffmpeg', state: 'ok', detail: stdout.split('\n', 1)[0] ?? '' };
  } catch {
    return { check: 'ffmpeg', state: 'warning', detail: 'not found; the video examples need it' };
  }
}

function troubleOf(error: unknown): string | undefined {
  return certificateTrouble(((error as Error).cause as NodeJS.ErrnoException | undefined)?.code);
}

function reasonOf(error: unknown): string {
  const { cause, message, name } = error as Error;
  if (name === 'TimeoutError') return 'no answer in time';
  // A DOMException has a number there, which tells nobody anything.
  const { code } = (cause ?? error) as { code?: unknown };
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'it speaks no https there: is it http?';
  if (code === 'UND_ERR_SOCKET') return 'the connection was closed: is it https there?';
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'its disk is full';
  return typeof code === 'string' ? code : message;
}
