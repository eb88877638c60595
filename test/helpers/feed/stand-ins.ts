/** What grows while people read it, without an engine that tells of it: tests do. */
import { News } from '../../../master/application/engine/news.ts';
import { Feed } from '../../../master/application/feed.ts';
import { Logs } from '../../../master/application/logs/logs.ts';
import { TaskLogs } from '../../../master/application/logs/task-logs.ts';
import type { Clock } from '../../../master/application/ports.ts';
import { MemoryFeed } from '../../../master/infrastructure/memory/feed.ts';
import { MemoryLogs } from '../../../master/infrastructure/memory/logs.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

export function standInFeed(clock: Clock) {
  const [news, told] = [new News(), new MemoryFeed()];
  const store = {
    readEvents: async (query: Parameters<MemoryFeed['read']>[0]) => told.read(query),
  };
  return { news, told, feed: new Feed({ engine: { news }, store, clock }, (work) => work()) };
}

/** With what is written of them. */
export class TakenLogs extends TaskLogs {
  readonly written: MemoryLogs;

  constructor(clock: Clock, written: MemoryLogs) {
    super({ store: written, clock, log: silent, bytesMax: 1_048_576 });
    this.written = written;
  }
}

export function standInLogs(clock: Clock) {
  const store = new MemoryLogs();
  const taken = new TakenLogs(clock, store);
  return { taken, logs: new Logs({ logs: taken, store, clock }, (work) => work()) };
}
