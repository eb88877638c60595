/** Definitions of types as people write them: in files, as `key=value`, and as what has changed. */
import type { TypeDefinition, TypeView } from '@soda-scheduler/client';
import { typeDefinitionKeys } from '@soda-scheduler/protocol';
import { ExitCode, Failure } from '../exit-code.ts';
import { textOf } from '../options.ts';

type Fields = Record<string, unknown>;
export type NamedDefinition = TypeDefinition & { readonly type: string };

export interface Change {
  /** `limits.max_running`. */
  readonly path: string;
  /** Undefined: it was not set, or is not set any more. */
  readonly from: unknown;
  readonly to: unknown;
}

/** What of a view was defined, in the order of the documentation. */
export function definitionOf(view: TypeView): TypeDefinition {
  const said = typeDefinitionKeys.filter((key) => view[key] !== undefined);
  return Object.fromEntries(said.map((key) => [key, view[key]]));
}

/** What is in a file, or comes from stdin for `-`: YAML or JSON, one document or several, or a list. */
export async function readDefinitions(source: string): Promise<NamedDefinition[]> {
  const fail = (why: string) => new Failure(`${source}: ${why}`, ExitCode.usage);
  const written = await textOf(source === '-' ? source : `@${source}`, '--file');
  const { parseAllDocuments } = await import('yaml');
  const documents = parseAllDocuments(written);
  const found: unknown[] = [];
  const faults: string[] = [];
  for (const document of 'empty' in documents ? [] : documents) {
    // What follows from the first is no fault of its own.
    const [error] = document.errors;
    if (error !== undefined) {
      faults.push(error.message);
      continue;
    }
    const value: unknown = document.toJS();
    if (value !== null) found.push(...(Array.isArray(value) ? value : [value]));
  }
  if (found.length + faults.length === 0) throw fail('there is no definition in it');
  const names = new Set<string>();
  for (const [index, value] of found.entries()) {
    const { type } = (typeof value === 'object' && value !== null ? value : {}) as Fields;
    if (typeof type !== 'string') faults.push(`definition ${index + 1} has no \`type\``);
    else if (names.size === names.add(type).size) faults.push(`${type} is defined twice`);
  }
  throwIfAny(faults, source);
  return found as NamedDefinition[];
}

/** All that is wrong, at once: a line for each. @throws {Failure} */
export function throwIfAny(faults: readonly string[], about: string): void {
  if (faults.length === 0) return;
  const lines = faults.length === 1 ? ` ${faults[0]}` : `\n  ${faults.join('\n  ')}`;
  throw new Failure(`${about}:${lines}`, ExitCode.usage);
}

/** Sets `limits.max_running=5` and the like in place; what has no value is taken away. @throws {Failure} */
export function assign(fields: object, assignments: readonly string[]): void {
  for (const assignment of assignments) {
    const at = assignment.indexOf('=');
    if (at < 1) throw new Failure(`${assignment}: expected key=value`, ExitCode.usage);
    const names = assignment.slice(0, at).split('.');
    const last = names.pop() ?? '';
    let inner = fields as Fields;
    for (const name of names) {
      const next = Object.hasOwn(inner, name) ? inner[name] : undefined;
      const isFields = typeof next === 'object' && next !== null && !Array.isArray(next);
      const copy: Fields = isFields ? { ...next } : {};
      inner[name] = copy;
      inner = copy;
    }
    const value = assignment.slice(at + 1);
    if (value === '') delete inner[last];
    else inner[last] = valueOf(value);
  }
}

/** JSON where it is such, else text. */
function valueOf(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return written;
  }
}

/** By path, what is not the same in both. Lists are compared as a whole. */
export function changesBetween(before: object, after: object): Change[] {
  const [from, to] = [leavesOf(before), leavesOf(after)];
  const paths = [...new Set([...from.keys(), ...to.keys()])];
  return paths
    .filter((path) => JSON.stringify(from.get(path)) !== JSON.stringify(to.get(path)))
    .map((path) => ({ path, from: from.get(path), to: to.get(path) }));
}

/** `limits.max_running: 5 -> 8` */
export function changeInWords({ path, from, to }: Change): string {
  const shown = (value: unknown) => (value === undefined ? 'not set' : JSON.stringify(value));
  return `${path}: ${shown(from)} -> ${shown(to)}`;
}

/** What an operator has set, which holds before the definition: a line for each. */
export function overridesInWords({ overrides }: TypeView): string[] {
  return overrides.map(({ reason, until, limits, route }) => {
    const set = [...leavesOf({ ...(limits && { limits }), ...(route && { route }) })];
    const what = set.map(([path, value]) => `${path} ${JSON.stringify(value)}`).join(', ');
    return `${what} (override: ${reason}${until === null ? '' : `, until ${until}`})`;
  });
}

function leavesOf(fields: object, before = ''): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  for (const [name, value] of Object.entries(fields)) {
    const path = before + name;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      leaves.set(path, value);
    else for (const [inner, leaf] of leavesOf(value, `${path}.`)) leaves.set(inner, leaf);
  }
  return leaves;
}
