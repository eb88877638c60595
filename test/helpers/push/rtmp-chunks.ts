/** The chunks that messages of RTMP travel in, and the commands among them (AMF0). Pure. */

export interface RtmpMessage {
  /** 8: sound, 9: video, 20: a command. */
  readonly type: number;
  readonly timestamp: number;
  readonly body: Buffer;
}

interface Stream {
  timestamp: number;
  delta: number;
  length: number;
  type: number;
  isExtended: boolean;
  parts: Buffer[];
  byteCount: number;
}

const SET_CHUNK_SIZE = 1;
/** Of the header of a message, by the two first bits of its chunk. */
const HEADER_BYTES = [11, 7, 3, 0] as const;
const EXTENDED = 0xffffff;

/** Puts messages together again. */
export class RtmpChunks {
  readonly #onMessage: (message: RtmpMessage) => void;
  readonly #streams = new Map<number, Stream>();
  #rest: Buffer = Buffer.alloc(0);
  #chunkBytes = 128;

  constructor(onMessage: (message: RtmpMessage) => void) {
    this.#onMessage = onMessage;
  }

  read(data: Buffer): void {
    this.#rest = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    for (;;) {
      const used = this.#readChunk(this.#rest);
      if (used === 0) return;
      this.#rest = this.#rest.subarray(used);
    }
  }

  /** How many bytes it has; 0: it is not whole yet. */
  #readChunk(data: Buffer): number {
    const first = data[0];
    if (first === undefined) return 0;
    const format = first >> 6;
    let at = 1;
    let id = first & 0x3f;
    if (id < 2) {
      at += id + 1;
      if (data.length < at) return 0;
      id = 64 + (data[1] as number) + (id === 1 ? 256 * (data[2] as number) : 0);
    }
    const headerBytes = HEADER_BYTES[format as 0 | 1 | 2 | 3];
    if (data.length < at + headerBytes) return 0;
    const known = this.#streams.get(id);
    const stream: Stream = known
      ? { ...known }
      : { timestamp: 0, delta: 0, length: 0, type: 0, isExtended: false, parts: [], byteCount: 0 };
    let time = stream.delta;
    if (format < 3) {
      time = data.readUIntBE(at, 3);
      stream.isExtended = time === EXTENDED;
    }
    if (format < 2) {
      stream.length = data.readUIntBE(at + 3, 3);
      stream.type = data[at + 6] as number;
    }
    at += headerBytes;
    if (stream.isExtended) {
      if (data.length < at + 4) return 0;
      time = data.readUInt32BE(at);
      at += 4;
    }
    const isNew = stream.byteCount === 0;
    const take = Math.min(this.#chunkBytes, stream.length - stream.byteCount);
    if (data.length < at + take) return 0;
    if (isNew) {
      stream.timestamp = format === 0 ? time : stream.timestamp + time;
      stream.delta = format === 0 ? 0 : time;
    }
    stream.parts = [...stream.parts, data.subarray(at, at + take)];
    stream.byteCount += take;
    this.#streams.set(id, stream);
    if (stream.byteCount === stream.length) this.#end(stream);
    return at + take;
  }

  #end(stream: Stream): void {
    const body = Buffer.concat(stream.parts);
    stream.parts = [];
    stream.byteCount = 0;
    if (stream.type === SET_CHUNK_SIZE) this.#chunkBytes = body.readUInt32BE(0);
    else this.#onMessage({ type: stream.type, timestamp: stream.timestamp, body });
  }
}

/** Its name, its number, and the first text behind them, which of `publish` is the stream key. */
export function commandOf(body: Buffer): { name: string; transaction: number; text: string } {
  const nameEnd = 3 + body.readUInt16BE(1);
  const name = body.toString('utf8', 3, nameEnd);
  const transaction = body.readDoubleBE(nameEnd + 1);
  const textAt = nameEnd + 9 + 1;
  const hasText = body[nameEnd + 9] === 5 && body[textAt] === 2;
  const text = hasText
    ? body.toString('utf8', textAt + 3, textAt + 3 + body.readUInt16BE(textAt + 1))
    : '';
  return { name, transaction, text };
}

type Amf = number | string | null | { readonly [name: string]: string };

/** As one chunk. */
export function encodeCommand(name: string, transaction: number, ...values: Amf[]): Buffer {
  const body = Buffer.concat([name, transaction, ...values].map(amf));
  const head = Buffer.alloc(12);
  head[0] = 3;
  head.writeUIntBE(body.length, 4, 3);
  head[7] = 20;
  const chunks = [head, body.subarray(0, 128)];
  for (let at = 128; at < body.length; at += 128) {
    chunks.push(Buffer.from([0xc3]), body.subarray(at, at + 128));
  }
  return Buffer.concat(chunks);
}

function amf(value: Amf): Buffer {
  if (value === null) return Buffer.from([5]);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(9);
    bytes.writeDoubleBE(value, 1);
    return bytes;
  }
  if (typeof value === 'string') return Buffer.concat([Buffer.from([2]), shortText(value)]);
  const fields = Object.entries(value).flatMap(([key, text]) => [shortText(key), amf(text)]);
  return Buffer.concat([Buffer.from([3]), ...fields, Buffer.from([0, 0, 9])]);
}

function shortText(text: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(text));
  return Buffer.concat([length, Buffer.from(text)]);
}
