/**
 * What a route is, and how any of them is served: authorise, read, handle, answer. It needs
 * nothing but `node:http`, so that the hot routes can be served without the router in between.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { API_BASE, NAMESPACE_PATTERN } from '@soda-scheduler/protocol';
import { z } from 'zod';
import { Unavailable } from '../../application/master-handle.ts';
import type { Log } from '../../application/ports.ts';
import type { AuditTrail } from '../../application/process/audit-trail.ts';
import type { Author } from '../../domain/model/audit.ts';
import type { Actor, Authorizer } from '../auth.ts';
import { checkRole, checkScope, namespaceIn, type Right } from '../rights.ts';
import type { ScopedMaster } from '../scoped-master.ts';
import { checkShape } from '../body/fields.ts';
import { announcedBytes, type BodyBudget, ClientGone, readBody } from '../body/read-body.ts';
import { type AnswerKind, answers } from './answers.ts';
import type { UnreadAnswers } from './pipeline.ts';
import { invalidFields, bodyOf, jsonLine, Problem, problemOf } from './problem.ts';
import type { Turns } from './turns.ts';

export interface ApiRequest {
  readonly actor: Actor;
  /** For whom what is changed is to be kept; null: for nobody. */
  readonly author: Author | null;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: IncomingMessage['headers'];
  /** Valid UTF-8, and otherwise as it came; undefined where there is none. */
  readonly body: Buffer | undefined;
  /** Nobody waits for the answer (any more), or whoever does may not have it any more. */
  isOver(): boolean;
}

/** Says one thing after another. `write` resolves once that was taken, to false where nobody is there. */
export type Stream = (write: (text: string) => Promise<boolean>) => Promise<void>;

export interface Reply {
  /** Default: `done`. */
  readonly kind?: AnswerKind;
  readonly body: unknown;
  /** Beside those of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `text/plain` and the like: the body is a string, or bytes, to be sent as it is. Default: JSON. */
  readonly contentType?: string;
  /** In place of a body, until it ends: server-sent events, or of `contentType`. */
  readonly stream?: Stream;
  /** For the line of the log that tells of the change, beside who made it; null: nothing was changed. */
  readonly logged?: Readonly<Record<string, unknown>> | null;
}

/** One entry of the table that drives the router, the metrics and the document. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** As in OpenAPI: `/task/{task_id}`. */
  readonly path: string;
  readonly summary: string;
  /** Default: its method and path in words, without what stands in braces. No two routes have the same. */
  readonly operationId?: string;
  /** Found before the router is asked, which costs more than all else that a submit does. */
  readonly hot?: boolean;
  readonly query?: z.ZodObject;
  readonly body?: {
    readonly schema: z.ZodType;
    readonly bytesMax: number;
    readonly optional?: boolean;
    /** It may come as that, too: its text, whatever the schema says of JSON. */
    readonly otherType?: 'text/calendar';
  };
  readonly headers?: Readonly<Record<string, string>>;
  /** Kind of answer to what its JSON looks like; a string names another content type; null: it has no body. */
  readonly replies: Readonly<Partial<Record<AnswerKind, z.ZodType | string | null>>>;
  /** It answers with these too, for whoever accepts them. */
  readonly streams?: readonly ('text/event-stream' | 'text/plain' | 'text/csv')[];
  /** It is about the namespace of its path, or `default`. */
  readonly isInNamespace?: boolean;
  handle(request: ApiRequest): Reply | Promise<Reply>;
}

/** One that is served: it is known who may call it, and whether that is kept. */
export interface GuardedRoute extends Route {
  readonly right: Right;
  /** What it changes is kept as this; null: nothing of it is. */
  readonly action: string | null;
}

/** One that there is in every namespace; `path` is that of `default`. */
export interface NamespaceRoute extends Omit<Route, 'handle'> {
  handle(request: ApiRequest, master: ScopedMaster): Reply | Promise<Reply>;
}

/** Implemented by `infrastructure/telemetry/metrics.ts`. */
export interface HttpMetrics {
  answered(route: string, status: number, seconds: number): void;
  render(): Promise<{ readonly contentType: string; readonly text: string }>;
}

export interface Serving {
  readonly authorizer: Authorizer;
  readonly metrics: HttpMetrics;
  readonly log: Log;
  /** For what fails as often as it is asked for. */
  readonly rareLog: Log;
  readonly bodies: BodyBudget;
  readonly answers: UnreadAnswers;
  readonly turns: Turns;
  readonly audit: Pick<AuditTrail, 'refused'>;
}

type Addressed = Pick<ApiRequest, 'params' | 'query'>;

/** A path may have more; nothing has such a name. */
const AUDIT_TARGET_LENGTH_MAX = 128;

const EVENT_STREAM = 'text/event-stream';

/** For the metrics: nobody is there to be answered. */
const CLIENT_GONE_STATUS = 499;

/** Never throws and never rejects: whatever goes wrong becomes an answer, or a line in the log. */
export async function serve(
  serving: Serving,
  route: GuardedRoute,
  req: IncomingMessage,
  res: ServerResponse,
  addressed: Addressed,
): Promise<void> {
  const beganAt = performance.now();
  let status: number;
  let stream: Stream | undefined;
  let streamType: string | undefined;
  try {
    const { authorizer } = serving;
    const isForAnyone = route.right.roles === 'anyone';
    const actor = isForAnyone ? authorizer.nobody(req) : authorizer.identify(req);
    const author = authorIn(route, actor, addressed.params);
    const reply = await refusedOrNot(serving, author, addressed, () => {
      checkActor(route, actor, addressed);
      return reach(serving, route, req, res, {
        params: addressed.params,
        query: addressed.query,
        actor,
        author,
      });
    });
    const isChange = route.method !== 'GET' && route.hot !== true;
    const isKnown = route.method === 'GET' && isSame(req.headers['if-none-match'], reply);
    status = answers[isKnown ? 'unchanged' : (reply.kind ?? 'done')].status;
    ({ stream, contentType: streamType } = reply);
    if (stream === undefined) {
      await serving.turns.run(() => {
        if (isChange) tellChange(serving, route, addressed, actor, reply);
        sendReply(serving, res, status, reply);
      });
    }
  } catch (error) {
    status = error instanceof ClientGone ? CLIENT_GONE_STATUS : sendError(serving, req, res, error);
  }
  serving.metrics.answered(route.path, status, (performance.now() - beganAt) / 1000);
  if (stream !== undefined) await sendStream(serving, res, stream, streamType);
}

/** @throws {Problem} nobody that may do this. */
function checkActor(
  { right, isInNamespace = false }: GuardedRoute,
  actor: Actor,
  { params }: Addressed,
): void {
  checkRole(actor, right);
  checkScope(actor, right, params, isInNamespace);
}

/** A try to change something that may not is kept. */
async function refusedOrNot(
  { audit }: Serving,
  author: Author | null,
  { params }: Addressed,
  answer: () => Promise<Reply>,
): Promise<Reply> {
  if (author === null) return answer();
  try {
    return await answer();
  } catch (error) {
    if (problemOf(error).kind === 'forbidden') audit.refused(author, targetIn(params));
    throw error;
  }
}

function authorIn(
  { action, isInNamespace = false }: GuardedRoute,
  actor: Actor,
  params: Addressed['params'],
): Author | null {
  if (action === null) return null;
  const { name, role, address } = actor;
  const namespace = namespaceIn(params, isInNamespace);
  const isName = namespace !== null && NAMESPACE_PATTERN.test(namespace);
  return { actor: name, role, address, action, namespace: isName ? namespace : null };
}

/** What is named last in the path. */
function targetIn(params: Addressed['params']): string | null {
  const target = Object.values(params).at(-1) ?? '';
  return target !== '' && target.length <= AUDIT_TARGET_LENGTH_MAX ? target : null;
}

function tellChange(
  { log }: Serving,
  { method, path }: Route,
  { params }: Addressed,
  { name, role, address }: Actor,
  { logged }: Reply,
): void {
  if (logged === null) return;
  const what = { event: 'change', action: `${method} ${path}`, ...params };
  // Of a login nobody knows who it is before it is done: what is logged of it says so.
  log.info('a request has changed something', { ...what, by: name, role, address, ...logged });
}

async function reach(
  { bodies, authorizer, turns }: Serving,
  route: Route,
  req: IncomingMessage,
  res: ServerResponse,
  asked: Omit<ApiRequest, 'headers' | 'body' | 'isOver'>,
): Promise<Reply> {
  checkAccept(req.headers.accept, route);
  checkCondition(req.headers['if-match'], route);
  checkQuery(asked.query, route);
  const { body: expected } = route;
  const { headers } = req;
  const { params, query, actor, author } = asked;
  const isOver = (): boolean =>
    req.method === 'HEAD' || req.socket.destroyed || authorizer.endOf(actor) !== null;
  const given = { params, query, headers, actor, author, isOver };
  if (expected === undefined) return route.handle({ ...given, body: undefined });
  const hold = bodies.open(announcedBytes(req, expected.bytesMax));
  try {
    const body = await readBody(req, expected, hold, () => {
      if (headers.expect !== undefined) res.writeContinue();
    });
    if (body === undefined && expected.optional !== true) {
      const isOther = headers['content-type']?.toLowerCase().startsWith(expected.otherType ?? ' ');
      throw new Problem('invalid', `Expected a ${isOther ? expected.otherType : 'JSON'} body.`);
    }
    // It may have come together with many others, whenever each of them was begun.
    return await turns.run(() => route.handle({ ...given, body }));
  } finally {
    hold.end();
  }
}

const NO_QUERY = z.strictObject({});

/** What nobody looks at must not be taken for what was followed; the probes of others may have what they like. */
function checkQuery(given: ApiRequest['query'], { path, query }: Route): void {
  if (query !== undefined || !path.startsWith(API_BASE)) return;
  if (Object.keys(given).length > 0) checkShape(NO_QUERY, given);
}

/** A condition that nobody looks at must not be taken for one that holds. */
function checkCondition(given: string | undefined, { method, path, headers = {} }: Route): void {
  if (given === undefined || method === 'GET' || 'If-Match' in headers) return;
  const message = `${method} ${path} takes no condition`;
  throw invalidFields([{ field: 'If-Match', message }]);
}

/** Parameters of a media range but `q=0` are ignored: there is one representation to choose from. */
function checkAccept(accept: string | undefined, route: Route): void {
  if (accept === undefined || accept.includes('*/*')) return;
  const other = Object.values(route.replies).find((reply) => typeof reply === 'string');
  const offered = [typeof other === 'string' ? other : 'application/json'];
  offered.push(...(route.streams ?? []));
  const accepted = accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return (
      offered.some((one) => type === one || type === `${one.split('/')[0]}/*`) &&
      !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
    );
  });
  if (!accepted)
    throw new Problem('notAcceptable', `This is served as ${offered.join(' or ')} only.`);
}

/** Whether somebody asks for that, and would not take JSON: libraries that take anything name it too. */
export function asksFor({ headers }: Pick<ApiRequest, 'headers'>, contentType: string): boolean {
  const accept = headers.accept?.toLowerCase() ?? '';
  return accept.includes(contentType) && !/json|\*\/\*/.test(accept);
}

/** Whether the client says that it has this very reply. */
function isSame(given: string | undefined, { headers }: Reply): boolean {
  const tag = headers?.['ETag'];
  if (given === undefined || tag === undefined) return false;
  return given.split(',').some((one) => ['*', tag, `W/${tag}`].includes(one.trim()));
}

/**
 * Handed to the socket as fast as it takes it. Of events the reader comes again, whatever ended them; anything else that
 * fails is cut off, so that it does not look whole.
 */
async function sendStream(
  { log }: Serving,
  res: ServerResponse,
  stream: Stream,
  contentType = EVENT_STREAM,
): Promise<void> {
  res.writeHead(answers.done.status, {
    'Content-Type': contentType,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Accel-Buffering': 'no',
  });
  res.flushHeaders();
  const write = async (text: string): Promise<boolean> => {
    if (!res.destroyed && !res.write(text)) {
      await new Promise<void>((resolve) => {
        const go = (): void => {
          res.off('drain', go).off('close', go);
          resolve();
        };
        res.on('drain', go).on('close', go);
      });
    }
    return !res.destroyed;
  };
  try {
    await stream(write);
  } catch (error) {
    log.debug('a stream has ended', { event: 'stream', error: String(error) });
    if (contentType !== EVENT_STREAM) res.destroy();
  }
  res.end();
}

function sendReply(
  { answers: unread }: Serving,
  res: ServerResponse,
  status: number,
  reply: Reply,
): void {
  const { contentType, body, headers = {} } = reply;
  if (contentType === undefined) send(res, status, 'application/json', jsonLine(body), headers);
  else send(res, status, contentType, Buffer.isBuffer(body) ? body : String(body), headers);
  unread.hold(res);
}

/** Answers an error of any kind as a problem. Returns the status it was given. */
export function sendError(
  { log, rareLog, answers: unread }: Pick<Serving, 'log' | 'rareLog' | 'answers'>,
  req: IncomingMessage,
  res: ServerResponse,
  error: unknown,
): number {
  const problem = problemOf(error);
  if (problem.kind === 'fault') log.error('request failed', { method: req.method, error });
  else if (error instanceof Unavailable && error.cause !== undefined) {
    const why = error.cause instanceof Error ? error.cause.message : error.cause;
    rareLog.warn('request put off', { method: req.method, error: why });
  }
  const text = jsonLine(bodyOf(problem));
  send(res, problem.status, 'application/problem+json', text, problem.headers);
  unread.hold(res);
  return problem.status;
}

function send(
  res: ServerResponse,
  status: number,
  contentType: string,
  text: string | Buffer,
  headers: Readonly<Record<string, string>>,
): void {
  if (res.headersSent || res.destroyed) return;
  if (status === answers.unchanged.status) {
    res.writeHead(status, { 'Cache-Control': 'no-store', ...headers });
    res.end();
    return;
  }
  res.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
  res.end(text);
}
