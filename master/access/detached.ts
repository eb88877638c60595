/**
 * The same text, on its own: a slice keeps all of the text alive that it was cut from, for as long as
 * it is held, and no bound sees that. `slice` came as UTF-8.
 */
export function detached(slice: string): string {
  return Buffer.from(slice).toString();
}
