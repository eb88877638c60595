/**
 * A receiver of RTMP, as far as publishers need one: the handshake, `connect`, `createStream` and `publish`. It notes when
 * every packet of video and sound arrived and which time it bears, and takes whoever comes, also a second one on the same
 * stream key, so that a test can count them. It decodes nothing.
 */
import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { RtmpChunks, type RtmpMessage, commandOf, encodeCommand } from './rtmp-chunks.ts';

export interface Packet {
  readonly kind: 'video' | 'audio';
  /** Of the publisher, in milliseconds. */
  readonly timestamp: number;
  /** When it arrived, by the clock of `performance`. */
  readonly at: number;
  readonly isKeyFrame: boolean;
}

/** A connection that has said which stream key it publishes. */
export interface Published {
  readonly key: string;
  readonly packets: Packet[];
  /** The stream as a file of FLV. */
  readonly flv: Buffer[];
  isOpen: boolean;
}

const HANDSHAKE_BYTES = 1536;
const FLV_HEADER = Buffer.from('464c5601050000000900000000', 'hex');

export class RtmpReceiver {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** In the order of their `publish`. */
  readonly published: Published[] = [];
  onPacket: (packet: Packet, from: Published) => void = () => undefined;

  private constructor() {
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async start(): Promise<RtmpReceiver> {
    const receiver = new RtmpReceiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(key: string, port = this.port): string {
    return `rtmp://127.0.0.1:${port}/live/${key}`;
  }

  /** Of one stream key, whoever sent it, in the order in which it arrived. */
  packetsOf(key: string): Packet[] {
    const all = this.published.filter((one) => one.key === key).flatMap(({ packets }) => packets);
    return all.sort((one, other) => one.at - other.at);
  }

  /** Ends every connection that is open. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    let handshake: Buffer | null = Buffer.alloc(0);
    let published: Published | null = null;
    const chunks = new RtmpChunks((message) => {
      if (message.type === 20) published = this.#answer(socket, message) ?? published;
      else if (published !== null) this.#take(published, message);
    });
    socket.on('data', (data) => {
      if (handshake === null) return chunks.read(data);
      handshake = Buffer.concat([handshake, data]);
      const hello = 1 + HANDSHAKE_BYTES;
      if (handshake.length >= hello && handshake.length - data.length < hello) {
        const own = Buffer.alloc(HANDSHAKE_BYTES);
        socket.write(Buffer.concat([Buffer.from([3]), own, handshake.subarray(1, hello)]));
      }
      if (handshake.length < hello + HANDSHAKE_BYTES) return;
      const rest = handshake.subarray(hello + HANDSHAKE_BYTES);
      handshake = null;
      chunks.read(rest);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (published !== null) published.isOpen = false;
    });
  }

  /** The connection publishes from now on, where that is what it has asked for. */
  #answer(socket: Socket, message: RtmpMessage): Published | null {
    const { name, transaction, text } = commandOf(message.body);
    if (name === 'connect') {
      const code = { level: 'status', code: 'NetConnection.Connect.Success' };
      socket.write(encodeCommand('_result', transaction, { fmsVer: 'FMS/3,0,1,123' }, code));
    }
    if (name === 'createStream') socket.write(encodeCommand('_result', transaction, null, 1));
    if (name !== 'publish') return null;
    const started = { level: 'status', code: 'NetStream.Publish.Start' };
    socket.write(encodeCommand('onStatus', 0, null, started));
    const published: Published = { key: text, packets: [], flv: [FLV_HEADER], isOpen: true };
    this.published.push(published);
    return published;
  }

  #take(published: Published, { type, timestamp, body }: RtmpMessage): void {
    if (type !== 8 && type !== 9) return;
    published.flv.push(...flvTag(type, timestamp, body));
    // The first packet of each kind says how the others are encoded, and a last one that there is no more video.
    if (type === 9 ? body[1] !== 1 : body[1] === 0) return;
    const packet: Packet = {
      kind: type === 9 ? 'video' : 'audio',
      timestamp,
      at: performance.now(),
      isKeyFrame: type === 9 && (body[0] as number) >> 4 === 1,
    };
    published.packets.push(packet);
    this.onPacket(packet, published);
  }
}

function flvTag(type: number, timestamp: number, body: Buffer): Buffer[] {
  const head = Buffer.alloc(11);
  head[0] = type;
  head.writeUIntBE(body.length, 1, 3);
  head.writeUIntBE(timestamp & 0xffffff, 4, 3);
  head[7] = timestamp >>> 24;
  const tail = Buffer.alloc(4);
  tail.writeUInt32BE(head.length + body.length);
  return [head, body, tail];
}
