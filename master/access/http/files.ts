/**
 * Files that were made by the build and are for browsers: named in a table, so that no path leads anywhere else, zipped
 * once each, and never allowed to bring in anything that this master does not serve.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Problem } from './problem.ts';
import type { ApiRequest, Reply } from './route.ts';

export interface ServedFile {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** By name; none: they were not built. */
export type ServedFiles = ReadonlyMap<string, ServedFile>;

type Headers = Readonly<Record<string, string>>;

/** Nothing but what this master serves: no other host, no script or style that stands in a page. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
/** For those whose names have a digest of what is in them. */
export const FOR_EVER = { 'Cache-Control': 'public, max-age=31536000, immutable' };

const zip = promisify(gzip);
/** Made smaller by what they are. */
const COMPRESSED = /^image\/png$/;

/**
 * `what` they are, in words, for whoever has not built them. Replies reject with a {@link Problem} where there is no such file.
 * An `ETag` in their headers is that of the file as it is: zipped, it gets another one, for its bytes are others.
 */
export function repliesOf(files: ServedFiles, what: string) {
  const zipped = new Map<ServedFile, Promise<Buffer>>();

  return async (name: string, { headers: asked }: ApiRequest, headers: Headers): Promise<Reply> => {
    const file = files.get(name);
    if (file === undefined) {
      const why = files.size === 0 ? ` ${what} not built: npm run build.` : '';
      throw new Problem('noRoute', `There is no such route.${why}`);
    }
    const { contentType, bytes } = file;
    const vary = { Vary: 'Accept-Encoding', ...headers };
    if (COMPRESSED.test(contentType) || !takesGzip(asked['accept-encoding'])) {
      return { body: bytes, contentType, headers: vary };
    }
    const body = zipped.get(file) ?? zip(bytes);
    zipped.set(file, body);
    const { ETag: tag } = headers;
    const own = tag === undefined ? {} : { ETag: tag.replace(/"$/, '-gzip"') };
    const all = { 'Content-Encoding': 'gzip', ...vary, ...own };
    return { body: await body, contentType, headers: all };
  };
}

/** It is named, or stands for the rest under `*`; what has the weight 0 is not wanted (RFC 9110, 12.5.3). */
function takesGzip(accepted = ''): boolean {
  const weights = new Map(
    accepted.split(',').map((one) => {
      const [name = '', ...parameters] = one.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((part) => part.startsWith('q='));
      return [name, weight === undefined ? 1 : Number(weight.slice(2))];
    }),
  );
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}
