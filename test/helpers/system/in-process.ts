/** A whole master in this process, on a folder and a port of its own, and calls of its routes. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { loadConfig, runMaster } from '@soda-scheduler/master';
import { API_BASE } from '@soda-scheduler/protocol';
import { copyEmptyStore } from '../store/empty-store.ts';

export interface Answer {
  readonly status: number;
  readonly etag: string | null;
  readonly body: Record<string, unknown>;
}

/** For the suite that calls this: a new one for each of its tests. */
export function masterSuite(flags: Readonly<Record<string, string>> = {}) {
  let folder: string;
  /** Of the first start: executors come back to it. */
  let port: string;
  let master: Awaited<ReturnType<typeof runMaster>>;

  async function start(): Promise<void> {
    const outcome = loadConfig({ env: {}, flags: { port, dataDir: folder, ...flags } });
    if (!('config' in outcome)) throw new Error(outcome.problems.join('; '));
    master = await runMaster(outcome.config, { logTo: new PassThrough().resume() });
    ({ port } = new URL(master.url));
  }

  async function call(
    method: string,
    route: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const answer = await fetch(master.url + API_BASE + route, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return {
      status: answer.status,
      etag: answer.headers.get('etag'),
      body: (await answer.json()) as Answer['body'],
    };
  }

  /** Of all pages of a list: a busy machine ends one by its time, before it is full. */
  async function listTasks<Task = { readonly task_id: string }>(
    route: string,
    headers: Record<string, string> = {},
  ): Promise<Task[]> {
    const found: Task[] = [];
    let cursor: string | null = null;
    do {
      const at: string =
        cursor === null ? '' : `${route.includes('?') ? '&' : '?'}cursor=${cursor}`;
      const { body } = await call('GET', route + at, undefined, headers);
      found.push(...(body['tasks'] as Task[]));
      cursor = body['next_cursor'] as string | null;
    } while (cursor !== null);
    return found;
  }

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'soda-master-'));
    await copyEmptyStore(path.join(folder, 'soda.db'));
    port = '0';
    await start();
  });
  afterEach(async () => {
    await master.stop();
    await rm(folder, { recursive: true });
  });
  return {
    folder: () => folder,
    url: () => master.url,
    async restart(): Promise<void> {
      await master.stop();
      await start();
    },
    call,
    listTasks,
    submit: (task: object) => call('POST', '/task/submit', { task, user: { group: 'news' } }),
    getType: (type: string) => call('GET', `/type/${type}`),
    putType: (type: string, body: unknown, version?: number) =>
      call(
        'PUT',
        `/type/${type}`,
        body,
        version === undefined ? {} : { 'if-match': `"${version}"` },
      ),
  };
}

/** `field: message` of what was refused. */
export function errorsOf({ body }: Answer): string[] {
  const errors = body['errors'] as { field: string; message: string }[];
  return errors.map(({ field, message }) => `${field}: ${message}`);
}
