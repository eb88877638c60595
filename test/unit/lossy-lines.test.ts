/** What becomes of a log whose reader goes away, or whose disk is full. */
import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { LOG_BYTES_MAX } from '../../master/domain/bounds.ts';
import { createLog } from '../../master/infrastructure/telemetry/winston-log.ts';
import { LossyLines } from '../../master/infrastructure/telemetry/lossy-lines.ts';
import { settled } from '../helpers/manual-clock.ts';

/** As the streams of the process are: they go on after a failure. */
class Disk extends EventEmitter {
  readonly writable = true;
  isFull = false;
  readonly lines: string[] = [];

  write(line: unknown, done: unknown): boolean {
    if (!this.isFull) this.lines.push(String(line));
    const error = this.isFull ? Object.assign(new Error('no space'), { code: 'ENOSPC' }) : null;
    queueMicrotask(() => {
      if (typeof done === 'function') done(error);
      if (error !== null) this.emit('error', error);
    });
    return true;
  }

  end(): this {
    return this;
  }
}

describe('a log that cannot be written', () => {
  it('loses lines, and says so once, and later how many', async () => {
    const disk = new Disk();
    const said: unknown[] = [];
    const lines = new LossyLines(disk, {
      began: (code) => void said.push(code),
      ended: (lostCount) => void said.push(lostCount),
    });
    const write = async (...texts: string[]): Promise<void> => {
      for (const text of texts) lines.write(text);
      await settled();
    };
    await write('a');
    disk.isFull = true;
    await write('b', 'c');
    await write('d');
    expect(said).to.deep.equal(['ENOSPC']);
    disk.isFull = false;
    await write('e', 'f');
    expect(disk.lines).to.deep.equal(['a', 'e', 'f']);
    expect(said).to.deep.equal(['ENOSPC', 3]);
  });

  it('holds so much for a reader that stands still, and goes on when he does', async () => {
    const waiting: (() => void)[] = [];
    const reader = Object.assign(new EventEmitter(), {
      writable: true,
      write: (_line: unknown, done: unknown) => waiting.push(done as () => void) > 0,
      end: () => reader,
    });
    const said: unknown[] = [];
    const lines = new LossyLines(reader, {
      began: (why) => void said.push(why),
      ended: (lostCount) => void said.push(lostCount),
    });
    const line = 'x'.repeat(LOG_BYTES_MAX / 8);
    for (let count = 0; count < 11; count += 1) lines.write(line);
    await settled();
    expect(waiting).to.have.length(8);
    expect(lines.pendingBytes).to.equal(LOG_BYTES_MAX);
    expect(said).to.deep.equal(['nobody reads it']);
    for (const take of waiting.splice(0)) take();
    expect(said).to.deep.equal(['nobody reads it', 3]);
    expect(lines.pendingBytes).to.equal(0);
  });

  it('has a line for what is missing from it', async () => {
    const disk = new Disk();
    const log = createLog('info', disk);
    disk.isFull = true;
    log.info('one');
    await settled();
    disk.isFull = false;
    log.info('two');
    await settled();
    const lines = disk.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['two', 'lines of the log were lost']);
    expect(lines[1]).to.include({ level: 'warn', lost_count: 1 });
  });
});
