/** Under what a secret is known to whoever need not know it. */
import { createHash } from 'node:crypto';

/** Whoever reads it knows no token. */
export function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
