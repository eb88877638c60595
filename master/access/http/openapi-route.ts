/**
 * The document of all routes, for anyone: made once somebody asks, in pieces between which others have their turn, and
 * kept as the bytes that are sent.
 */
import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { ifNoneMatch } from './etag.ts';
import { repliesOf } from './files.ts';
import { openApiOf } from './openapi.ts';
import type { ApiRequest, GuardedRoute, Reply, Route } from './route.ts';

const NAME = 'openapi.json';

/** @param routes All of them, once requests come. */
export function openApiRoute(routes: () => readonly GuardedRoute[], version: string): Route {
  let made: Promise<(request: ApiRequest) => Promise<Reply>> | null = null;

  async function make() {
    const pieces: string[] = [];
    for (const piece of openApiOf(routes(), version)) {
      pieces.push(piece);
      await turn();
    }
    const bytes = Buffer.from(pieces.join(''));
    const tag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
    const file = { contentType: 'application/json', bytes };
    const replyWith = repliesOf(new Map([[NAME, file]]), 'The document is');
    return (request: ApiRequest) =>
      replyWith(NAME, request, { 'Cache-Control': 'no-cache', ETag: tag });
  }

  return {
    method: 'GET',
    path: `/${NAME}`,
    summary: 'This document.',
    headers: ifNoneMatch,
    replies: { done: 'application/json', unchanged: null },
    handle: async (request) => {
      const reply = await (made ??= make());
      return reply(request);
    },
  };
}
