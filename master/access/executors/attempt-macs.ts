/**
 * Proofs that an attempt was offered to a certain process: a MAC over its names under a secret that
 * all masters of one store share. Whoever was offered the attempt hands it back with everything it
 * says about it; nobody else can. It needs no row, and holds over restarts of the master. Never
 * logs or gives out a secret.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** One namespace so far; part of what is signed, so that a second one changes nothing here. */
const NAMESPACE = 'default';
/** As many bits as guessing over a network could ever need. */
const MAC_BYTES = 16;

/** What makes an attempt one that nobody else has, also where an id is used again. */
export interface AttemptIdentity {
  readonly seq: number;
  readonly attempt: number;
  readonly executorId: string;
  readonly incarnation: string;
}

/** Whether what is said of an attempt was said by the process that it was offered to. */
export type Proof = (about: {
  readonly task_id: string;
  readonly attempt: number;
  readonly mac?: string | undefined;
}) => boolean;

/** Who has to prove it; one that knows no MAC, of 2.0.0, is taken at its word. */
export type Prover = Pick<AttemptIdentity, 'executorId' | 'incarnation'> & {
  readonly usesMac: boolean;
};

export class AttemptMacs {
  #secrets: readonly Buffer[] = [];

  /** Base64url, newest first: the first one signs, all are accepted. */
  use(secrets: readonly string[]): void {
    this.#secrets = secrets.map((secret) => Buffer.from(secret, 'base64url'));
  }

  /** Undefined before the first secret is known. */
  of(identity: AttemptIdentity): string | undefined {
    const [newest] = this.#secrets;
    return newest === undefined ? undefined : sign(newest, identity).toString('base64url');
  }

  /** @param seqOf The accept number of a task in memory; null where there is none. */
  proofOf(prover: Prover, seqOf: (taskId: string) => number | null): Proof {
    return ({ task_id, attempt, mac }) => {
      if (!prover.usesMac) return true;
      const seq = seqOf(task_id);
      // Nothing is open under that id: whatever is said of it is stale.
      if (seq === null) return true;
      return mac !== undefined && this.#isRight(mac, { ...prover, seq, attempt });
    };
  }

  #isRight(mac: string, identity: AttemptIdentity): boolean {
    const given = Buffer.from(mac, 'base64url');
    if (given.length !== MAC_BYTES) return false;
    return this.#secrets.some((secret) => timingSafeEqual(sign(secret, identity), given));
  }
}

function sign(secret: Buffer, identity: AttemptIdentity): Buffer {
  const { seq, attempt, executorId, incarnation } = identity;
  // As JSON no two identities look the same, whatever an incarnation is made of.
  const named = JSON.stringify([NAMESPACE, seq, attempt, executorId, incarnation]);
  return createHmac('sha256', secret).update(named).digest().subarray(0, MAC_BYTES);
}
