/** A pause, of all tasks or of those of one type. */

/** Nothing is offered. What is offered may start, what runs goes on, and so does everything else. */
export interface Pause {
  readonly at: number;
  /** The name of the token of whoever did it; null: of somebody who needs none, or it was not kept. */
  readonly by: string | null;
  readonly reason: string | null;
  /** When it ends by itself. */
  readonly until: number | null;
}

/** The clock was set back by so much: it has lasted as long as it had. */
export function pauseMoved<P extends Pause>(pause: P | null, backMs: number): P | null {
  return pause && { ...pause, at: pause.at - backMs };
}
