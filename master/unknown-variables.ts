/**
 * Variables of the environment that look like settings and are none: a misspelt name must not be
 * ignored in silence. Knows no setting by itself.
 */
import { didYouMean } from '@soda-scheduler/protocol';

/** Variables of our other programs and of the tests, which may well be in the same environment. */
const foreignVariables = /^SODA_(TEST_.*|SEED|URL|TOKEN|NAMESPACE|GROUP|LOG|CA_FILE)$/;

/** What Kubernetes sets in every pod for a Service of the namespace that is named `soda-...`. */
function isOfKubernetes(name: string, value: string): boolean {
  if (/_SERVICE_(HOST|PORT(_.+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name)) {
    return true;
  }
  return name.endsWith('_PORT') && isServiceLink(value);
}

/** `tcp://10.0.0.1:80`: what Kubernetes makes of a Service. */
export function isServiceLink(text: string): boolean {
  return /^(tcp|udp|sctp):\/\//.test(text);
}

/** A sentence for each variable that looks like one of ours and is not `known`. */
export function unknownVariables(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('SODA_') && !known.includes(name))
    .filter((name) => !foreignVariables.test(name) && !isOfKubernetes(name, env[name] ?? ''))
    .map((name) => `${name}: there is no such setting${didYouMean(name, known)}`);
}
