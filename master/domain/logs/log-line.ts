/** One line of a log, and how it is kept: a list in JSON, on a line of its own. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LogLine {
  /** Its number in the attempt, from 1. */
  readonly n: number;
  /** By the clock of the executor. */
  readonly at: number;
  readonly level: LogLevel;
  readonly stream: 'log' | 'stdout' | 'stderr';
  readonly text: string;
  /** An object; null: it has none. */
  readonly fields: Readonly<Record<string, unknown>> | null;
}

/** All that is not null has to fit. */
export interface LogFilter {
  /** This, or what matters more. */
  readonly level: LogLevel | null;
  /** In its text, whatever the case of the letters. */
  readonly text: string | null;
  /** Not before this instant, and before that one. */
  readonly from: number | null;
  readonly to: number | null;
}

const RANKS: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export function lineText({ n, at, level, stream, text, fields }: LogLine): string {
  return JSON.stringify([n, at, level, stream, text, ...(fields === null ? [] : [fields])]);
}

/** Of a chunk. */
export function linesOf(text: string): LogLine[] {
  return text === '' ? [] : text.split('\n').map(lineOf);
}

type Parts = [
  number,
  number,
  LogLevel,
  LogLine['stream'],
  string,
  Readonly<Record<string, unknown>>?,
];

function lineOf(text: string): LogLine {
  const [n, at, level, stream, said, fields = null] = JSON.parse(text) as Parts;
  return { n, at, level, stream, text: said, fields };
}

export function fits({ level, text, from, to }: LogFilter, line: LogLine): boolean {
  return (
    (level === null || RANKS[line.level] >= RANKS[level]) &&
    (from === null || line.at >= from) &&
    (to === null || line.at < to) &&
    (text === null || line.text.toLowerCase().includes(text.toLowerCase()))
  );
}
