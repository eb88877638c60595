/** How much each may still do of something, such as say it: so much at once, and so much a second from then on. */

export class Allowances {
  readonly #atOnceMax: number;
  readonly #perSecondMax: number;
  readonly #left = new WeakMap<object, { readonly left: number; readonly at: number }>();

  constructor(atOnceMax: number, perSecondMax: number) {
    this.#atOnceMax = atOnceMax;
    this.#perSecondMax = perSecondMax;
  }

  /** False: it is too much. Else there is one less from then on. */
  take(whose: object, at: number): boolean {
    const before = this.#left.get(whose) ?? { left: this.#atOnceMax, at };
    const gained = ((at - before.at) * this.#perSecondMax) / 1000;
    const left = Math.min(this.#atOnceMax, before.left + gained);
    const isLeft = left >= 1;
    this.#left.set(whose, { left: isLeft ? left - 1 : left, at });
    return isLeft;
  }
}
