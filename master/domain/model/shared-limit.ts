/**
 * Limits on things that tasks of many types share (encoder sessions, licences, a third party), and what
 * tasks take of them. Data only: `limits/supply.ts` counts.
 */

/** What of an executor says where it is. */
interface Whereabouts {
  readonly id: string;
  readonly host: string;
  readonly bootId: string;
  readonly labels: readonly string[];
}

/** Where it is counted: in all, on each host, or for each label with this prefix that executors carry. */
export type Per = 'cluster' | 'host' | { readonly label: string };

/** A row. Another one takes its place; none is changed. */
export interface SharedLimit {
  readonly name: string;
  readonly max: number;
  readonly per: Per;
}

/** What a task takes of a limit while it runs. */
export interface Use {
  readonly limit: string;
  readonly n: number;
}

/** What an attempt has taken, and where: `placesOf` its executor at the offer. */
export interface Taken extends Use {
  readonly place: string;
}

/** What an attempt has taken: a row from the commit that offers it to the one that ends it. */
export interface Holding {
  readonly taskId: string;
  readonly attempt: number;
  readonly taken: readonly Taken[];
}

/** Of most tasks. */
export const NO_USES: readonly Use[] = [];
export const NOTHING_TAKEN: readonly Taken[] = [];

/** What a task asks for, and what else its type takes: of a limit that both name so much as the task says. */
export function usesOfBoth(ofType: readonly Use[], ofTask: readonly Use[]): readonly Use[] {
  if (ofTask.length === 0) return ofType;
  const uses = new Map([...ofType, ...ofTask].map((use) => [use.limit, use]));
  return inOrder([...uses.values()]);
}

/** By name, so that equal uses have equal texts. */
export function inOrder(uses: readonly Use[]): readonly Use[] {
  if (uses.length === 0) return NO_USES;
  return [...uses].sort((a, b) => (a.limit < b.limit ? -1 : 1));
}

/** `encoder=2,licence=1`: part of the name of a kind. */
export function usesText(uses: readonly Use[]): string {
  return uses.map(({ limit, n }) => `${limit}=${n}`).join(',');
}

/** Of such a text. */
export function usesIn(text: string): readonly Use[] {
  if (text === '') return NO_USES;
  return text.split(',').map((use) => {
    const [limit = '', n] = use.split('=');
    return { limit, n: Number(n) };
  });
}

/** As rows and labels have it: no label ends with a colon that a prefix brings along. */
const HOST = 'host ';
const LABEL = 'label ';
const CLUSTER: readonly string[] = [''];

/**
 * Where what an executor takes is counted. None: it carries no such label, and may not have any. With
 * several such labels it takes in each of these places.
 */
export function placesOf(per: Per, { id, host, bootId, labels }: Whereabouts): readonly string[] {
  if (per === 'cluster') return CLUSTER;
  // Containers of one host have names of their own, and the same start of its kernel.
  if (per === 'host') return [HOST + (bootId || host || id)];
  return labels.filter((label) => isLabelOf(per.label, label)).map((label) => LABEL + label);
}

/** Whether it is counted so, as it was when the place was written down. */
export function isPlaceOf(per: Per, place: string): boolean {
  if (per === 'cluster') return place === '';
  if (per === 'host') return place.startsWith(HOST);
  return place.startsWith(LABEL) && isLabelOf(per.label, place.slice(LABEL.length));
}

/** The label, or what tells the host; empty: all. */
export function nameOfPlace(place: string): string {
  return place.slice(place.startsWith(HOST) ? HOST.length : LABEL.length);
}

const isLabelOf = (prefix: string, label: string): boolean => label.startsWith(`${prefix}:`);
