/**
 * The port through which a session of the SDK dials, over simulated sockets and watched: what goes
 * up must be numbered once, and acknowledge only what has arrived. Executors that keep to no rules,
 * or to those of 2.0.0, are made here: by what they say, and by what they get to hear.
 */
import { isFinalClose } from '@soda-scheduler/protocol';
import type { Dialled, DialOptions } from '../../../executor-sdk/session/dial.ts';
import type { ExecutorKind } from './executor-kind.ts';
import type { Ledger } from '../ledger.ts';
import { FAULT_CODES, nameOf } from '../link.ts';
import type { Network, Socket } from '../network.ts';
import type { Process } from '../world.ts';

/** What the platform reports when a socket just ends. */
const ABNORMAL_CLOSE = 1006;
/** Who knows no lease believes in one that never ends. */
const ROGUE_LEASE_MS = 1_000_000_000;

/** What 2.0.0 does not say. */
const NEW_FIELDS = ['features', 'boot_id', 'died', 'fenced', 'lasting_id', 'ran_ms', 'ready'];

/** As far as it is looked into. */
interface Text {
  type: string;
  seq?: number;
  ack?: number;
  task_id?: string;
  attempt?: number;
  task?: { readonly id: string; readonly attempt: number };
  session?: string;
  resumed?: boolean;
  received?: number;
  lease_ms?: number;
  features?: string[];
}

export class Uplink {
  readonly #process: Process;
  readonly #kind: ExecutorKind;
  readonly #ledger: Ledger;
  readonly #network: Network;
  readonly #socketTo: (from: Process) => Socket | null;
  #socket: Socket | null = null;
  #sessionId = '';
  /** Of the current connection, until the session shows by what it says that it believes it. */
  #welcome: Text | null = null;
  /** Of the frames of this session, in order and without a gap. */
  #arrivedSeq = 0;

  constructor(options: {
    process: Process;
    kind: ExecutorKind;
    ledger: Ledger;
    network: Network;
    /** To the master; null: nobody answers. */
    dial: (from: Process) => Socket | null;
  }) {
    this.#process = options.process;
    this.#kind = options.kind;
    this.#ledger = options.ledger;
    this.#network = options.network;
    this.#socketTo = options.dial;
  }

  /** As a network does that breaks. */
  cut(): void {
    this.#socket?.terminate();
  }

  dial({ onOpen, onText, onClosed }: DialOptions): Dialled {
    const process = this.#process;
    const socket = this.#socketTo(process);
    if (socket === null) {
      const refused = { code: ABNORMAL_CLOSE, reason: 'nobody answers', isFinal: false };
      process.after(0, () => onClosed(refused));
      const nothing = () => undefined;
      return { send: nothing, unsentBytes: 0, close: nothing, giveUp: nothing };
    }
    this.#socket = socket;
    this.#welcome = null;
    let isConnected = false;
    let endedAs: { readonly code: number; readonly reason: string } | null = null;
    process.after(this.#network.latencyMs(), () => {
      if (!socket.isOpen) return;
      isConnected = true;
      onOpen();
    });
    socket.events = {
      onText: (text) => onText(this.#down(text)),
      onClosed: (code) => {
        process.world.log(`${process.name} disconnected ${code}`);
        if (endedAs !== null) return onClosed({ ...endedAs, isFinal: false });
        onClosed({ code, reason: `closed with ${code}`, isFinal: isFinalClose(code) });
      },
    };
    return {
      send: (text) => {
        if (isConnected && socket.isOpen) socket.send(this.#up(text));
      },
      unsentBytes: 0,
      close: (code, reason) => {
        // What is said on one that was given up reaches nobody.
        if (endedAs === null && FAULT_CODES.includes(code)) {
          process.world.violate('I8', `${process.name} got a bad frame: ${reason}`);
        }
        endedAs ??= { code, reason };
        if (isConnected) socket.close(code);
        else socket.terminate();
      },
      giveUp: (reason) => {
        endedAs ??= { code: ABNORMAL_CLOSE, reason };
        socket.terminate();
      },
    };
  }

  #up(text: string): string {
    const frame = JSON.parse(text) as Text;
    if (this.#welcome !== null) this.#begun(this.#welcome);
    const heard = frame.type === 'hello' ? frame.received : frame.ack;
    if ((heard ?? 0) > this.#arrivedSeq) {
      const what = `${this.#process.name} acknowledges ${heard}`;
      this.#process.world.violate('I8', `${what}, and ${this.#arrivedSeq} has arrived`);
    }
    if (frame.seq !== undefined) {
      this.#ledger.frames.sent(`${this.#sessionId} in`, frame.seq, nameOf(frame));
    }
    const { isMute = false, isOld = false } = this.#kind;
    if (!isMute && !isOld) return text;
    // One that never acknowledges is not known to have heard anything.
    if (isMute && frame.ack !== undefined) frame.ack = 0;
    if (isMute && frame.received !== undefined) frame.received = 0;
    return JSON.stringify(frame, (name, value: unknown) =>
      isOld && NEW_FIELDS.includes(name) ? undefined : value,
    );
  }

  #down(text: string): string {
    const frame = JSON.parse(text) as Text;
    if (frame.type !== 'welcome') {
      if (frame.seq === undefined || frame.seq <= this.#arrivedSeq) return text;
      this.#ledger.frames.delivered(`${this.#sessionId} out`, frame.seq, nameOf(frame));
      this.#arrivedSeq = frame.seq;
      return text;
    }
    this.#welcome = frame;
    if (this.#kind.isRogue) frame.lease_ms = ROGUE_LEASE_MS;
    if (this.#kind.isOld) frame.features = [];
    return JSON.stringify(frame);
  }

  #begun({ resumed = false, session = '' }: Text): void {
    this.#process.world.log(`${this.#process.name} ${resumed ? 'resumed' : 'began'} ${session}`);
    this.#welcome = null;
    this.#sessionId = session;
    if (!resumed) this.#arrivedSeq = 0;
  }
}
