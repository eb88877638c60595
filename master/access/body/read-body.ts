/** From a request to the bytes of its body: bounded, counted against a budget, UTF-8. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { HTTP_LIMITS } from '@soda-scheduler/protocol';
import {
  BODIES_BYTES_MAX,
  type Fill,
  LARGE_BODIES_BYTES_MAX,
  MEDIUM_BODIES_BYTES_MAX,
  SMALL_BODY_BYTES_MAX,
} from '../../domain/bounds.ts';
import { Problem } from '../http/problem.ts';

/** The client went away before its request was complete: there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

const FIRST_GRANT_BYTES = 16 * 1024;
const nothing = Buffer.alloc(0);

/** The bytes of strangers that the master holds at a time, whoever and however many they are. */
export class BodyBudget {
  #byteCount = 0;

  fills(): Fill[] {
    return [{ bound: 'request_body_bytes', used: this.#byteCount, limit: BODIES_BYTES_MAX }];
  }

  /** For one request, and the most that its body may come to: what it takes counts until `end`. */
  open(bytesMax: number): BodyHold {
    const limit = shareOf(bytesMax);
    let held = 0;
    return {
      take: (byteCount) => {
        if (this.#byteCount + byteCount > limit) return false;
        this.#byteCount += byteCount;
        held += byteCount;
        return true;
      },
      end: () => {
        this.#byteCount -= held;
        held = 0;
      },
    };
  }
}

function shareOf(bytesMax: number): number {
  if (bytesMax > HTTP_LIMITS.bodyBytesMax) return LARGE_BODIES_BYTES_MAX;
  return bytesMax > SMALL_BODY_BYTES_MAX ? MEDIUM_BODIES_BYTES_MAX : BODIES_BYTES_MAX;
}

export interface BodyHold {
  /** False, and nothing taken: it would be too much. */
  take(byteCount: number): boolean;
  end(): void;
}

/** What a route takes. */
interface Accepted {
  readonly bytesMax: number;
  /** It may come as that, too, in UTF-8. */
  readonly otherType?: string | undefined;
}

/**
 * Undefined where there is no body at all. Takes of `hold` as the body arrives, at most twice its length.
 * @param proceed Called where nothing speaks against the body, before any of it is read.
 */
export async function readBody(
  req: IncomingMessage,
  { bytesMax, otherType }: Accepted,
  hold: BodyHold,
  proceed: () => void,
): Promise<Buffer | undefined> {
  const contentType = req.headers['content-type'];
  if (contentType !== undefined) checkContentType(contentType, otherType);
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new Problem('notJson', 'Compressed bodies are not supported.');
  }
  const bytes = await readBytes(req, bytesMax, hold, proceed);
  if (bytes.length === 0) return undefined;
  if (contentType === undefined)
    throw new Problem('notJson', 'Expected Content-Type: application/json.');
  if (!isUtf8(bytes)) throw new Problem('invalid', 'The body is not valid UTF-8.');
  return bytes;
}

function checkContentType(contentType: string, otherType: string | undefined): void {
  const [, type = ''] = /^([a-z]+\/[a-z]+) *(; *charset="?utf-8"? *)?$/i.exec(contentType) ?? [];
  const given = type.toLowerCase();
  if (given === 'application/json' || (given !== '' && given === otherType)) return;
  const other = otherType === undefined ? '' : ` or ${otherType}`;
  throw new Problem('notJson', `Expected Content-Type: application/json${other}, in UTF-8.`);
}

/** The most that may come: Node holds a client to what it says. */
export function announcedBytes(req: IncomingMessage, bytesMax: number): number {
  return Number(req.headers['content-length'] ?? bytesMax);
}

/** Into one buffer that grows with what arrives: neither a promise of bytes nor many small chunks cost more. */
function readBytes(
  req: IncomingMessage,
  bytesMax: number,
  hold: BodyHold,
  proceed: () => void,
): Promise<Buffer> {
  // It waited for those before it, and its client has gone meanwhile.
  if (req.destroyed) return Promise.reject(new ClientGone());
  const announced = announcedBytes(req, bytesMax);
  return new Promise((resolve, reject) => {
    let bytes: Buffer | null = nothing;
    let byteCount = 0;
    // The rest is still read, and dropped: a client that is cut off never sees the refusal.
    const refuse = (problem: Problem) => {
      bytes = null;
      hold.end();
      reject(problem);
    };
    const take = (chunk: Buffer, into: Buffer) => {
      const needed = byteCount + chunk.length;
      if (needed > bytesMax) return refuse(tooLarge(bytesMax));
      if (needed > into.length) {
        const size = Math.min(announced, Math.max(needed, into.length * 2, FIRST_GRANT_BYTES));
        if (!hold.take(size - into.length)) return refuse(tooBusy());
        bytes = chunk.length === size ? chunk : Buffer.allocUnsafeSlow(size);
        into.copy(bytes, 0, 0, byteCount);
      }
      if (bytes !== chunk) chunk.copy(bytes ?? into, byteCount);
      byteCount = needed;
    };
    if (announced > bytesMax) refuse(tooLarge(bytesMax));
    else proceed();
    req.on('data', (chunk: Buffer) => bytes !== null && take(chunk, bytes));
    req.on('end', () => bytes !== null && resolve(bytes.subarray(0, byteCount)));
    req.on('error', () => reject(new ClientGone()));
    req.on('close', () => {
      if (!req.complete) reject(new ClientGone());
    });
  });
}

function tooLarge(bytesMax: number): Problem {
  return new Problem(
    'tooLarge',
    `The body is larger than ${bytesMax} bytes, the most allowed here.`,
  );
}

function tooBusy(): Problem {
  return new Problem(
    'unavailable',
    'The master is busy: requests under way are too large together.',
  );
}
