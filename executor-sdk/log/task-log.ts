/** What a handler says in the log of its task. Lines go to the session's thread a few at a time. */
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { type LogLine, type SentLogLine, SESSION_LIMITS } from '@soda-scheduler/protocol';

export type LogLevel = LogLine['level'];

type Say = (text: string, fields?: Readonly<Record<string, unknown>>) => void;

/**
 * Never throws, and holds nothing up: a log is not what a task is for. `fields` are small JSON beside the text. What
 * is longer than 8 KiB is cut; what an executor says beyond 256 KiB a second waits in its memory, up to 16 MiB, and
 * then the oldest of that is dropped.
 */
export interface TaskLog {
  readonly debug: Say;
  readonly info: Say;
  readonly warn: Say;
  readonly error: Say;
  /**
   * Takes the lines that a child writes, with those levels: `ctx.log.capture(child, { stderr: 'warn' })`. What is not
   * named is left alone: somebody else must read it, or the child stands still once its pipe is full.
   */
  capture(
    child: Pick<ChildProcess, 'stdout' | 'stderr'>,
    levels: { readonly [Name in 'stdout' | 'stderr']?: LogLevel },
  ): void;
}

/** What goes to the other thread at once: a frame has room for it. */
const BATCH_BYTES = 48 * 1024;

/** Must be closed: it says nothing afterwards. */
export class AttemptLog implements TaskLog {
  readonly #send: (lines: readonly string[]) => void;
  #lines: string[] = [];
  #bytes = 0;
  #immediate: NodeJS.Immediate | null = null;
  #isClosed = false;

  /** @param send is given lines as JSON. */
  constructor(send: (lines: readonly string[]) => void) {
    this.#send = send;
  }

  readonly debug: Say = (text, fields) => this.#say('debug', 'log', text, fields);
  readonly info: Say = (text, fields) => this.#say('info', 'log', text, fields);
  readonly warn: Say = (text, fields) => this.#say('warn', 'log', text, fields);
  readonly error: Say = (text, fields) => this.#say('error', 'log', text, fields);

  capture(...[child, levels]: Parameters<TaskLog['capture']>): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const [level, source] = [levels[stream], child[stream]];
      if (level === undefined || source === null) continue;
      eachLine(source, (text) => this.#say(level, stream, text));
    }
  }

  close(): void {
    this.#flush();
    this.#isClosed = true;
  }

  #say(level: LogLevel, stream: LogLine['stream'], text: unknown, fields?: unknown): void {
    if (this.#isClosed) return;
    const line = lineText(level, stream, text, fields);
    const bytes = Buffer.byteLength(line) + 1;
    if (this.#bytes + bytes > BATCH_BYTES) this.#flush();
    this.#lines.push(line);
    this.#bytes += bytes;
    // Also before what is said next, if that is the result.
    this.#immediate ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (this.#immediate !== null) clearImmediate(this.#immediate);
    this.#immediate = null;
    if (this.#lines.length > 0) this.#send(this.#lines);
    this.#lines = [];
    this.#bytes = 0;
  }
}

function lineText(
  level: LogLevel,
  stream: LogLine['stream'],
  text: unknown,
  fields: unknown,
): string {
  const line: SentLogLine = { at: Date.now(), level, stream, text: cut(stringOf(text)) };
  const more = fields === undefined ? '' : `,"fields":${fieldsText(fields)}`;
  return `${JSON.stringify(line).slice(0, -1)}${more}}`;
}

/** Never throws: not every object can be a string. */
function stringOf(text: unknown): string {
  try {
    return String(text);
  } catch {
    return Object.prototype.toString.call(text);
  }
}

/** Never throws: fields may hold anything. */
function fieldsText(fields: unknown): string {
  const { logFieldsBytesMax } = SESSION_LIMITS;
  try {
    const text = JSON.stringify(fields) ?? '{}';
    const bytes = Buffer.byteLength(text);
    if (!text.startsWith('{')) return JSON.stringify({ left_out: 'fields are to be an object' });
    if (bytes <= logFieldsBytesMax) return text;
    return JSON.stringify({ left_out: `${bytes} bytes, and ${logFieldsBytesMax} are kept` });
  } catch (error) {
    return JSON.stringify({ left_out: stringOf(error).slice(0, 200) });
  }
}

/** To what is kept of it as JSON, and how much was more. */
function cut(text: string): string {
  const bytesMax = SESSION_LIMITS.logTextBytesMax;
  let kept = text.slice(0, bytesMax);
  for (let bytes = jsonBytes(kept); bytes > bytesMax; bytes = jsonBytes(kept)) {
    kept = kept.slice(0, Math.floor((kept.length * bytesMax) / bytes));
  }
  if (kept.length === text.length) return text;
  return `${kept.replace(/[\ud800-\udbff]$/, '')} [${text.length - kept.length} more characters were cut]`;
}

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** Empty ones are left out; one without an end is cut where it is too long. */
function eachLine(source: Readable, say: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const take = (text: string): void => {
    const lines = (rest + text).split(/[\r\n]+/);
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') say(line);
    if (rest.length <= SESSION_LIMITS.logTextBytesMax) return;
    say(rest);
    rest = '';
  };
  source.on('data', (chunk: Buffer | string) =>
    take(typeof chunk === 'string' ? chunk : decoder.write(chunk)),
  );
  // The one comes without the other where it was destroyed; the second finds nothing left.
  for (const over of ['end', 'close']) source.once(over, () => take(`${decoder.end()}\n`));
}
