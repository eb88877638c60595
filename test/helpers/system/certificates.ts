/** Certificates for tests, as operators make theirs. */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';

export const OPENSSL_MISSING = spawnSync('openssl', ['version']).error !== undefined;

export interface MadePair {
  readonly cert: string;
  readonly key: string;
}

/** Signed by `ca`, or a CA of its own; files of this name in the folder. */
export function makePair(
  folder: string,
  name: string,
  {
    ca,
    names = 'DNS:localhost,IP:127.0.0.1',
    days = 30,
    kind = ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
  }: {
    readonly ca?: MadePair;
    readonly names?: string;
    readonly days?: number;
    /** Of its key. */
    readonly kind?: readonly string[];
  } = {},
): MadePair {
  const pair = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  const signer = ca === undefined ? [] : ['-CA', ca.cert, '-CAkey', ca.key];
  const extensions = [
    ...['-addext', `subjectAltName=${names}`],
    ...(ca === undefined ? [] : ['-addext', 'basicConstraints=critical,CA:FALSE']),
  ];
  execFileSync(
    'openssl',
    [
      ...[
        'req',
        '-x509',
        '-newkey',
        ...kind,
        '-nodes',
        '-subj',
        `/CN=${name}`,
        '-days',
        String(days),
        ...signer,
      ],
      ...[...extensions, '-keyout', pair.key, '-out', pair.cert],
    ],
    { stdio: 'pipe' },
  );
  return pair;
}
