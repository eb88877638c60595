/**
 * Sockets between simulated processes: in order, as TCP is, late by chance, and subject to what
 * networks do: they break, stand still for a while, or swallow everything without a word. And what
 * must hold of the frames of sessions all the same.
 */
import type { Process, World } from './world.ts';

const CLOSE_TIMEOUT_MS = 2_000;
/** What the platform reports when a socket just ends. */
const ABNORMAL_CLOSE = 1006;
/** How a frame of a log begins. */
const LOG = '{"type":"log"';

interface SocketEvents {
  readonly onText: (text: string) => void;
  /** Called once. */
  readonly onClosed: (code: number) => void;
}

/** One end of a connection. */
export class Socket {
  readonly process: Process;
  events: SocketEvents = { onText: () => undefined, onClosed: () => undefined };
  readonly #network: Network;
  #peer: Socket | null = null;
  #isOpen = true;
  #isClosed = false;
  /** Nothing is delivered to this end before; keeps frames in order. */
  #quietUntil = 0;

  constructor(network: Network, process: Process) {
    this.#network = network;
    this.process = process;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  pair(peer: Socket): void {
    this.#peer = peer;
  }

  send(text: string): void {
    if (this.#isOpen) this.#peer?.arrive(() => this.#peer?.take(text), text.startsWith(LOG));
  }

  /** Tells the other end; what arrives from now on is void. */
  close(code: number): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#peer?.arrive(() => this.#peer?.closed(code));
    this.process.after(CLOSE_TIMEOUT_MS, () => this.closed(ABNORMAL_CLOSE));
  }

  /** Ends without a word; the other end notices, unless the network swallows that too. */
  terminate(): void {
    this.#isOpen = false;
    this.process.after(0, () => this.closed(ABNORMAL_CLOSE));
    this.#peer?.arrive(() => this.#peer?.closed(ABNORMAL_CLOSE));
  }

  /** Delivers to this end: after the latency, and after all that was sent before. */
  arrive(call: () => void, isLog = false): void {
    const { world } = this.process;
    if (this.#network.isSwallowing(this)) return;
    // Those of logs are in no other's way: the rest of a run is drawn as without them.
    const latencyMs = isLog ? 0 : this.#network.latencyMs();
    const at = Math.max(world.now + latencyMs, this.#quietUntil);
    if (!isLog) this.#quietUntil = at;
    world.after(at - world.now, () => {
      if (!this.#network.isSwallowing(this)) this.process.deliver(call);
    });
  }

  /** Nothing arrives at this end for a while; then all of it does. */
  delay(delayMs: number): void {
    this.#quietUntil = Math.max(this.#quietUntil, this.process.world.now + delayMs);
  }

  take(text: string): void {
    if (this.#isOpen) this.events.onText(text);
  }

  closed(code: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    this.#network.forget(this);
    // The answer to the close of the other end.
    if (wasOpen) this.#peer?.arrive(() => this.#peer?.closed(code));
    this.events.onClosed(code);
  }
}

export class Network {
  readonly #world: World;
  readonly #open = new Set<Socket>();
  readonly #swallowed = new Set<Socket>();
  readonly #latencyMsMax: number;

  constructor(world: World, latencyMsMax: number) {
    this.#world = world;
    this.#latencyMsMax = latencyMsMax;
  }

  latencyMs(): number {
    return this.#world.random.between(1, this.#latencyMsMax);
  }

  isSwallowing(socket: Socket): boolean {
    return this.#swallowed.has(socket);
  }

  /** Both ends of a new connection. */
  connect(from: Process, to: Process): { near: Socket; far: Socket } {
    const near = new Socket(this, from);
    const far = new Socket(this, to);
    near.pair(far);
    far.pair(near);
    this.#open.add(near);
    this.#open.add(far);
    return { near, far };
  }

  forget(socket: Socket): void {
    this.#open.delete(socket);
  }

  /** The process is gone: the system ends its sockets. */
  endAll(process: Process): void {
    for (const socket of [...this.#open]) {
      if (socket.process === process) {
        socket.terminate();
        this.#open.delete(socket);
      }
    }
  }

  breakOne(): void {
    const socket = this.#pickOpen();
    if (socket === undefined) return;
    this.#world.log(`network: a socket of ${socket.process.name} breaks`);
    socket.terminate();
  }

  /** Half open: nothing arrives at this end any more, and neither end is told. */
  swallowOne(): void {
    const socket = this.#pickOpen();
    if (socket === undefined) return;
    this.#world.log(`network: nothing reaches ${socket.process.name} on a socket any more`);
    this.#swallowed.add(socket);
  }

  delayOne(delayMs: number): void {
    const socket = this.#pickOpen();
    if (socket === undefined) return;
    this.#world.log(`network: a socket to ${socket.process.name} stands still for ${delayMs} ms`);
    socket.delay(delayMs);
  }

  #pickOpen(): Socket | undefined {
    return this.#world.random.pick([...this.#open]);
  }
}

/** Of every stream of frames, from when they are numbered until a session lets them through. */
export class FrameChecks {
  readonly #frames = new Map<string, string>();
  readonly #delivered = new Map<string, number>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** A sequenced frame was numbered, or goes out again; `what` tells it from others. */
  sent(stream: string, seq: number, what: string): void {
    const before = this.#frames.get(`${stream} ${seq}`) ?? what;
    this.#frames.set(`${stream} ${seq}`, what);
    if (before === what) return;
    this.#world.violate('I8', `${stream}: ${seq} was ${before}, and is ${what}`);
  }

  /** A session has let a frame through: the next one, and as it was sent. */
  delivered(stream: string, seq: number, what: string): void {
    const expected = (this.#delivered.get(stream) ?? 0) + 1;
    this.#delivered.set(stream, seq);
    const sent = this.#frames.get(`${stream} ${seq}`);
    if (seq === expected && sent === what) return;
    this.#world.violate('I8', `${stream}: ${seq} ${what} after ${expected - 1}, sent was ${sent}`);
  }
}
