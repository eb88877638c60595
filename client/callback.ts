/** Proves that a callback comes from the master. For receivers; needs no connection to it. */
import type { CallbackBody } from '@soda-scheduler/protocol';
import { Webhook } from 'standardwebhooks';
import { remember } from './exact-json.ts';

/** The callback is not to be believed: answer 401 and do not act on it. */
export class CallbackRefused extends Error {
  override readonly name = 'CallbackRefused';
}

/**
 * Verifies the signature and the time of a callback, and returns its body, parsed; `exactJson` has it as
 * it came.
 *
 * A callback may arrive more than once: its `webhook-id` header is the same each time.
 *
 * @param rawBody As received. A body that was parsed and written again does not verify.
 * @param headers Those of the request, in lower case as Node has them.
 * @param secrets The secret the master signs with (`whsec_...`), or several while it is replaced.
 * @throws {CallbackRefused} if a header is missing, the time is more than five minutes off, or no
 *   signature fits.
 * @throws {Error} if a secret is malformed.
 */
export function verifyCallback(
  rawBody: string | Uint8Array,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  secrets: string | readonly string[],
): CallbackBody {
  const keys = [secrets].flat().map((secret) => new Webhook(secret));
  const text = typeof rawBody === 'string' ? rawBody : Buffer.from(rawBody).toString();
  const signed: Record<string, string> = {};
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    const value = headers[name];
    if (typeof value !== 'string') throw new CallbackRefused(`the ${name} header is missing`);
    signed[name] = value;
  }
  let refusal = 'there is no secret to verify with';
  for (const key of keys) {
    try {
      return remember(key.verify(text, signed) as CallbackBody, text);
    } catch (error) {
      refusal = error instanceof Error ? error.message : String(error);
    }
  }
  throw new CallbackRefused(`the callback does not verify: ${refusal}`);
}
