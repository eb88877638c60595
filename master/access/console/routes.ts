/**
 * The console: files for a browser, which are for anyone and tell nothing, and the login that lets their page use the
 * API. All else it asks for goes by the same routes as of any other client.
 */
import { API_BASE, HTTP_LIMITS } from '@soda-scheduler/protocol';
import { sessionEnded, sessionRequest, sessionView } from '@soda-scheduler/protocol/schemas';
import type { Authorizer } from '../auth.ts';
import { validate } from '../body/fields.ts';
import { answers } from '../http/answers.ts';
import { CONTENT_SECURITY_POLICY, FOR_EVER, repliesOf, type ServedFiles } from '../http/files.ts';
import type { Route } from '../http/route.ts';

const INDEX = 'index.html';

export function consoleRoutes(files: ServedFiles, authorizer: Authorizer): Route[] {
  const replyWith = repliesOf(files, 'The console is');

  return [
    {
      method: 'GET',
      path: '/',
      summary: 'The console.',
      replies: { done: 'text/html' },
      handle: (request) =>
        replyWith(INDEX, request, { 'Content-Security-Policy': CONTENT_SECURITY_POLICY }),
    },
    {
      method: 'GET',
      path: '/assets/{file}',
      summary: 'What the console is made of.',
      replies: { done: '*/*' },
      handle: (request) => {
        const { file = '' } = request.params;
        return replyWith(file === INDEX ? '' : file, request, FOR_EVER);
      },
    },
    {
      method: 'POST',
      path: `${API_BASE}/session`,
      summary: 'Log in at the console: a cookie stands for the token from here on.',
      body: { schema: sessionRequest, bytesMax: HTTP_LIMITS.bodyBytesMax },
      replies: { done: sessionView },
      handle: ({ body, headers, actor: { address } }) => {
        const { token } = validate(sessionRequest, body);
        const { actor, headers: made } = authorizer.logIn(token, headers, address);
        const { name, role } = actor;
        return { body: { name, role }, headers: made, logged: { by: name, role } };
      },
    },
    {
      method: 'DELETE',
      path: `${API_BASE}/session`,
      summary: 'Log out: the cookie stands for nothing any more.',
      replies: { done: sessionEnded },
      handle: ({ headers }) => ({
        body: { code: answers.done.status },
        headers: authorizer.logOut({ method: 'DELETE', headers }),
        logged: null,
      }),
    },
  ];
}
