/** An executor of the SDK in this process, whose events can be awaited. */
import { EventEmitter, once } from 'node:events';
import { createExecutor } from '@soda-scheduler/executor-sdk';
import type { ExecutorEvent, ExecutorOptions } from '@soda-scheduler/executor-sdk';

export function watchedExecutor(url: string, options: Partial<ExecutorOptions> = {}) {
  const events: ExecutorEvent[] = [];
  const happened = new EventEmitter();
  const executor = createExecutor({
    url,
    id: 'e1',
    handleSignals: false,
    onEvent: (event) => {
      events.push(event);
      happened.emit('event');
    },
    ...options,
  });
  /** The first event of this type, now or later. */
  async function told(type: ExecutorEvent['type']): Promise<ExecutorEvent> {
    for (;;) {
      const event = events.find((one) => one.type === type);
      if (event !== undefined) return event;
      await once(happened, 'event');
    }
  }
  return Object.assign(executor, { events, told });
}

export function deferred<T = void>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
