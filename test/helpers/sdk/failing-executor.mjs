/**
 * An executor in a process of its own that prints its events as it does by default, and whose
 * handler fails as the params of its task say. Arguments: url, executor id, and `throws` for a
 * listener that does.
 */
import { once } from 'node:events';
import process from 'node:process';
import { NonRetryableError, RetryableError, createExecutor } from '@soda-scheduler/executor-sdk';

const [url = '', id = '', listener = ''] = process.argv.slice(2);

/** Thrown by the language, as it is in a handler. */
function bug() {
  const params = JSON.parse('null');
  throw new Error(`there are ${params.outputs.length}`);
}

function encode() {
  throw new RangeError('bad frame');
}

const failures = {
  returns: () => 'done',
  plain: () => {
    throw new Error('kaboom');
  },
  bug,
  wrapped: () => {
    try {
      encode();
    } catch (cause) {
      throw new RetryableError('the part cannot be encoded', { cause });
    }
  },
  wrappedBug: () => {
    try {
      bug();
    } catch (cause) {
      throw new Error('the part cannot be encoded', { cause });
    }
  },
  fetch: () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    throw new TypeError('fetch failed', { cause });
  },
  details: () => {
    throw new NonRetryableError('no such codec', { details: { codec: 'x' } });
  },
  text: () => {
    throw JSON.parse('"only text"');
  },
  forged: () => {
    throw new Error('\u001b[2J\n2026-01-01T00:00:00.000Z soda executor: all is well');
  },
  unsendable: () => 10n,
  bugWhenAborted: async (signal) => {
    await once(signal, 'abort');
    bug();
  },
  obeys: async (signal) => {
    await once(signal, 'abort');
    signal.throwIfAborted();
  },
};

function onEvent() {
  throw new Error('nobody listens');
}

await createExecutor({
  url,
  id,
  ...(listener === 'throws' && { onEvent }),
  canAccept: (task) => (task.labels.includes('refuse') ? bug() : true),
})
  .handle('test', ({ params }, { signal }) => failures[params.mode](signal))
  .start();
