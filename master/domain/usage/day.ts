/** Which day it is somewhere. The rules of zones are those of the runtime. */

/** Days begin at such times only, wherever it is. */
const SLOT_MS = 15 * 60_000;

/** Making one takes a hundred times as long as using it; there are some hundred zones. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** The newest answer: nearly all who ask mean now. */
let newest = { zone: '', slot: Number.NaN, day: '' };

/** `2026-11-22`. @param at Epoch milliseconds. */
export function dayOf(zone: string, at: number): string {
  const slot = Math.floor(at / SLOT_MS);
  if (slot !== newest.slot || zone !== newest.zone) newest = { zone, slot, day: dayIn(zone, at) };
  return newest.day;
}

/** Whether the runtime knows a zone of that name. */
export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function dayIn(zone: string, at: number): string {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes, length: number): string =>
    (parts.get(type) ?? '').padStart(length, '0');
  return `${of('year', 4)}-${of('month', 2)}-${of('day', 2)}`;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (format === undefined) {
    const shown = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
    format = new Intl.DateTimeFormat('en-US', { timeZone, ...shown });
    formats.set(timeZone, format);
  }
  return format;
}
