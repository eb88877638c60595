/**
 * Bytes of a stream in the order in which they came, each with its place in the stream. It copies nothing. Pure; that it stays
 * small is up to who pushes: `byteCount` says how much it holds.
 */
export class ByteQueue {
  #chunks: Buffer[] = [];
  #begin = 0;
  #byteCount = 0;

  get byteCount(): number {
    return Math.max(0, this.#byteCount);
  }

  push(chunk: Buffer): void {
    // What is to be skipped and has not come yet is counted below zero.
    const missing = Math.max(0, -this.#byteCount);
    this.#byteCount += chunk.length;
    const rest = missing === 0 ? chunk : chunk.subarray(missing);
    if (rest.length > 0) this.#chunks.push(rest);
  }

  /** Forgets what stands before the place, also where it is yet to come. Never goes back. */
  skipTo(place: number): void {
    let count = place - this.#begin;
    if (count <= 0) return;
    this.#begin = place;
    this.#byteCount -= count;
    while (count > 0) {
      const first = this.#chunks[0];
      if (first === undefined) return;
      if (first.length > count) {
        this.#chunks[0] = first.subarray(count);
        return;
      }
      count -= first.length;
      this.#chunks.shift();
    }
  }

  /** The next bytes, at most so many. */
  take(bytesMax: number): Buffer[] {
    const taken: Buffer[] = [];
    let count = Math.max(0, Math.min(bytesMax, this.#byteCount));
    this.#begin += count;
    this.#byteCount -= count;
    while (count > 0) {
      const first = this.#chunks[0] as Buffer;
      if (first.length > count) {
        taken.push(first.subarray(0, count));
        this.#chunks[0] = first.subarray(count);
        return taken;
      }
      taken.push(first);
      count -= first.length;
      this.#chunks.shift();
    }
    return taken;
  }
}
