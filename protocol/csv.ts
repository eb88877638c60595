/** Lines of CSV (RFC 4180) that no spreadsheet takes for anything but text and numbers. */

/** A spreadsheet would compute what begins so. */
const FORMULA = /^[=+\-@\t\r]/;

/** With its end; null: an empty cell. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`;
}

function cellOf(cell: string | number | null): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
