/** A window of a booking, as the plan has it. */
import type { Ceiling, Part, Wish } from './divide.ts';

/** A window that was accepted. */
export interface PlannedWindow extends Wish {
  readonly id: string;
  /** In which order they were accepted: the first keep their place when there is less capacity. */
  readonly order: number;
  /** Null: it does not fit any more, and takes nothing. */
  readonly parts: readonly Part[] | null;
}

/** It is to have more executors than it is promised. */
export function isLacking({ parts, count }: PlannedWindow): boolean {
  return parts === null || parts.reduce((sum, part) => sum + part.count, 0) < count;
}

/** It has executors: they are not taken from it for a limit. */
export function isBound({ parts }: PlannedWindow): boolean {
  return parts?.some(({ executorIds }) => executorIds.length > 0) ?? false;
}

export interface ReplanOptions {
  /** Windows that are looked at in one call. Default: all. */
  readonly countMax?: number;
  /** Whether it is known how many executors there are for a window: else it stays as it is. Default: of all. */
  readonly isKnown?: (window: PlannedWindow) => boolean;
  /** What limits allow of it now. Default: as when it was put. */
  readonly ceilingsOf?: (window: PlannedWindow) => readonly Ceiling[];
}
