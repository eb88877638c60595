/** The documentation: pages for anyone, because they say nothing of this master that its package does not say to all. */
import { createHash } from 'node:crypto';
import {
  CONTENT_SECURITY_POLICY,
  FOR_EVER,
  repliesOf,
  type ServedFile,
  type ServedFiles,
} from '../http/files.ts';
import type { Reply, Route } from '../http/route.ts';

/**
 * Pages name one another as files of one folder: so the first is in it, wherever a proxy serves that. Its policy is that of
 * pages: that of other answers would have the browser go on by TLS, also where there is none.
 */
function doorTo(page: string): Reply {
  const body =
    `<!doctype html><title>Soda Scheduler</title><meta http-equiv="refresh" content="0; url=${page}">` +
    `<a href="${page}">Documentation</a>`;
  const headers = { 'Content-Security-Policy': CONTENT_SECURITY_POLICY };
  return { body, contentType: 'text/html; charset=utf-8', headers };
}

export function docsRoutes(files: ServedFiles): Route[] {
  const replyWith = repliesOf(files, 'The pages are');
  const tags = new Map<ServedFile, string>();

  /** A page is asked for anew, and sent where it has changed; all else has a digest in its name. */
  function headersOf(name: string): Readonly<Record<string, string>> {
    const file = files.get(name);
    if (file === undefined || !name.endsWith('.html')) return FOR_EVER;
    const tag =
      tags.get(file) ?? `"${createHash('sha256').update(file.bytes).digest('base64url')}"`;
    tags.set(file, tag);
    return {
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      ETag: tag,
    };
  }

  return [
    {
      method: 'GET',
      path: '/docs',
      summary: 'Leads to the documentation.',
      replies: { done: 'text/html' },
      handle: () => doorTo('docs/index.html'),
    },
    {
      method: 'GET',
      path: '/docs/',
      operationId: 'getDocsFolder',
      summary: 'Leads to the documentation, too.',
      replies: { done: 'text/html' },
      handle: () => doorTo('index.html'),
    },
    {
      method: 'GET',
      path: '/docs/{file}',
      operationId: 'getDocsFile',
      summary: 'A page of the documentation, and what pages are made of.',
      replies: { done: '*/*' },
      handle: (request) => {
        const { file: name = '' } = request.params;
        return replyWith(name, request, headersOf(name));
      },
    },
  ];
}
