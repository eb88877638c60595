/** The OpenAPI 3.1 document, made of the table of routes and the schemas they validate with. */
import {
  API_BASE,
  HTTP_LIMITS,
  NAMESPACE_PATTERN,
  TASK_ID_PATTERN,
  TOKEN_NAME_PATTERN,
} from '@soda-scheduler/protocol';
import * as protocol from '@soda-scheduler/protocol/schemas';
import { z } from 'zod';
import { type AnswerKind, answers } from './answers.ts';
import { inWords, type Right } from '../rights.ts';
import type { GuardedRoute, Route } from './route.ts';

type Json = Record<string, unknown>;

/** Schemas that get a name of their own; the others are written out where they are used. */
const named = {
  SubmitRequest: protocol.submitRequest,
  SubmitResponse: protocol.submitResponse,
  ConflictResponse: protocol.conflictResponse,
  BatchRequest: protocol.batchRequest,
  BatchResponse: protocol.batchResponse,
  PatchRequest: protocol.patchRequest,
  CancelRequest: protocol.cancelRequest,
  DrainRequest: protocol.drainRequest,
  ExecutorChange: protocol.executorChange,
  TaskCommandResponse: protocol.taskCommandResponse,
  ExecutorCommandResponse: protocol.executorCommandResponse,
  AttemptView: protocol.attemptView,
  TaskView: protocol.taskView,
  TaskList: protocol.taskList,
  TaskCount: protocol.taskCount,
  ErrorList: protocol.errorList,
  UsageReport: protocol.usageReport,
  DailyReport: protocol.dailyReport,
  ViewRequest: protocol.viewRequest,
  ViewList: protocol.viewList,
  ExecutorList: protocol.executorList,
  ExecutorView: protocol.executorView,
  NamespaceSettings: protocol.namespaceSettings,
  NamespaceView: protocol.namespaceView,
  NamespaceList: protocol.namespaceList,
  TokenRequest: protocol.tokenRequest,
  TokenMade: protocol.tokenMade,
  TokenView: protocol.tokenView,
  TokenList: protocol.tokenList,
  Whoami: protocol.whoami,
  TypeDefinition: protocol.typeDefinition,
  TypeView: protocol.typeView,
  TypeList: protocol.typeList,
  Problem: protocol.problem,
  CallbackBody: protocol.callbackBody,
} as const;

const SCOPES: Readonly<Record<Right['scope'], string>> = {
  none: '',
  whole: ' A token without a scope.',
  namespace: ' A scope has to include the namespace, and limit neither types nor groups.',
  type: ' A scope has to include the namespace and the type, and not to limit groups.',
  types: ' A token with a scope sees only types in it; it must not limit groups.',
  submit: ' A scope has to include namespace, type and group.',
  within: ' A token with a scope sees and touches only what is in it.',
};

const TEXT = { schema: { type: 'string' } } as const;

function rightInWords({ roles, scope }: Right): string {
  if (roles === 'anyone') return 'No token is needed.';
  return `Needs the role ${inWords(roles)}.${SCOPES[scope]}`;
}

/** The text of the document, piece by piece: between two of them others may have their turn. */
export function* openApiOf(routes: readonly GuardedRoute[], version: string): Generator<string> {
  const info = {
    title: 'Soda Scheduler',
    version,
    description:
      'A task scheduler for long-running work. Durations are seconds; instants are ISO 8601 in ' +
      'UTC. Unknown fields in answers are to be ignored.',
    license: { name: 'MIT', identifier: 'MIT' },
  };
  const head = { openapi: '3.1.0', info, servers: [{ url: '/' }] };
  yield `${JSON.stringify(head).slice(0, -1)},"paths":{`;
  const byPath = new Map<string, GuardedRoute[]>();
  for (const route of routes) byPath.set(route.path, [...(byPath.get(route.path) ?? []), route]);
  let comma = '';
  for (const [path, those] of byPath) {
    yield `${comma}${JSON.stringify(path)}:{`;
    yield* membersOf(
      those.map((route) => [route.method.toLowerCase(), route]),
      operationOf,
    );
    yield '}';
    comma = ',';
  }
  yield `},"webhooks":${JSON.stringify(webhooks())},"components":{"schemas":{`;
  yield* membersOf(Object.entries(named), componentOf);
  const securitySchemes = { token: { type: 'http', scheme: 'bearer' } };
  yield `},"securitySchemes":${JSON.stringify(securitySchemes)}}}\n`;
}

/** Each by its name, as JSON has it. */
function* membersOf<T>(
  all: Iterable<readonly [name: string, one: T]>,
  of: (one: T, name: string) => Json,
): Generator<string> {
  let comma = '';
  for (const [name, one] of all) {
    yield `${comma}${JSON.stringify(name)}:${JSON.stringify(of(one, name))}`;
    comma = ',';
  }
}

function webhooks(): Json {
  return {
    taskFinished: {
      post: {
        operationId: 'taskFinished',
        security: [],
        summary: 'What `notify_url` receives, signed as Standard Webhooks.',
        requestBody: contentOf(protocol.callbackBody),
        responses: {
          '2XX': { description: 'Delivered.' },
          '410': { description: 'Gone: no further try.' },
        },
      },
    },
  };
}

function operationOf(route: GuardedRoute): Json {
  const parameters = parametersOf(route);
  return {
    operationId: operationIdOf(route),
    summary: route.summary,
    description: rightInWords(route.right),
    ...(route.right.roles === 'anyone' ? { security: [] } : { security: [{ token: [] }] }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            ...bodyOf(route.body),
            required: route.body.optional !== true,
          },
        }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.replies).map(([kind, reply]) => {
          const { status, means } = answers[kind as AnswerKind];
          const content = reply === null ? {} : contentOf(reply);
          for (const type of route.streams ?? []) {
            Object.assign(content['content'] as Json, { [type]: TEXT });
          }
          return [status, { description: means, ...content }];
        }),
      ),
      '4XX': {
        description: 'Refused; says why. 429 carries Retry-After.',
        ...contentOf(protocol.problem, 'application/problem+json'),
      },
      '5XX': {
        description: 'Not done, or not known to be; says why. 503 carries Retry-After.',
        ...contentOf(protocol.problem, 'application/problem+json'),
      },
    },
  };
}

/** `POST /scheduler/v2/task/{task_id}/cancel` -> `postTaskCancel`. */
function operationIdOf({ method, path, operationId }: Route): string {
  if (operationId !== undefined) return operationId;
  const words = path
    .replace(API_BASE, '')
    .split(/[/.-]/)
    .filter((word) => word !== '' && !word.startsWith('{'));
  const name = words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('');
  return method.toLowerCase() + name;
}

function parametersOf(route: Route): Json[] {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', pattern: patternOf(name) },
  }));
  // The output side: what the text of the query has to read as.
  const query = route.query && z.toJSONSchema(route.query, { io: 'output' });
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    schema,
  }));
  const inHeader = Object.entries(route.headers ?? {}).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  }));
  return [...inPath, ...inQuery, ...inHeader];
}

function patternOf(parameter: string | undefined): string {
  const patterns = { namespace: NAMESPACE_PATTERN, name: TOKEN_NAME_PATTERN };
  return (patterns[parameter as keyof typeof patterns] ?? TASK_ID_PATTERN).source;
}

function bodyOf({ schema, otherType }: NonNullable<Route['body']>): Json {
  const { content } = contentOf(schema);
  const other = otherType === undefined ? {} : contentOf(otherType);
  return { content: { ...(content as Json), ...(other['content'] as Json | undefined) } };
}

function contentOf(schema: z.ZodType | string, contentType = 'application/json'): Json {
  if (typeof schema === 'string') return { content: { [schema]: { schema: { type: 'string' } } } };
  const name = Object.entries(named).find(([, known]) => known === schema)?.[0];
  const value = name === undefined ? plain(z.toJSONSchema(schema)) : refTo(name);
  return { content: { [contentType]: { schema: value } } };
}

/** With references to the others. The input side throughout: an answer may have more fields than an older document says. */
function componentOf(schema: z.ZodType, name: string): Json {
  const component = plain(
    z.toJSONSchema(schema, {
      io: 'input',
      override({ zodSchema, jsonSchema }) {
        const other = Object.entries(named).find(([, known]) => known === zodSchema)?.[0];
        if (other === undefined || other === name) return;
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
        jsonSchema.$ref = refTo(other).$ref;
      },
    }),
  );
  if (name !== 'BatchRequest') return component;
  // The schema takes items of any shape, because a bad one must not spoil the others.
  const items = { type: 'array', minItems: 1, maxItems: HTTP_LIMITS.batchCountMax };
  Object.assign(component['properties'] as Json, {
    tasks: { ...items, items: refTo('SubmitRequest') },
  });
  return component;
}

/** Without the keywords that only a document of its own needs. */
function plain(schema: object): Json {
  const entries = Object.entries(schema).filter(([key]) => key !== '$schema' && key !== '$id');
  return Object.fromEntries(entries);
}

function refTo(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}
