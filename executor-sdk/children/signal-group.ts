/** To all processes of a group, by the id of the one that leads it; none is left: that is no fault. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // The whole group is gone, which is what was wanted.
  }
}
