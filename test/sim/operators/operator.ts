/**
 * Somebody who tells masters what he wants, now and then while it storms. Chance of his own: the rest of a run is drawn
 * as without him.
 */
import type { MasterProcess } from '../actors/master-process.ts';
import type { Settings } from '../faults.ts';
import type { Ledger } from '../ledger.ts';
import { Random } from '../random.ts';
import type { World } from '../world.ts';

export interface OperatorOptions {
  readonly world: World;
  readonly ledger: Ledger;
  readonly settings: Settings;
  /** Whom he reaches, if anybody. */
  readonly master: () => MasterProcess | null;
}

export abstract class Operator {
  protected readonly world: World;
  protected readonly ledger: Ledger;
  protected readonly random: Random;
  protected readonly master: () => MasterProcess | null;
  protected isCalm = false;

  /** @param salt makes chance his own. */
  constructor({ world, ledger, settings, master }: OperatorOptions, salt: number) {
    this.world = world;
    this.ledger = ledger;
    this.random = new Random(settings.seed ^ salt);
    this.master = master;
  }

  abstract start(): void;

  /** From now on he wants nothing that keeps tasks from their end. */
  calmDown(): void {
    this.isCalm = true;
  }

  /** After so long, and again and again until the calm. */
  protected decideLater(leastMs: number, mostMs: number, decide: () => void): void {
    this.world.after(this.random.between(leastMs, mostMs), () => {
      if (this.isCalm) return;
      decide();
      this.decideLater(leastMs, mostMs, decide);
    });
  }

  /** At once, and every so often: what was said before may come late. */
  protected insist(everyMs: number, say: () => void): void {
    say();
    this.world.after(everyMs, () => this.insist(everyMs, say));
  }
}
