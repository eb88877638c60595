/** What stands behind the `?` of an address, as its fields. */
import { parse, type ParsedUrlQuery } from 'node:querystring';
import { invalidFields } from './problem.ts';

/** A name that is there twice has both values. @throws {Problem} 400, naming what cannot be decoded: it would be another text. */
export function queryIn(url: string): ParsedUrlQuery {
  const [, query = ''] = /^[^?#]*\?([^#]*)/.exec(url) ?? [];
  const broken = query.split('&').find((part) => !isDecodable(part));
  if (broken === undefined) return parse(query);
  const [name = ''] = broken.split('=');
  const field = isDecodable(name) ? decodeURIComponent(name) : 'query';
  throw invalidFields([{ field, message: 'expected percent-encoded UTF-8, with %25 for a %' }]);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
