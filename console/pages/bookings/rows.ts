/** What a calendar of bookings shows in a span of time, and in which line: windows in one do not overlap. Pure. */
import type { BookingView } from '@soda-scheduler/protocol';

export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Shown extends Span {
  readonly booking: BookingView;
  /** Whether it is the window that the booking tells its state and its executors of. */
  readonly isCurrent: boolean;
}

export interface Row {
  /** A type, or an executor; empty: of those that none is bound to yet. */
  readonly name: string;
  readonly lines: readonly (readonly Shown[])[];
  readonly hasTrouble: boolean;
}

const PIN = 'executor:';

/** It does not fit any more, or lacks executors that should be bound by now. */
export const isInTrouble = ({ state, short }: BookingView): boolean =>
  state === 'at_risk' || short > 0;

/** `2/3`: bound and able to serve, of booked. */
export const servingOf = ({ executors, unready, count }: BookingView): string =>
  `${executors.length - unready.length}/${count}`;

/** By type, or by executor: those that are bound, and those that a booking names. Rows with trouble come first. */
export function rowsOf(
  bookings: readonly BookingView[],
  by: 'type' | 'executor',
  span: Span,
): Row[] {
  const found = new Map<string, Shown[]>();
  for (const booking of bookings) {
    for (const shown of windowsOf(booking, span)) {
      for (const name of by === 'type' ? [booking.type] : executorsOf(shown)) {
        found.set(name, [...(found.get(name) ?? []), shown]);
      }
    }
  }
  const rows = [...found].map(([name, shown]) => ({
    name,
    lines: linesOf(shown),
    hasTrouble: shown.some(({ booking, isCurrent }) => isCurrent && isInTrouble(booking)),
  }));
  return rows.sort(
    (a, b) =>
      Number(b.hasTrouble) - Number(a.hasTrouble) ||
      Number(a.name === '') - Number(b.name === '') ||
      (a.name < b.name ? -1 : 1),
  );
}

function windowsOf(booking: BookingView, span: Span): Shown[] {
  const { from, to, windows } = booking;
  return [{ from, to }, ...windows]
    .map((window, at) => ({
      booking,
      from: Date.parse(window.from),
      to: Date.parse(window.to),
      isCurrent: at === 0,
    }))
    .filter((shown) => shown.from < span.to && shown.to > span.from);
}

function executorsOf({ booking, isCurrent }: Shown): readonly string[] {
  const pin = booking.requires.find((label) => label.startsWith(PIN));
  if (pin !== undefined) return [pin.slice(PIN.length)];
  return isCurrent && booking.executors.length > 0 ? booking.executors : [''];
}

/** Each in the first line that is free then. */
function linesOf(shown: readonly Shown[]): Shown[][] {
  const lines: Shown[][] = [];
  for (const each of shown.toSorted((a, b) => a.from - b.from)) {
    const line = lines.find((others) => (others.at(-1)?.to ?? 0) <= each.from);
    if (line === undefined) lines.push([each]);
    else line.push(each);
  }
  return lines;
}
