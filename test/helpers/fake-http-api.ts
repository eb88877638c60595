/**
 * A master in memory that speaks the HTTP API but runs nothing: tests move its tasks by hand, and
 * may answer any request themselves. For what talks to a master from outside.
 */
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  API_BASE,
  type BatchResult,
  type ExecutorView,
  type NamespaceSettings,
  type NamespaceView,
  type SubmitRequest,
  type TaskView,
} from '@soda-scheduler/protocol';

export interface Received {
  readonly method: string;
  /** Without the base of the API, and of a namespace. */
  readonly path: string;
  readonly namespace: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  // oxlint-disable-next-line typescript/no-explicit-any -- Tests look into it as they please.
  readonly body: any;
}

/** Status, body (text if the headers say so), headers; or `drop`: the connection is cut without an answer. */
export type Answer = readonly [status: number, body?: unknown, headers?: object] | 'drop';

const IN_NAMESPACE = /^\/ns\/([^/]+)/;

export class FakeHttpApi {
  readonly received: Received[] = [];
  readonly tasks = new Map<string, TaskView>();
  executors: ExecutorView[] = [];
  readonly namespaces = new Map<string, NamespaceView>();
  /** Asked first for every request; undefined: the answer is as usual. */
  intercept: (request: Received, usual: () => Answer) => Answer | undefined | Promise<Answer> =
    () => undefined;
  readonly #server = http.createServer((request, response) => void this.#answer(request, response));
  readonly #requests = new Map<string, string>();

  /** As it was made. */
  clear(): void {
    this.received.length = 0;
    this.tasks.clear();
    this.#requests.clear();
    this.executors = [];
    this.namespaces.clear();
    this.intercept = () => undefined;
  }

  async start(): Promise<void> {
    // Closing what is idle would meet requests on their way, where the machine is busy.
    this.#server.keepAliveTimeout = 0;
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  paths(): string[] {
    return this.received.map(({ method, path }) => `${method} ${path}`);
  }

  change(taskId: string, change: Partial<TaskView>): void {
    const task = this.tasks.get(taskId);
    if (task) Object.assign(task, change);
  }

  finish(taskId: string, state: 'succeeded' | 'failed' | 'canceled', result: unknown = null): void {
    this.change(taskId, { state, result, finished_at: new Date(0).toISOString() });
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const url = new URL(incoming.url ?? '/', this.url);
    const request: Received = {
      method: incoming.method ?? '',
      path: url.pathname.replace(API_BASE, '').replace(IN_NAMESPACE, ''),
      namespace: IN_NAMESPACE.exec(url.pathname.replace(API_BASE, ''))?.[1] ?? 'default',
      query: url.searchParams,
      headers: incoming.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
    this.received.push(request);
    const usual = () => this.#usual(request);
    const answer = (await this.intercept(request, usual)) ?? usual();
    if (answer === 'drop') {
      incoming.socket.destroy();
      return;
    }
    const [status, body, headers = {}] = answer;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    const isText = 'content-type' in headers && headers['content-type'] === 'text/plain';
    response.end(isText ? body : body === undefined ? '' : JSON.stringify(body));
  }

  #usual({ method, path, query, body }: Received): Answer {
    if (path === '/readyz') return [200, { status: 'ready', version: '2.0.0' }];
    if (path === '/task/submit') return this.#submitAnswer(body);
    if (path === '/task/submit-batch') {
      return [200, { results: body.tasks.map((item: SubmitRequest) => this.#submit(item)) }];
    }
    if (path === '/tasks') return this.#list(query);
    if (path === '/executors') return [200, { executors: this.executors }];
    if (path === '/namespaces') return this.#listNamespaces(query);
    const [, kind, id = '', command = ''] = path.split('/');
    if (kind === 'namespace') return this.#namespace(method, id, body as NamespaceSettings);
    if (kind === 'executor') return this.#executorCommand(decodeURIComponent(id), command);
    const task = this.tasks.get(decodeURIComponent(id));
    if (task === undefined) return problem(404, 'No such task is retained.');
    if (method === 'GET') return [200, task];
    if (command === 'cancel') this.finish(task.task_id, 'canceled');
    if (command === 'retry') this.change(task.task_id, { state: 'waiting', finished_at: null });
    return [200, { task_id: task.task_id, code: 200 }];
  }

  #submitAnswer(body: SubmitRequest): Answer {
    const result = this.#submit(body);
    return [result.code, result];
  }

  #submit({ task, user = task.user }: SubmitRequest): BatchResult {
    const id = task.id ?? '';
    const request = JSON.stringify([task, user]);
    const known = this.#requests.get(id);
    if (known !== undefined) {
      const message = `task id conflict: ${id}`;
      return { task_id: id, code: 409, message, same_request: known === request };
    }
    this.#requests.set(id, request);
    this.tasks.set(id, viewOf(id, task, user ?? { group: '' }));
    return { task_id: id, code: 202 };
  }

  #list(query: URLSearchParams): Answer {
    const all = [...this.tasks.values()].reverse();
    const state = query.get('state') ?? undefined;
    const callback = query.get('notification') ?? undefined;
    const found = all.filter(
      (task) =>
        (state === undefined || task.state === state) &&
        (callback === undefined || task.notification?.state === callback),
    );
    const start = Number(query.get('cursor') ?? 0);
    const end = start + Number(query.get('limit') ?? 50);
    const next = end < found.length ? String(end) : null;
    return [200, { tasks: found.slice(start, end), next_cursor: next }];
  }

  /** Two a page. */
  #listNamespaces(query: URLSearchParams): Answer {
    const names = [...this.namespaces.keys()].sort();
    const left = names.filter((name) => name >= (query.get('cursor') ?? ''));
    const namespaces = left.slice(0, 2).map((name) => this.namespaces.get(name));
    return [200, { namespaces, next_cursor: left[2] ?? null }];
  }

  #namespace(method: string, name: string, settings: NamespaceSettings): Answer {
    const known = this.namespaces.get(name);
    if (method !== 'PUT') {
      if (known === undefined) return problem(404, `There is no namespace ${name}.`);
      if (method === 'DELETE') this.namespaces.delete(name);
      return [200, method === 'DELETE' ? { name, code: 200 } : known];
    }
    const { retention, max_waiting, max_running, paused } = settings;
    const scope = 'namespace' as const;
    const pause = paused && { scope, at: '', by: null, reason: paused.reason ?? null, until: null };
    const view: NamespaceView = {
      name,
      retention: retention ?? known?.retention ?? 'normal',
      max_waiting: max_waiting === undefined ? (known?.max_waiting ?? null) : max_waiting,
      max_running: max_running === undefined ? (known?.max_running ?? null) : max_running,
      paused: pause === undefined ? (known?.paused ?? null) : pause,
      pauses: 0,
      counts: { waiting: 3, running: 1, held: 0 },
    };
    this.namespaces.set(name, view);
    return [known === undefined ? 201 : 200, view];
  }

  #executorCommand(id: string, command: string): Answer {
    const executor = this.executors.find(({ executor_id }) => executor_id === id);
    if (executor === undefined) return problem(404, 'no such executor');
    if (command !== '') executor.draining = command === 'drain';
    const { lasting } = executor;
    return [200, { executor_id: id, code: 200, ...(command !== 'resume' && { lasting }) }];
  }
}

export function problem(status: number, detail: string, headers = {}): Answer {
  return [status, { type: 'about:blank', title: '', status, detail, code: status }, headers];
}

function viewOf(id: string, task: SubmitRequest['task'], user: TaskView['user']): TaskView {
  const now = new Date(0).toISOString();
  return {
    namespace: 'default',
    version: 1,
    job: null,
    booking: null,
    task_id: id,
    type: task.type,
    state: 'waiting',
    user,
    params: task.params ?? null,
    labels: [],
    requires: [],
    priority: 0,
    place: null,
    attempt: 0,
    attempts_used: 0,
    executor_id: null,
    suspended: null,
    submitted_at: now,
    due_at: now,
    started_at: null,
    finished_at: null,
    deadline: null,
    cancel_requested_at: null,
    retry: { max_attempts: 10, interval: 600 },
    assign_timeout: 5,
    execution_timeout: null,
    stall_timeout: null,
    start_timeout: null,
    start_timeout_action: 'fail',
    needs: { disk_bytes: null },
    uses: [],
    trace_id: null,
    checkpoint_bytes: 0,
    progress: null,
    result: null,
    error: null,
    failure_reason: null,
    waiting: { reason: 'no_executor', message: 'No executor runs this type.', ahead: 0 },
    timeline: [],
    notification: null,
  };
}
