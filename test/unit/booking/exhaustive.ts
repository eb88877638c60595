/** Whether windows fit, found out by trying all there is: each takes executors, one at a time for the whole of it. */
export interface Window {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** The executors that it may have, by their numbers. */
  readonly may: readonly number[];
}

/** A few windows on a few executors only: it tries every way. */
export function canAllBeServed(windows: readonly Window[]): boolean {
  const units = windows.flatMap((window) => Array.from({ length: window.count }, () => window));
  units.sort((a, b) => a.from - b.from);
  const busyUntil = new Map<number, number>();
  const serve = (index: number): boolean => {
    const unit = units[index];
    if (unit === undefined) return true;
    for (const executor of unit.may) {
      const before = busyUntil.get(executor) ?? Number.NEGATIVE_INFINITY;
      if (before > unit.from) continue;
      busyUntil.set(executor, unit.to);
      if (serve(index + 1)) return true;
      busyUntil.set(executor, before);
    }
    return false;
  };
  return serve(0);
}
