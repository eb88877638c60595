/**
 * A log for what others can cause as often as they like: so many lines a second of each message, and
 * then with the next line how many were left out. Errors are always written.
 */
import type { Log } from '../application/ports.ts';

const LINES_PER_SECOND = 10;

interface Second {
  readonly beganAt: number;
  lineCount: number;
}

/** Messages must be few: they are remembered. @param now Milliseconds. */
export function spareLog(log: Log, now: () => number): Log {
  const seconds = new Map<string, Second>();
  const writer = (level: 'debug' | 'info' | 'warn') => {
    return (message: string, fields?: Record<string, unknown>): void => {
      const at = now();
      const second = seconds.get(message);
      if (second !== undefined && at - second.beganAt < 1_000) {
        if (++second.lineCount <= LINES_PER_SECOND) log[level](message, fields);
        return;
      }
      seconds.set(message, { beganAt: at, lineCount: 1 });
      const leftOut = Math.max(0, (second?.lineCount ?? 0) - LINES_PER_SECOND);
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
