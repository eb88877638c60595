/**
 * What a command prints: JSON lines with `--json`, in which what the master sent is as it sent it, tables on a terminal, tab-separated lines into
 * a pipe. Text that comes from tasks is stripped of control characters, so that a task cannot
 * steer the terminal.
 */
import { styleText } from 'node:util';
import { exactJson, type NamespaceView } from '@soda-scheduler/client';
import { visibleJson } from '@soda-scheduler/protocol';
import Table from 'cli-table3';
import { ExitCode } from './exit-code.ts';

type Style = Parameters<typeof styleText>[0];
export type Cell = string | number | null;

const styleOfState: Readonly<Record<string, Style>> = {
  succeeded: 'green',
  idle: 'green',
  ok: 'green',
  running: 'cyan',
  busy: 'cyan',
  failed: 'red',
  expired: 'red',
  canceled: 'yellow',
  draining: 'yellow',
  warning: 'yellow',
  critical: 'red',
  degraded: 'yellow',
  stopped: 'red',
};

export class Output {
  readonly json: boolean;
  readonly isTerminal: boolean;
  readonly #colours: boolean;

  constructor(json = false) {
    this.json = json;
    this.isTerminal = process.stdout.isTTY && !json;
    this.#colours = this.isTerminal && !process.env['NO_COLOR'];
  }

  /** A value for programs, or a line for people. */
  say(value: unknown, line: string): void {
    process.stdout.write(`${this.json ? onOneLine(JSON.stringify(value)) : plain(line)}\n`);
  }

  /** What the client returned, for programs, or a line for people. */
  sayView(view: object, line: string): void {
    process.stdout.write(`${this.json ? onOneLine(exactJson(view)) : plain(line)}\n`);
  }

  /** The same of text that steers no terminal any more, with colours and line breaks of ours. */
  safe(value: unknown, text: string): void {
    process.stdout.write(`${this.json ? onOneLine(JSON.stringify(value)) : text}\n`);
  }

  /** One of many things alike, where nothing else shows them: its cells with tabs between. */
  row(json: string, cells: readonly Cell[]): void {
    const line = this.json ? onOneLine(json) : cells.map(textOf).join('\t');
    process.stdout.write(`${line}\n`);
  }

  /** One thing that the client returned: its fields below one another, but for those that are null. */
  fields(view: object, fields: readonly (readonly [name: string, value: Cell])[]): void {
    if (this.json) {
      this.sayView(view, '');
      return;
    }
    const shown = fields.filter(([, cell]) => cell !== null && cell !== '');
    const width = Math.max(...shown.map(([name]) => name.length)) + 2;
    for (const [name, cell] of shown) {
      process.stdout.write(`${`${name}:`.padEnd(width)}${this.#shown(cell)}\n`);
    }
  }

  /** Many things alike. Rows go out as they come, except into a table; also those before a failure. */
  async rows<T>(
    items: Iterable<T> | AsyncIterable<T>,
    head: readonly string[],
    cellsOf: (item: T) => readonly Cell[],
    jsonOf: (item: T) => string = (item) => JSON.stringify(item),
  ): Promise<void> {
    const cells: string[][] = [];
    let isComplete = false;
    try {
      for await (const item of items) {
        if (this.json) process.stdout.write(`${onOneLine(jsonOf(item))}\n`);
        else if (this.isTerminal) cells.push(cellsOf(item).map((cell) => this.#shown(cell)));
        else process.stdout.write(`${cellsOf(item).map(textOf).join('\t')}\n`);
      }
      isComplete = true;
    } finally {
      if (this.isTerminal && (isComplete || cells.length > 0)) this.#table(head, cells);
    }
  }

  #table(head: readonly string[], cells: readonly string[][]): void {
    const table = new Table({
      head: [...head],
      style: { head: [], border: [] },
      // No line between rows, but for the one under the heading.
      chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
    });
    table.push(...cells);
    process.stdout.write(`${cells.length > 0 ? table.toString() : 'None.'}\n`);
  }

  /** For the person at the terminal, not for the program behind the pipe. */
  hint(line: string): void {
    if (!this.json) process.stderr.write(`${plain(line)}\n`);
  }

  /** How far it is: on a terminal one line that the next one replaces, elsewhere nothing. */
  progress(line: string): void {
    if (this.json || !process.stderr.isTTY) return;
    process.stderr.write(`\r\u001b[2K${plain(line)}`);
  }

  #shown(cell: Cell): string {
    const text = textOf(cell);
    const style = styleOfState[text];
    return style !== undefined && this.#colours ? styleText(style, text) : text;
  }
}

let goesOn = false;

/** From here on the command changes one thing after another: it does so to its end, though nobody reads any more. */
export function goOnWithoutReader(): void {
  goesOn = true;
}

/** `soda task list | head` ends the pipe early: that is no fault. */
export function endWithReader(error: NodeJS.ErrnoException): void {
  if (goesOn && error.code === 'EPIPE') return;
  process.exit(error.code === 'EPIPE' ? ExitCode.ok : ExitCode.failed);
}

/**
 * JSON on one line: a newline is white space in it, and never part of a value. Its values are the same, and
 * steer no terminal.
 */
function onOneLine(json: string): string {
  return visibleJson(json.replace(/[\r\n]+/g, ' ').trim());
}

function textOf(cell: Cell): string {
  return cell === null ? '' : plain(String(cell));
}

/** On one line and without control characters. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ');
}

/** A sentence, for what is put behind it in one. */
export function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

type Paused = Omit<NonNullable<NamespaceView['paused']>, 'scope' | 'by'>;

/** When it is over, and why it is. */
export function pauseInWords({ paused }: { readonly paused: Paused | null }): string | null {
  if (paused === null) return null;
  const until = paused.until === null ? `since ${paused.at}` : `until ${paused.until}`;
  return paused.reason === null ? until : `${until}: ${paused.reason}`;
}
