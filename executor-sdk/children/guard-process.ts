/**
 * Entry of the process that ends what an executor has started when the executor cannot: because
 * it is gone, which the end of stdin says, or because it stands still and nothing renews its lease.
 * A process of its own, in a session of its own, since whatever stops an executor (SIGSTOP, Ctrl-Z,
 * a debugger) stops all of its threads.
 */
import { createInterface } from 'node:readline';
import { monotonicClock as clock } from '../session/clock.ts';
import { Countdown, type GroupSignal, type GuardOrder } from './countdown.ts';
import { signalGroup } from './signal-group.ts';

const countdown = new Countdown();
let callOff = (): void => undefined;

function send(signals: readonly GroupSignal[]): void {
  for (const { group, signal } of signals) signalGroup(group, signal);
}

function watch(): void {
  callOff();
  // If this process has stood still itself, there may be an order by which this is not due any
  // more: what has arrived is read before an immediate is called, but not before a timer is.
  callOff = clock.wakeAt(countdown.dueAt, () => setImmediate(judge));
}

function judge(): void {
  send(countdown.due(clock.now()));
  watch();
}

// A service manager tells all processes to end, and the executor takes its time for that.
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => undefined);
process.stdin.on('error', () => undefined);
createInterface({ input: process.stdin })
  .on('line', (line) => {
    countdown.take(JSON.parse(line) as GuardOrder);
    watch();
  })
  .once('close', () => {
    send(countdown.killAll());
    process.exit();
  });
