/** How reports are printed: rows of which each command says the columns. */
import { csvLine } from '@soda-scheduler/protocol';
import { type Command, Option } from 'commander';
import type { ConnectionOptions } from '../connection.ts';
import { type Cell, Output } from '../output.ts';

export interface FormatOptions extends ConnectionOptions {
  readonly format?: 'table' | 'json' | 'csv';
}

export function withFormat(command: Command): Command {
  return command.addOption(
    new Option(
      '--format <format>',
      'how to print it (default: table, or json with --json)',
    ).choices(['table', 'json', 'csv']),
  );
}

export interface Column<Row> {
  readonly name: string;
  readonly of: (row: Row) => Cell;
}

export const column = <Row>(name: string, of: (row: Row) => Cell): Column<Row> => ({ name, of });

/** Lines of JSON, of CSV with its heading, or a table. */
export async function print<Row>(
  { format, json }: FormatOptions,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): Promise<void> {
  const head = columns.map(({ name }) => name);
  const cellsOf = (row: Row): Cell[] => columns.map(({ of }) => of(row));
  if (format !== 'csv')
    return new Output(json === true || format === 'json').rows(rows, head, cellsOf);
  for (const cells of [head, ...rows.map(cellsOf)]) process.stdout.write(csvLine(cells));
}
