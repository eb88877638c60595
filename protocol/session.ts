/**
 * The reliable half of an executor session: numbers outgoing frames, keeps them until they are
 * acknowledged, and lets incoming frames through in order and once, across any number of
 * connections. Both ends run this same machine. It knows no socket, no timer and no clock; what a
 * frame says is not its business. `docs/protocol.md` section 5 gives the rules it implements.
 */
import { SESSION_LIMITS } from './limits.ts';

/** What `encodeFrame` puts in front of a body, at most. */
const NUMBERS_BYTES = 64;

/** A frame that was sent and may have to be sent again. */
export interface Numbered<Message> {
  readonly seq: number;
  readonly message: Message;
  readonly bytes: number;
}

/**
 * What to do with an incoming frame. `gap` and `invalid` end the connection; `overflow` too: the
 * peer has sent more than it may without an ack.
 */
export type Receipt = 'deliver' | 'duplicate' | 'gap' | 'overflow' | 'invalid';

/** `JSON.stringify` of a frame, without parsing its body again. */
export function encodeFrame(seq: number, ack: number, body: string): string {
  return `{"seq":${seq},"ack":${ack},${body.slice(1)}`;
}

/**
 * Three numbers describe each direction: the highest `sent`, the highest `received`, and `ack`,
 * up to which the receiving application has safely handled everything. `ack` trails `received`
 * while, for example, a result waits for its commit. A reconnect resends what was not received;
 * memory is freed by what was acknowledged.
 */
export class Session<Message> {
  /** Contiguous: the first is number `#peerAck + 1`, the last is `#sent`. */
  readonly #unacked: Numbered<Message>[] = [];
  #unackedBytes = 0;
  #sent = 0;
  #peerAck = 0;
  #received = 0;
  #ack = 0;
  #announcedAck = 0;
  /** Confirmed numbers above `#ack`: those before them are still being handled. */
  readonly #confirmed = new Set<number>();
  /** Sizes of the frames that were received and are not acknowledged, the oldest first. */
  readonly #receivedSizes: number[] = [];
  #receivedBytes = 0;

  /** Highest number received without a gap: what a reconnecting side tells its peer. */
  get received(): number {
    return this.#received;
  }

  get unackedBytes(): number {
    return this.#unackedBytes;
  }

  /** Whether the peer has yet to hear of the newest ack. */
  get ackDue(): boolean {
    return this.#announcedAck < this.#ack;
  }

  /** Messages that the peer has not acknowledged, oldest first. */
  unacked(): readonly Message[] {
    return this.#unacked.map((frame) => frame.message);
  }

  /**
   * Numbers a message and keeps it until it is acknowledged. `bytes` is the size of its body.
   * Null when the window is full: nothing was kept, and the message must not be sent.
   */
  send(message: Message, bytes: number): Numbered<Message> | null {
    const full =
      this.#unacked.length >= SESSION_LIMITS.unackedFramesMax ||
      this.#unackedBytes + bytes > SESSION_LIMITS.unackedBytesMax;
    if (full) return null;
    this.#sent += 1;
    const frame = { seq: this.#sent, message, bytes };
    this.#unacked.push(frame);
    this.#unackedBytes += bytes;
    return frame;
  }

  /** The `ack` to write on the frame that goes out now, whatever its type. */
  announceAck(): number {
    this.#announcedAck = this.#ack;
    return this.#ack;
  }

  /**
   * Takes the numbers of a sequenced frame. Only after `deliver` may its content be looked at.
   * `bytes`: of the frame as it came; 0 where it is confirmed at once.
   */
  receive(seq: number, ack: number, bytes = 0): Receipt {
    if (!this.acknowledged(ack)) return 'invalid';
    if (seq <= this.#received) return 'duplicate';
    if (seq > this.#received + 1) return 'gap';
    const { unackedFramesMax, unackedBytesMax } = SESSION_LIMITS;
    if (seq - this.#ack > unackedFramesMax) return 'overflow';
    // The sender counts bodies; the numbers in front of them come on top.
    const bytesMax = unackedBytesMax + unackedFramesMax * NUMBERS_BYTES;
    if (this.#receivedBytes + bytes > bytesMax) return 'overflow';
    this.#receivedSizes.push(bytes);
    this.#receivedBytes += bytes;
    this.#received = seq;
    return 'deliver';
  }

  /**
   * Takes the `ack` of any frame. An older one than before changes nothing; false for one beyond
   * what was sent.
   */
  acknowledged(ack: number): boolean {
    if (ack > this.#sent) return false;
    for (const frame of this.#unacked.splice(0, Math.max(0, ack - this.#peerAck))) {
      this.#unackedBytes -= frame.bytes;
    }
    this.#peerAck = Math.max(this.#peerAck, ack);
    return true;
  }

  /** The application has safely handled this frame. Any order; repeating it changes nothing. */
  confirm(seq: number): void {
    if (seq <= this.#ack || seq > this.#received) return;
    this.#confirmed.add(seq);
    while (this.#confirmed.delete(this.#ack + 1)) {
      this.#ack += 1;
      this.#receivedBytes -= this.#receivedSizes.shift() ?? 0;
    }
  }

  /**
   * Continues on a new connection. Returns what to send again, in order: everything beyond what
   * the peer says it has received. Null if that cannot be true; then this session is over.
   */
  resume(peerReceived: number): readonly Numbered<Message>[] | null {
    if (peerReceived > this.#sent || peerReceived < this.#peerAck) return null;
    // An ack may have been lost with the old connection.
    this.#announcedAck = 0;
    return this.#unacked.slice(peerReceived - this.#peerAck);
  }
}
