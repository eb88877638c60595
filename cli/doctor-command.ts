/** `soda doctor`: what is missing or wrong on this machine, and what to do about it. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { connect as connectTo, createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { DEFAULT_PORT } from '@soda-scheduler/protocol';
import type { Command } from 'commander';
import { type ConnectionOptions, remoteCommand } from './connection.ts';
import { Failure } from './exit-code.ts';
import { Output } from './output.ts';

interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly detail: string;
}

const CONNECT_TIMEOUT_MS = 3_000;
/** Receivers of callbacks refuse a timestamp that is five minutes off. */
const SKEW_MS_MAX = 60_000;
const NODE_OLDEST = [20, 19] as const;

export function doctorCommand(): Command {
  return remoteCommand('doctor', 'Check this machine and the way to the master.')
    .addHelpText(
      'after',
      `
Checks Node, the master and its version, the clocks, the database when SODA_DATABASE_URL is set,
ffmpeg for the video examples, and the port a master would listen on. The exit code is 1 if a
check failed; warnings do not count.`,
    )
    .action(async (options: ConnectionOptions) => {
      const output = new Output(options.json);
      const findings = [
        checkNode(),
        ...(await checkMaster(options)),
        ...(await checkDatabase(process.env['SODA_DATABASE_URL'])),
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

async function checkMaster({ url, token }: ConnectionOptions): Promise<Finding[]> {
  const base = url.replace(/\/+$/, '');
  const ask = (route: string) =>
    fetch(base + route, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS),
    });
  let ready: Response;
  try {
    ready = await ask('/readyz');
  } catch (error) {
    const detail = `no answer from ${base} (${reasonOf(error)}); start one with: soda dev`;
    return [{ check: 'master', state: 'failed', detail }, await checkPort()];
  }
  const { status, detail } = (await ready.json().catch(() => ({}))) as Record<string, string>;
  const version = await ask('/openapi.json')
    .then((answer) => answer.json() as Promise<{ info?: { version?: string } }>)
    .then(({ info }) => info?.version)
    .catch(() => undefined);
  const what = [base, status ?? detail ?? `HTTP ${ready.status}`, version && `version ${version}`];
  return [
    {
      check: 'master',
      state: ready.ok ? 'ok' : 'failed',
      detail: what.filter(Boolean).join(', '),
    },
    clockFinding(ready.headers.get('date')),
  ];
}

/** The Date header has whole seconds: it is up to one second behind. */
function clockFinding(date: string | null): Finding {
  const skewMs = Date.now() - Date.parse(date ?? '') - 500;
  if (Number.isNaN(skewMs)) return { check: 'clock', state: 'warning', detail: 'no Date header' };
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const side = skewMs > 0 ? 'ahead of' : 'behind';
  const detail = seconds <= 1 ? 'as the master' : `${seconds} s ${side} the master`;
  return { check: 'clock', state: Math.abs(skewMs) > SKEW_MS_MAX ? 'failed' : 'ok', detail };
}

/** Asked only where no master answers: else the port is rightly taken. */
async function checkPort(): Promise<Finding> {
  const port = Number(process.env['SODA_PORT'] ?? DEFAULT_PORT);
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
  try {
    return [{ check: 'database', state: 'ok', detail: await reach(databaseUrl) }];
  } catch (error) {
    return [{ check: 'database', state: 'failed', detail: reasonOf(error) }];
  }
}

/** Says what was reached. @throws if it was not. */
async function reach(databaseUrl: string): Promise<string> {
  const file = /^sqlite:(.+)$/.exec(databaseUrl)?.[1];
  if (file !== undefined) {
    const directory = path.dirname(path.resolve(file));
    await access(directory, constants.W_OK);
    return `${directory} can be written to`;
  }
  const { hostname, port } = new URL(databaseUrl);
  const socket = connectTo({ host: hostname, port: Number(port || 3306) });
  socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error('no answer')));
  try {
    // A MySQL server speaks first: its greeting tells it from any other open port.
    await once(socket, 'data');
    return `${hostname}:${port || 3306} answers`;
  } finally {
    socket.destroy();
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

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  const { code } = (cause ?? error) as NodeJS.ErrnoException;
  return code ?? message;
}
