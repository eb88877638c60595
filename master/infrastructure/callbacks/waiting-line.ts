/** What waits for one origin, in order. An array's `shift` moves all that is behind it. */
export class WaitingLine<T> {
  #items: (T | undefined)[] = [];
  /** What is before it has left. */
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Behind all that come before it or are equal; in a line that is in this order. */
  insert(item: T, compare: (a: T, b: T) => number): void {
    let place = this.#items.length;
    for (; place > this.#head; place -= 1) {
      const before = this.#items[place - 1];
      if (before === undefined || compare(before, item) <= 0) break;
    }
    this.#items.splice(place, 0, item);
  }

  sort(compare: (a: T, b: T) => number): void {
    const items = this.#items.slice(this.#head) as T[];
    this.#items = items.sort(compare);
    this.#head = 0;
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head > 500 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  pop(): T | undefined {
    return this.length === 0 ? undefined : this.#items.pop();
  }

  /** Drops what matches. */
  remove(matches: (item: T) => boolean): void {
    const items = this.#items.slice(this.#head) as T[];
    this.#items = items.filter((item) => !matches(item));
    this.#head = 0;
  }
}
