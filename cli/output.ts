/**
 * What a command prints: JSON lines with `--json`, tables on a terminal, tab-separated lines into
 * a pipe. Text that comes from tasks is stripped of control characters, so that a task cannot
 * steer the terminal.
 */
import { styleText } from 'node:util';
import Table from 'cli-table3';

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
    process.stdout.write(this.json ? `${JSON.stringify(value)}\n` : `${plain(line)}\n`);
  }

  /** One thing: its fields below one another. Fields that are null are left out. */
  fields(value: unknown, fields: readonly (readonly [name: string, value: Cell])[]): void {
    if (this.json) {
      this.say(value, '');
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
  ): Promise<void> {
    const cells: string[][] = [];
    let isComplete = false;
    try {
      for await (const item of items) {
        if (this.json) this.say(item, '');
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

function textOf(cell: Cell): string {
  return cell === null ? '' : plain(String(cell));
}

/** On one line and without control characters. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ');
}
