/** An executor that is the wire protocol and nothing else. It accepts its task and reports success. */
import {
  DEFAULT_NAMESPACE,
  encodeFrame,
  type ExecutorMessage,
  executorPathOf,
  type MasterFrame,
  Session,
  SUBPROTOCOL,
} from '@soda-scheduler/protocol';
import { WebSocket } from 'ws';

interface WireExecutor {
  readonly url: string;
  readonly id: string;
  readonly type: string;
  readonly namespace?: string | undefined;
  /** It takes tasks. */
  readonly onConnected: () => void;
  /** Its result goes out at once, or when a promise that this gives has resolved. */
  readonly onTask: (params: unknown) => unknown;
}

export function connectOnWire(executor: WireExecutor): void {
  const { url, id, type, namespace = DEFAULT_NAMESPACE, onConnected, onTask } = executor;
  const session = new Session<string>();
  const address = url.replace(/^http/, 'ws') + executorPathOf(namespace);
  const socket = new WebSocket(address, SUBPROTOCOL, { perMessageDeflate: false });
  const send = (message: ExecutorMessage): void => {
    const body = JSON.stringify(message);
    const frame = session.send(body, body.length);
    if (frame === null) throw new Error('the send window is full');
    socket.send(encodeFrame(frame.seq, session.announceAck(), body));
  };
  let heartbeatCount = 0;
  let running: readonly object[] = [];
  let heartbeats: NodeJS.Timeout;
  socket.on('open', () => {
    const hello = { type: 'hello', executor_id: id, incarnation: 'bench', types: [type] };
    socket.send(JSON.stringify(hello));
  });
  socket.on('message', (data) => {
    const frame = JSON.parse((data as Buffer).toString()) as MasterFrame;
    if (frame.type === 'welcome') {
      heartbeats = setInterval(() => {
        const ack = session.announceAck();
        const state = running.length === 0 ? 'idle' : 'busy';
        socket.send(
          JSON.stringify({ type: 'heartbeat', n: ++heartbeatCount, ack, state, running }),
        );
      }, frame.heartbeat_ms);
      onConnected();
      return;
    }
    if (frame.type === 'heartbeat' || frame.type === 'ack') {
      session.acknowledged(frame.ack);
      return;
    }
    session.receive(frame.seq, frame.ack);
    session.confirm(frame.seq);
    if (frame.type !== 'assign') return;
    const { id: task_id, attempt, params } = frame.task;
    send({ type: 'accept', task_id, attempt });
    const succeed = () => {
      running = [];
      send({ type: 'result', task_id, attempt, outcome: 'succeeded', result: 1 });
    };
    const done = onTask(params);
    if (!(done instanceof Promise)) return succeed();
    running = [{ task_id, attempt, state: 'running' }];
    void done.then(succeed);
  });
  socket.on('close', () => clearInterval(heartbeats));
  // A master that is busy asks to come again, as those of the SDK do.
  socket.on('unexpected-response', (request, { statusCode, headers }) => {
    request.destroy();
    if (statusCode !== 503) throw new Error(`the master answers ${id} with ${statusCode}`);
    const waitMs = Number(headers['retry-after'] ?? 1) * 1_000;
    setTimeout(() => connectOnWire(executor), waitMs);
  });
}
