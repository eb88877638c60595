/** The certificate of a master, or of a proxy before it: whether this machine trusts it, and for how long. */
import { connect, type TLSSocket } from 'node:tls';
import { isIP } from 'node:net';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { certificateTrouble } from '@soda-scheduler/protocol';
import type { Finding } from './clock.ts';

const DAY_MS = 86_400_000;
/** What is renewed by itself has been by then. */
const DAYS_LEFT_MIN = 14;

/** Who is trusted in place of those that Node trusts; undefined: nobody is. Was read before: it can be. */
export function givenCa(): string | undefined {
  const file = process.env['SODA_CA_FILE'];
  return file === undefined || file === '' ? undefined : readFileSync(file, 'utf8');
}

/** Nothing is said of an address without TLS, or where no handshake comes about. */
export async function certificateFindings(base: string, timeoutMs: number): Promise<Finding[]> {
  const { protocol, hostname, port } = new URL(base);
  if (protocol !== 'https:') return [];
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({
    host,
    port: Number(port || 443),
    ca: givenCa(),
    // It is to be looked at, whatever is wrong with it; nothing is said over it.
    rejectUnauthorized: false,
    ...(isIP(host) === 0 && { servername: host }),
  });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeoutMs) });
    return [findingOf(socket, host)];
  } catch {
    return [];
  } finally {
    socket.destroy();
  }
}

function findingOf(socket: TLSSocket, host: string): Finding {
  const finding = (state: Finding['state'], detail: string) => ({
    check: 'certificate',
    state,
    detail,
  });
  const shown = socket.getPeerX509Certificate();
  if (shown === undefined) return finding('failed', 'none was shown');
  const expiresAt = Date.parse(shown.validTo);
  const days = Math.floor((expiresAt - Date.now()) / DAY_MS);
  const names = shown.subjectAltName ?? shown.subject.replaceAll('\n', ', ');
  const until = new Date(expiresAt).toISOString().slice(0, 10);
  if (!socket.authorized) {
    // Its type says an Error: it is the code of one.
    const code = String(socket.authorizationError);
    const trouble = certificateTrouble(code) ?? `it is refused (${code})`;
    return finding('failed', `${trouble.replace(/^its certificate/, 'it')}; ${names}; to ${until}`);
  }
  const detail = `fits ${host}, expires on ${until}, in ${days} days`;
  return finding(days < DAYS_LEFT_MIN ? 'warning' : 'ok', detail);
}
