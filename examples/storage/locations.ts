/** Where an input may lie, and an output go: what a task writes, as it is read here. Pure. */
import { z } from 'zod';
import { mediaPath } from '../media/fields.ts';

export interface ObjectLocation {
  readonly bucket: string;
  readonly key: string;
}

const s3Url = z
  .string()
  .max(1100)
  .refine((text) => parseS3(text) !== null, { error: 'expected s3://bucket/key' });

const httpUrl = z
  .string()
  .max(8192)
  .refine((text) => /^https?:\/\//i.test(text) && URL.canParse(text), {
    error: 'expected a path, http(s)://…, s3://bucket/key or { resolve }',
  });

/** A path inside the media root, `http(s)://`, `s3://bucket/key`, or `{ resolve }`: a URL that answers with one. */
export const inputLocation = z.union([
  mediaPath,
  s3Url,
  httpUrl,
  z.strictObject({ resolve: httpUrl }),
]);

export type InputLocation = z.output<typeof inputLocation>;

/** Null where it is no S3 URL. Keys may hold anything but control characters, and no path that climbs. */
export function parseS3(text: string): ObjectLocation | null {
  const found = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/(.+)$/s.exec(text);
  const [, bucket, key] = found ?? [];
  if (bucket === undefined || key === undefined || Buffer.byteLength(key) > 1024) return null;
  if (/\p{Cc}/u.test(key) || key.split('/').some((part) => /^\.{1,2}$/.test(part))) return null;
  return { bucket, key };
}

/** For people, without what may be a signature. */
export function shownLocation(location: InputLocation): string {
  const text = typeof location === 'string' ? location : location.resolve;
  return text.replace(/\?.*$/s, '?…');
}
