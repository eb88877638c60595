/** Where an input may lie, and an output go: what a task writes, as it is read here. Pure. */
import { z } from 'zod';
import { mediaPath, NOT_WRITTEN, outputPath, undisguised } from '../media/fields.ts';

export interface ObjectLocation {
  readonly bucket: string;
  readonly key: string;
}

const s3Url = z
  .string()
  .max(1100)
  .refine((text) => parseS3(text) !== null, { error: 'expected s3://bucket/key' });

const s3Output = undisguised(s3Url);

const httpUrl = z
  .string()
  .max(8192)
  .refine((text) => /^https?:\/\//i.test(text) && URL.canParse(text), {
    error: 'expected a URL of http or https',
  })
  // Whoever parses it would drop some of them, and ask for something else.
  .refine((text) => !NOT_WRITTEN.test(text), {
    error: 'expected a URL without control characters',
  });

const INPUT_FORMS =
  'a path, http(s)://…, s3://bucket/key or { "resolve": "https://…" }, which answers with one';

/** Each kind is told by how it begins, so that what is wrong is said of the kind that was meant. */
const inputText = z.string().superRefine((text, context) => {
  const kind = isS3(text) ? s3Url : /^https?:/i.test(text) ? httpUrl : mediaPath;
  forward(kind.safeParse(text), context);
});

/** A path inside the media root, `http(s)://`, `s3://bucket/key`, or `{ resolve }`: a URL that answers with one. */
export const inputLocation = z.union([inputText, z.strictObject({ resolve: httpUrl })], {
  error: `expected ${INPUT_FORMS}`,
});

export type InputLocation = z.output<typeof inputLocation>;

/** A path inside the media root, or `s3://bucket/key`. */
export const outputLocation = z
  .string()
  .superRefine((text, context) =>
    forward((isS3(text) ? s3Output : outputPath).safeParse(text), context),
  );

function forward(parsed: z.ZodSafeParseResult<string>, context: z.RefinementCtx): void {
  for (const { message } of parsed.error?.issues ?? [])
    context.addIssue({ code: 'custom', message });
}

const isS3 = (text: string) => /^s3:/i.test(text);

/** Whether it has to be fetched; else it is a path inside the media root. */
export function isElsewhere(location: InputLocation): boolean {
  return typeof location !== 'string' || /^(?:https?|s3):/i.test(location);
}

/** Null where it is no S3 URL. Keys may hold anything but control characters, and no path that climbs. */
export function parseS3(text: string): ObjectLocation | null {
  const found = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/(.+)$/s.exec(text);
  const [, bucket, key] = found ?? [];
  if (bucket === undefined || key === undefined || Buffer.byteLength(key) > 1024) return null;
  if (NOT_WRITTEN.test(key) || key.split('/').some((part) => /^\.{1,2}$/.test(part))) return null;
  return { bucket, key };
}

/** For people, without what may be a signature. */
export function shownLocation(location: InputLocation): string {
  const text = typeof location === 'string' ? location : location.resolve;
  return /^https?:/i.test(text) ? text.replace(/\?.*$/s, '?…') : text;
}
