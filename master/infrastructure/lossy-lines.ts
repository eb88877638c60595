/**
 * Where the log goes: lines that cannot be written are lost, and counted. Whoever reads them may go away,
 * and their disk be full; what the store survives, the log must not end.
 */
import { Writable } from 'node:stream';

export interface Losses {
  /** The first line was lost since one was written; `code` as the system has it. */
  readonly began: (code: string) => void;
  /** A line was written again. */
  readonly ended: (lostCount: number) => void;
}

/** Takes everything at once, and hands it on as far as `stream` takes it. */
export function lossyLines(stream: NodeJS.WritableStream, losses: Losses): Writable {
  let lostCount = 0;
  // Every write is told of its own failure.
  stream.on('error', () => undefined);
  const wrote = (error: NodeJS.ErrnoException | null | undefined): void => {
    if (error) {
      lostCount += 1;
      if (lostCount === 1) losses.began(error.code ?? error.message);
    } else if (lostCount > 0) {
      const count = lostCount;
      lostCount = 0;
      losses.ended(count);
    }
  };
  return new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      stream.write(line, wrote);
      done();
    },
  });
}
