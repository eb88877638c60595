/**
 * Many executors in one process: the wire protocol and nothing else, so that what is measured is
 * the master. Each accepts its task and reports success at once.
 * Arguments: URL, number of executors.
 */
import {
  encodeFrame,
  EXECUTOR_PATH,
  type ExecutorMessage,
  type MasterFrame,
  Session,
  SUBPROTOCOL,
} from '@soda-scheduler/protocol';
import { WebSocket } from 'ws';

const [url = '', count = '1'] = process.argv.slice(2);
let connectedCount = 0;
let finishedCount = 0;

for (let index = 0; index < Number(count); index++) connect(`bench-${index}`);

process.on('message', () => process.send?.({ finishedCount }));
process.once('SIGTERM', () => process.exit(0));

function connect(executorId: string): void {
  const session = new Session<string>();
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${EXECUTOR_PATH}`, SUBPROTOCOL, {
    perMessageDeflate: false,
  });
  const send = (message: ExecutorMessage): void => {
    const body = JSON.stringify(message);
    const frame = session.send(body, body.length);
    if (frame === null) throw new Error('the send window is full');
    socket.send(encodeFrame(frame.seq, session.announceAck(), body));
  };
  let heartbeatCount = 0;
  let heartbeats: NodeJS.Timeout;
  socket.on('open', () => {
    const hello = { type: 'hello', executor_id: executorId, incarnation: 'bench', types: ['noop'] };
    socket.send(JSON.stringify(hello));
  });
  socket.on('message', (data) => {
    const frame = JSON.parse((data as Buffer).toString()) as MasterFrame;
    if (frame.type === 'welcome') {
      heartbeats = setInterval(() => {
        const ack = session.announceAck();
        const beat = { type: 'heartbeat', n: ++heartbeatCount, ack, state: 'idle', running: [] };
        socket.send(JSON.stringify(beat));
      }, frame.heartbeat_ms);
      connectedCount++;
      if (connectedCount === Number(count)) process.send?.({ connectedCount });
      return;
    }
    if (frame.type === 'heartbeat' || frame.type === 'ack') {
      session.acknowledged(frame.ack);
      return;
    }
    session.receive(frame.seq, frame.ack);
    session.confirm(frame.seq);
    if (frame.type !== 'assign') return;
    const { id: task_id, attempt } = frame.task;
    send({ type: 'accept', task_id, attempt });
    send({ type: 'result', task_id, attempt, outcome: 'succeeded', result: 1 });
    finishedCount++;
  });
  socket.on('close', () => clearInterval(heartbeats));
}
