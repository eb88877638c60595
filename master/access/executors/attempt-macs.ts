/**
 * Proofs that an attempt was offered to a certain process: a MAC over its names under a secret that
 * all masters of one store share. Whoever was offered the attempt hands it back with everything it
 * says about it; nobody else can. It needs no row, and holds over restarts of the master. Never
 * logs or gives out a secret.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { HeldAttempt } from '../../application/master-handle.ts';

/** As many bits as guessing over a network could ever need. */
const MAC_BYTES = 16;

/** What makes an attempt one that nobody else has, also where an id is used again. */
export interface AttemptIdentity {
  readonly seq: number;
  readonly attempt: number;
  readonly executorId: string;
  readonly incarnation: string;
}

/**
 * False: it is said of an open attempt of this process, and without proof. Whatever is said of an
 * attempt that is not its own, or not any more, is stale, and needs none.
 */
export type Proof = (about: {
  readonly task_id: string;
  readonly attempt: number;
  readonly mac?: string | undefined;
}) => boolean;

export type Process = Pick<AttemptIdentity, 'executorId' | 'incarnation'>;

/** Who has to prove it; one that knows no MAC, of 2.0.0, is taken at its word. */
export type Prover = Process & { readonly usesMac: boolean };

/** Of one process, which has one attempt at a time: each costs one signature, whatever is said of it. */
export interface Proofs {
  /** For the offer. Undefined before the first secret is known, and for one that knows no MAC. */
  macOf(seq: number, attempt: number): string | undefined;
  readonly holds: Proof;
}

/** Of one attempt, by each of the secrets. */
interface Expected {
  readonly seq: number;
  readonly attempt: number;
  readonly secrets: readonly Buffer[];
  readonly macs: readonly Buffer[];
}

export class AttemptMacs {
  readonly #namespace: string;
  #secrets: readonly Buffer[] = [];

  /** @param namespace Of all the attempts: part of what is proven. */
  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** Base64url, newest first: the first one signs, all are accepted. */
  use(secrets: readonly string[]): void {
    this.#secrets = secrets.map((secret) => Buffer.from(secret, 'base64url'));
  }

  proofsOf(prover: Prover, attemptOf: (taskId: string) => HeldAttempt | null): Proofs {
    let known: Expected | null = null;
    const macsOf = (seq: number, attempt: number): readonly Buffer[] => {
      if (known?.seq !== seq || known.attempt !== attempt || known.secrets !== this.#secrets) {
        known = this.#expect({ seq, attempt, ...prover });
      }
      return known.macs;
    };
    return {
      macOf: (seq, attempt) =>
        prover.usesMac ? macsOf(seq, attempt)[0]?.toString('base64url') : undefined,
      holds: ({ task_id, attempt, mac }) => {
        if (!prover.usesMac) return true;
        const held = attemptOf(task_id);
        if (held === null || held.attempt !== attempt || !isOf(held, prover)) return true;
        if (mac === undefined) return false;
        const given = Buffer.from(mac, 'base64url');
        const expected = macsOf(held.seq, attempt);
        return given.length === MAC_BYTES && expected.some((one) => timingSafeEqual(one, given));
      },
    };
  }

  /** Whether that was offered to this process, whatever has become of it since. */
  proves({ executorId, incarnation }: Process, seq: number, attempt: number, mac: string): boolean {
    const given = Buffer.from(mac, 'base64url');
    const identity = { seq, attempt, executorId, incarnation };
    return (
      given.length === MAC_BYTES &&
      this.#secrets.some((secret) => timingSafeEqual(this.#sign(secret, identity), given))
    );
  }

  #expect(identity: AttemptIdentity): Expected {
    const { seq, attempt } = identity;
    const secrets = this.#secrets;
    return { seq, attempt, secrets, macs: secrets.map((secret) => this.#sign(secret, identity)) };
  }

  #sign(secret: Buffer, identity: AttemptIdentity): Buffer {
    const { seq, attempt, executorId, incarnation } = identity;
    // As JSON no two identities look the same, whatever an incarnation is made of.
    const named = JSON.stringify([this.#namespace, seq, attempt, executorId, incarnation]);
    return createHmac('sha256', secret).update(named).digest().subarray(0, MAC_BYTES);
  }
}

/** A row that is older than incarnations does not say which process it was. */
export function isOf(held: HeldAttempt, { executorId, incarnation }: Process): boolean {
  return held.executorId === executorId && (held.incarnation ?? incarnation) === incarnation;
}
