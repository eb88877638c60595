/**
 * Log frames of the executors of a namespace: whose they are, how many bytes an executor may say, and what their lines
 * are as they are kept. What is not proven, too much or late is dropped, and shows as a gap in the numbers: a log never
 * holds up what else an executor has to say.
 */
import { type HelloFrame, jsonAt, type LogFrame, SESSION_LIMITS } from '@soda-scheduler/protocol';
import { decodeFrame, logLines } from '@soda-scheduler/protocol/schemas';
import type { HeldAttempt } from '../../application/master-handle.ts';
import type { LoggedAttempt } from '../../application/logs/task-logs.ts';
import type { Clock } from '../../application/ports.ts';
import { type Fill, LOG_ATTEMPT_COUNT_MAX } from '../../domain/bounds.ts';
import type { NumberedLine } from '../../domain/logs/attempt-log.ts';
import { type LogLine, lineText } from '../../domain/logs/log-line.ts';
import type { Task } from '../../domain/model/task.ts';
import { Newest } from '../../domain/newest.ts';
import type { AttemptMacs, Process } from './attempt-macs.ts';

/** Implemented by `application/logs/task-logs.ts`. */
export interface LogTaker {
  /** False: none is wanted. */
  readonly isTaken: boolean;
  /** Nothing more should even be read. */
  readonly isFull: boolean;
  take(of: LoggedAttempt, lines: readonly NumberedLine[]): void;
  fills(): readonly Fill[];
}

/** More than executors take for themselves: no clock is exact. */
const SLACK = 1.25;

/** A line, with what an executor adds where it has cut its text. */
const LINE_BYTES_MAX = SESSION_LIMITS.logTextBytesMax + SESSION_LIMITS.logFieldsBytesMax + 256;
/** Of a text that no executor has cut, so that it fits whatever its characters are in JSON. */
const SHORT_LENGTH_MAX = Math.floor(SESSION_LIMITS.logTextBytesMax / 6);

/** What an executor may still say. */
export interface LogAllowance {
  bytes: number;
  at: number;
}

export const fullAllowance = (now: number): LogAllowance => {
  return { bytes: SLACK * SESSION_LIMITS.logBurstBytes, at: now };
};

interface LogIntakeOptions {
  readonly logs: LogTaker;
  readonly clock: Pick<Clock, 'now'>;
  readonly macs: AttemptMacs;
  readonly attemptOf: (taskId: string) => HeldAttempt | null;
}

export class LogIntake {
  readonly #options: LogIntakeOptions;
  /** Numbers of tasks, by attempt: lines may come when memory has forgotten it. */
  readonly #seqs = new Newest<string, number>(LOG_ATTEMPT_COUNT_MAX);

  constructor(options: LogIntakeOptions) {
    this.#options = options;
  }

  /** It is on its way to whoever will log. */
  offered({ id, attempt, seq }: Pick<Task, 'id' | 'attempt' | 'seq'>): void {
    this.#seqs.set(keyOf(id, attempt), seq);
  }

  /** Whoever comes back, perhaps to another master, may have more to say of these. */
  greeted({ running }: Pick<HelloFrame, 'running'>): void {
    for (const { task_id: id, attempt } of running) {
      const held = this.#options.attemptOf(id);
      if (held !== null) this.offered({ id, attempt, seq: held.seq });
    }
  }

  /** Returns what is wrong with the frame, which was decoded from `text`; null: nothing is. */
  take(
    sender: Process & { readonly logAllowance: LogAllowance },
    frame: LogFrame,
    text: string,
  ): string | null {
    const { logs, macs, attemptOf } = this.#options;
    const bytes = Buffer.byteLength(text);
    if (bytes > SESSION_LIMITS.logFrameBytesMax) {
      return `log: ${bytes} bytes, and ${SESSION_LIMITS.logFrameBytesMax} are allowed`;
    }
    if (!logs.isTaken || logs.isFull || !this.#isAllowed(sender.logAllowance, bytes)) return null;
    const { task_id: taskId, attempt, mac, n } = frame;
    const taskSeq = this.#seqs.get(keyOf(taskId, attempt)) ?? attemptOf(taskId)?.seq;
    if (taskSeq === undefined || !macs.proves(sender, taskSeq, attempt, mac)) return null;
    const decoded = decodeFrame(logLines, jsonAt(text, ['lines']) ?? '');
    if ('problem' in decoded) return `log: lines: ${decoded.problem}`;
    logs.take({ taskId, taskSeq, attempt }, numbered(n, decoded.frame));
    return null;
  }

  #isAllowed(allowance: LogAllowance, bytes: number): boolean {
    const { logBurstBytes, logBytesPerSecond } = SESSION_LIMITS;
    const now = this.#options.clock.now();
    const earned = (SLACK * logBytesPerSecond * Math.max(0, now - allowance.at)) / 1000;
    allowance.bytes = Math.min(SLACK * logBurstBytes, allowance.bytes + earned);
    allowance.at = now;
    if (allowance.bytes < bytes) return false;
    allowance.bytes -= bytes;
    return true;
  }
}

const keyOf = (taskId: string, attempt: number): string => `${taskId}#${attempt}`;

function numbered(first: number, lines: ReturnType<typeof logLines.parse>): NumberedLine[] {
  return lines.map(({ fields = null, ...line }, index) => {
    const whole: LogLine = { n: first + index, fields, ...line };
    const text = textWithin(whole) ?? lineText(shortened(whole));
    return { n: whole.n, text, bytes: Buffer.byteLength(text) };
  });
}

/** Null: it is longer than executors leave lines, or nested so deep that it cannot be written. */
function textWithin(line: LogLine): string | null {
  try {
    const text = lineText(line);
    return Buffer.byteLength(text) <= LINE_BYTES_MAX ? text : null;
  } catch {
    return null;
  }
}

function shortened({ text, fields, ...line }: LogLine): LogLine {
  const cutCount = text.length - SHORT_LENGTH_MAX;
  const short = text.slice(0, SHORT_LENGTH_MAX).replace(/[\ud800-\udbff]$/, '');
  return {
    ...line,
    text: cutCount > 0 ? `${short} [${cutCount} more characters were cut]` : text,
    fields: fields === null ? null : { left_out: 'the line was too long' },
  };
}
