/** An executor made by hand, frame by frame, to say what a well-behaved SDK never would. */
import { once } from 'node:events';
import { DEFAULT_NAMESPACE, executorPathOf, SUBPROTOCOL } from '@soda-scheduler/protocol';
import type { HelloFrame, MasterFrame, WelcomeFrame } from '@soda-scheduler/protocol';
import { WebSocket } from 'ws';

export class RawExecutor {
  readonly socket: WebSocket;
  /** Every frame received and not taken yet. */
  readonly frames: MasterFrame[] = [];
  readonly texts: string[] = [];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;

  private constructor(port: number, namespace: string, token: string | undefined) {
    const path = executorPathOf(namespace);
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, SUBPROTOCOL, { headers });
    this.socket.on('message', (data) => {
      const text = (data as Buffer).toString();
      this.texts.push(text);
      this.frames.push(JSON.parse(text) as MasterFrame);
    });
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
  }

  static async dial(
    port: number,
    namespace = DEFAULT_NAMESPACE,
    token?: string,
  ): Promise<RawExecutor> {
    const raw = new RawExecutor(port, namespace, token);
    await once(raw.socket, 'open');
    return raw;
  }

  /** Dials and says hello. */
  static async join(
    port: number,
    hello: Partial<HelloFrame> = {},
    namespace = DEFAULT_NAMESPACE,
    token?: string,
  ): Promise<RawExecutor & { readonly welcome: WelcomeFrame }> {
    const raw = await RawExecutor.dial(port, namespace, token);
    raw.hello(hello);
    const welcome = await raw.next('welcome');
    return Object.assign(raw, { welcome });
  }

  hello(fields: Partial<HelloFrame> = {}): void {
    this.send({ type: 'hello', executor_id: 'e1', incarnation: 'i1', types: ['test'], ...fields });
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** The next frame of this type; those before it are skipped. Fails if the connection ends first. */
  async next<T extends MasterFrame['type']>(type: T): Promise<Extract<MasterFrame, { type: T }>> {
    for (;;) {
      for (let frame = this.frames.shift(); frame; frame = this.frames.shift()) {
        if (frame.type === type) return frame as Extract<MasterFrame, { type: T }>;
      }
      const ended = this.closed.then(({ code, reason }) => {
        throw new Error(`closed with ${code} ${reason} while waiting for ${type}`);
      });
      await Promise.race([once(this.socket, 'message'), ended]);
    }
  }

  /** Settles once the master has handled everything sent so far. */
  async settled(): Promise<void> {
    const n = Math.floor(performance.now() * 1_000);
    this.send({ type: 'heartbeat', n, ack: 0, state: 'idle', running: [] });
    while ((await this.next('heartbeat')).n !== n);
  }
}
