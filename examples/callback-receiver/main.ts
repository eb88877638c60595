/**
 * A receiver of callbacks as a process: prints each as a line of JSON.
 *
 *   SODA_NOTIFY_SECRET=whsec_... node examples/dist/callback-receiver/main.js [port]
 */
import { receiveCallbacks } from './receiver.ts';

const secrets = (process.env['SODA_NOTIFY_SECRET'] ?? '').split(',').filter(Boolean);
if (secrets.length === 0) {
  console.error(
    'SODA_NOTIFY_SECRET is not set: nothing could be verified. A master that was given none has\n' +
      'made one at its first start: it is in the file notify-secret in its data directory.',
  );
  process.exit(2);
}
const { url } = await receiveCallbacks({
  port: Number(process.argv[2] ?? 8080),
  secrets,
  onCallback: (callback) => console.log(JSON.stringify(callback)),
  onRefused: (error) =>
    console.error(`refused: ${error instanceof Error ? error.message : String(error)}`),
});
console.error(`callbacks to ${url}`);
