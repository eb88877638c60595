/**
 * Many executors in one process, on the bare wire protocol, so that what is measured is the master.
 * Arguments: URL, number of executors, and the namespaces among which they are divided (the default one).
 */
import { connectOnWire } from './wire-executor.ts';

const [url = '', count = '1', ...namespaces] = process.argv.slice(2);
let connectedCount = 0;
let finishedCount = 0;

for (let index = 0; index < Number(count); index++) {
  connectOnWire({
    url,
    id: `bench-${index}`,
    type: 'noop',
    namespace: namespaces[index % namespaces.length],
    onConnected: () => {
      connectedCount++;
      if (connectedCount === Number(count)) process.send?.({ connectedCount });
    },
    onTask: () => finishedCount++,
  });
}

process.on('message', () => process.send?.({ finishedCount }));
process.once('SIGTERM', () => process.exit(0));
