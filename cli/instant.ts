/** Points in time, as people give them on a command line. */
import { ExitCode, Failure } from './exit-code.ts';

export const TIME = 'such as -2h, or 2026-12-01T08:00:00Z';
export const INSTANT = 'such as +90min, 2026-12-01T08:00:00Z, or epoch milliseconds';

const RELATIVE = /^([+-]\d{1,6})(s|min|h|d)$/;
const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** It counts from now, whenever that is. */
export const isRelative = (text = ''): boolean => RELATIVE.test(text);

/**
 * As the API takes it. `+2h` and `-2h` count from now, by the clock of this machine, in `s`, `min`, `h` or `d`; of
 * digits fewer than 12 are no instant that anybody means. All else goes to the master as it stands.
 * @throws {Failure} it begins as one that counts from now, and is none.
 */
export function instantOf(text: string | undefined): string | number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{12,}$/.test(text)) return Number(text);
  const [, count, unit = ''] = RELATIVE.exec(text) ?? [];
  if (count === undefined) {
    if (!/^[+-]\d/.test(text)) return text;
    const forms = 'expected such as +90s, +3min, +2h or +2d, or with - before now';
    throw new Failure(`${text}: ${forms}`, ExitCode.usage);
  }
  return new Date(Date.now() + Number(count) * (UNIT_MS[unit] ?? 0)).toISOString();
}
