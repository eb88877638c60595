/** Lines of JSON in a file, compressed or not, and which of them are looked for. Holds one line and one piece of the file. */
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';

/** A task has 2 MiB at most. */
const LINE_LENGTH_MAX = 8 * 1024 * 1024;

/** What is known of a line that was found. */
export interface Archived {
  readonly line: string;
  readonly task: {
    readonly task_id: string;
    readonly state: string;
    readonly type: string;
    readonly namespace?: string;
    readonly user?: { readonly group?: string };
    readonly finished_at: string | null;
    readonly error?: { readonly message?: string } | null;
  };
}

export interface Wanted {
  readonly id?: string;
  readonly type?: string;
  readonly group?: string;
  readonly state?: string;
  readonly namespace?: string;
  readonly text?: string;
  readonly from: number | null;
  readonly to: number | null;
}

/** @throws {Error} the file cannot be read to its end. */
export async function* linesOf(file: string): AsyncGenerator<string> {
  const source = createReadStream(file);
  const bytes = file.endsWith('.gz') ? source.pipe(createGunzip()) : source;
  source.once('error', (error) => bytes.destroy(error));
  bytes.setEncoding('utf8');
  let rest = '';
  try {
    for await (const chunk of bytes) {
      const lines = (rest + (chunk as string)).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > LINE_LENGTH_MAX) throw new Error('it has no lines of tasks');
      yield* lines;
    }
    if (rest !== '') yield rest;
  } finally {
    source.destroy();
    bytes.destroy();
  }
}

/** Of a line the task; null where it is not looked for. @throws {SyntaxError} it is not JSON. */
export function matcherOf(wanted: Wanted): (line: string) => Archived | null {
  const { id, type, group, state, namespace, text, from, to } = wanted;
  // Most lines are told apart without being parsed. Of other alphabets there may be another spelling.
  const words = [id, type, state, namespace, group].filter((word) => word !== undefined);
  const needles = words.filter((word) => /^[\w.:-]*$/.test(word)).map((word) => `"${word}"`);
  if (text !== undefined) needles.push(text);
  return (line) => {
    if (line === '' || !needles.every((needle) => line.includes(needle))) return null;
    const task = JSON.parse(line) as Archived['task'];
    const at = Date.parse(task.finished_at ?? '');
    const isWanted =
      (id === undefined || task.task_id === id) &&
      (type === undefined || task.type === type) &&
      (state === undefined || task.state === state) &&
      (namespace === undefined || task.namespace === namespace) &&
      (group === undefined || task.user?.group === group) &&
      (from === null || at >= from) &&
      (to === null || at < to);
    return isWanted ? { line, task } : null;
  };
}
