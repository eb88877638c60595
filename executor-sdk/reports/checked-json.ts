/** What handlers give as JSON, as text. */
import { jsonText } from '@soda-scheduler/protocol';

/**
 * @throws {RangeError} too large.
 * @throws {TypeError} not JSON.
 */
export function checkedJson(what: string, value: unknown, bytesMax: number): string | undefined {
  const text = jsonText(value);
  const bytes = Buffer.byteLength(text ?? '');
  if (bytes <= bytesMax) return text;
  throw new RangeError(`The ${what} is ${bytes} bytes of JSON, and ${bytesMax} are allowed.`);
}
