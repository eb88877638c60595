/** What `http.request` may be asked for, and let do. */
import { z } from 'zod';
import { addressList, hostPattern } from '../requests/host-pattern.ts';

const pointer = z
  .string()
  .max(512)
  .refine((text) => /^(?:\/(?:[^~]|~[01])*)?$/.test(text), {
    error: 'expected a JSON pointer such as /job/state',
  });

const status = z.int().min(100).max(599);
const url = z.string().max(4096);

/** Names that decide how a message is read, or whose it is, are not for a task to set. */
const header = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/)
  .refine(
    (name) =>
      !/^(?:host|connection|content-length|transfer-encoding|expect|upgrade|te|trailer|keep-alive|proxy-.*)$/i.test(
        name,
      ),
    { error: 'this header is not for a task to set' },
  );

const condition = z.strictObject({
  at: pointer.describe('Where in the answer, as a JSON pointer.'),
  equals: z
    .array(z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .min(1)
    .max(32),
});

const poll = z
  .strictObject({
    url: url.optional().describe('{id} in it becomes what stands at id_at of the first answer.'),
    id_at: pointer.optional(),
    url_at: pointer.optional().describe('Instead of url: where in the first answer it stands.'),
    interval_seconds: z.number().min(0.1).max(3_600).default(5),
    done: condition,
    failed: condition.optional(),
    percent_at: pointer.optional(),
  })
  .refine((given) => (given.url === undefined) !== (given.url_at === undefined), {
    error: 'expected either url or url_at',
  })
  .refine((given) => (given.url?.includes('{id}') ?? false) === (given.id_at !== undefined), {
    error: 'expected {id} in url and id_at together',
  });

export const requestParams = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  url,
  headers: z
    .record(
      header,
      z
        .string()
        .max(4096)
        .regex(/^[\t\x20-\x7e]*$/, 'expected visible characters'),
    )
    .default({}),
  json: z.unknown().optional().describe('The body, sent as application/json.'),
  text: z.string().max(131_072).optional().describe('The body as it is.'),
  success: z
    .strictObject({ status: z.array(status).min(1).max(64).optional(), body: condition.optional() })
    .default({})
    .describe('Which answers are one; without status 200 to 299 are.'),
  result_at: pointer.default('').describe('What of the answer becomes the result.'),
  timeout_seconds: z.number().min(0.1).max(3_600).default(60).describe('For each request.'),
  poll: poll.optional(),
});

export type RequestParams = z.output<typeof requestParams>;
export type Condition = z.output<typeof condition>;
export type Poll = z.output<typeof poll>;

export const requestSettings = z.strictObject({
  hosts: z.array(hostPattern).min(1),
  addresses: addressList,
  /** Added to requests to that host; never shown to a task. */
  credentials: z
    .array(
      z.strictObject({
        host: hostPattern,
        header: header.default('authorization'),
        env: z.string().optional(),
        file: z.string().optional(),
      }),
    )
    .default([]),
  response_bytes_max: z
    .int()
    .min(1)
    .max(64 * 1024 * 1024)
    .default(1024 * 1024),
});

export type RequestSettings = z.output<typeof requestSettings>;
