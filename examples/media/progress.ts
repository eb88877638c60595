/**
 * Reads ffmpeg's `-progress` report: `key=value` lines, a block of them about twice a second,
 * ended by `progress=continue` or `progress=end`. Pure.
 */

export interface ProgressReport {
  /** Seconds of output written so far; null before the first frame. */
  readonly seconds: number | null;
  readonly fps: number | null;
  /** Multiples of real time. */
  readonly speed: number | null;
  /** Whether frames, bytes or seconds grew since the block before. A hung ffmpeg may still talk. */
  readonly moved: boolean;
}

const LINE_LENGTH_MAX = 4096;

export class ProgressReader {
  #rest = '';
  #block = new Map<string, string>();
  #lastPosition = '';

  /** The reports that `text` completes. */
  read(text: string): ProgressReport[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = (lines.pop() ?? '').slice(-LINE_LENGTH_MAX);
    const reports: ProgressReport[] = [];
    for (const line of lines) {
      const at = line.indexOf('=');
      if (at < 0) continue;
      const key = line.slice(0, at).trim();
      if (key === 'progress') reports.push(this.#finishBlock());
      else if (this.#block.size < 64) this.#block.set(key, line.slice(at + 1).trim());
    }
    return reports;
  }

  #finishBlock(): ProgressReport {
    const block = this.#block;
    this.#block = new Map();
    const position = ['frame', 'out_time_us', 'out_time_ms', 'total_size']
      .map((key) => block.get(key) ?? '')
      .join(' ');
    const moved = position !== this.#lastPosition;
    this.#lastPosition = position;
    // Both keys are microseconds: `out_time_ms` is misnamed and all that older builds have.
    const microseconds = number(block.get('out_time_us') ?? block.get('out_time_ms'));
    return {
      seconds: microseconds === null ? null : Math.max(0, microseconds / 1e6),
      fps: number(block.get('fps')),
      speed: number(block.get('speed')?.replace(/x$/, '')),
      moved,
    };
  }
}

/** Counts the lines in which ffmpeg says that it decodes something damaged. */
export class DamageCounter {
  #rest = '';
  #count = 0;

  get count(): number {
    return this.#count;
  }

  read(text: string): void {
    const lines = (this.#rest + text).split(/[\r\n]+/);
    this.#rest = (lines.pop() ?? '').slice(-LINE_LENGTH_MAX);
    for (const line of lines) if (DAMAGE.test(line)) this.#count++;
  }
}

const DAMAGE =
  /error while decoding|concealing \d+ |corrupt|invalid (?:data|nal|band|element)|missing (?:picture|reference)|out of range|decode_slice|header damaged|truncated|partial file|non[- ]existing|channel element .* not allocated|reserved bit set/i;

function number(text: string | undefined): number | null {
  const value = Number.parseFloat(text ?? '');
  return Number.isFinite(value) ? value : null;
}
