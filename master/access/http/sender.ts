/**
 * Where a request came from: the peer of its connection or, where that is a proxy that is trusted, whoever it names
 * last in X-Forwarded-For, and so on. What stands before that in the list may be forged, and is not read.
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { AddressRanges } from '@soda-scheduler/address-policy';

/** Further ones in a list are not asked whether they are trusted: nobody has as many. */
const PROXIES_IN_A_ROW_MAX = 16;
/** Beyond it all are forgotten: addresses of which it is remembered whether they are trusted, which takes long to find out. */
const KNOWN_ADDRESSES_MAX = 1_000;
/** As some proxies write it: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;

type Sent = Pick<IncomingMessage, 'headers'> & {
  readonly socket: { readonly remoteAddress?: string | undefined };
};

/**
 * Who sent a request, as an address; empty where its connection has ended. Of a list that a trusted proxy wrote but no
 * address ends, the proxy itself.
 *
 * @param trustedProxies Addresses and ranges. Each of them has to add whom it was called by at the end of
 *   X-Forwarded-For, and may name whom it likes.
 */
export function senderBehind(trustedProxies: readonly string[]): (request: Sent) => string {
  const proxies = new AddressRanges(trustedProxies);
  const known = new Map<string, boolean>();

  function isTrusted(address: string): boolean {
    const verdict = known.get(address) ?? proxies.has(address);
    if (known.size >= KNOWN_ADDRESSES_MAX) known.clear();
    known.set(address, verdict);
    return verdict;
  }

  return ({ socket, headers }) => {
    let address = socket.remoteAddress ?? '';
    if (trustedProxies.length === 0 || !isTrusted(address)) return address;
    const named = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
    for (const spelled of named.slice(-PROXIES_IN_A_ROW_MAX).reverse()) {
      const sender = withoutPort(spelled.trim());
      if (isIP(sender) === 0) break;
      address = sender;
      if (!isTrusted(address)) break;
    }
    return address;
  };
}

function withoutPort(spelled: string): string {
  const [, inner, plain] = WITH_PORT.exec(spelled) ?? [];
  return inner ?? plain ?? spelled;
}
