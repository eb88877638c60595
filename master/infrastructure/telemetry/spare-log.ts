/**
 * A log for what others can cause as often as they like: so many lines of each message in a time, and
 * then with the next line how many were left out. Errors are always written.
 */
import type { Log } from '../../application/ports.ts';

const SOME = { lineCount: 10, everyMs: 1_000 };

interface Period {
  readonly beganAt: number;
  lineCount: number;
}

/** Messages must be few: they are remembered. @param now Milliseconds. */
export function spareLog(log: Log, now: () => number, { lineCount, everyMs } = SOME): Log {
  const periods = new Map<string, Period>();
  const writer = (level: 'debug' | 'info' | 'warn') => {
    return (message: string, fields?: Record<string, unknown>): void => {
      const at = now();
      const period = periods.get(message);
      if (period !== undefined && at - period.beganAt < everyMs) {
        if (++period.lineCount <= lineCount) log[level](message, fields);
        return;
      }
      periods.set(message, { beganAt: at, lineCount: 1 });
      const leftOut = Math.max(0, (period?.lineCount ?? 0) - lineCount);
      log[level](message, leftOut === 0 ? fields : { ...fields, left_out: leftOut });
    };
  };
  return {
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: (message, fields) => log.error(message, fields),
  };
}
