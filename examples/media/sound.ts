/** How many channels of sound an output has, and where they belong. Pure. */
import { z } from 'zod';

/** In that order: front left, front right, centre, bass, and two behind. */
const LAYOUTS: Readonly<Record<number, string>> = { 1: 'mono', 2: 'stereo', 6: '5.1' };

/** Mono, stereo or 5.1. */
export const channels = z.union([z.literal(1), z.literal(2), z.literal(6)], {
  error: 'expected 1, 2 or 6 (5.1)',
});

/**
 * As ffmpeg calls it; null: it is left as it is. The two behind of 5.1 may be called otherwise in a source, by a name that
 * encoders and players do not take.
 */
export function layoutOf(count: number | null): string | null {
  return count === null ? null : (LAYOUTS[count] ?? null);
}
