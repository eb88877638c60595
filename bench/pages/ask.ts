/** Asks a master by HTTP, page after page. */
import { type Agent, request } from 'node:http';
import type { Question } from './questions.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** A GET, or a POST of a body. */
export function ask(agent: Agent, url: string, body?: unknown): Promise<Answer> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  const options = text === '' ? { agent } : { agent, method: 'POST', headers };
  return new Promise((resolve, reject) => {
    request(url, options, (response) => {
      let answer = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (answer += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: answer }));
    })
      .on('error', reject)
      .end(text);
  });
}

export interface Page extends Answer {
  readonly ms: number;
  /** Null: it is no list. */
  readonly rowCount: number | null;
}

/** So many pages of one question at most, the first one first. */
export async function* pagesOf(
  agent: Agent,
  api: string,
  { path, body }: Question,
  pageCount: number,
): AsyncGenerator<Page> {
  let cursor: string | null = null;
  for (let count = 0; count < pageCount && (count === 0 || cursor !== null); count++) {
    const after: string =
      cursor === null ? '' : `${path.includes('?') ? '&' : '?'}cursor=${cursor}`;
    const begun = performance.now();
    const answer = await ask(agent, api + path + after, body);
    const ms = performance.now() - begun;
    const { tasks, errors, next_cursor } = JSON.parse(answer.text) as {
      readonly tasks?: readonly unknown[];
      readonly errors?: readonly unknown[];
      readonly next_cursor?: string | null;
    };
    yield { ...answer, ms, rowCount: (tasks ?? errors)?.length ?? null };
    cursor = answer.status === 200 ? (next_cursor ?? null) : null;
  }
}
