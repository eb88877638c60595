/** Definitions of types as people write them: as `key=value`, and what operators have set before them. */
import type { TypeDefinition, TypeView } from '@soda-scheduler/client';
import { differences, typeDefinitionKeys } from '@soda-scheduler/protocol';
import { ExitCode, Failure } from '../exit-code.ts';

type Fields = Record<string, unknown>;
export type NamedDefinition = TypeDefinition & { readonly type: string };

/** What of a view was defined, in the order of the documentation. */
export function definitionOf(view: TypeView): TypeDefinition {
  const said = typeDefinitionKeys.filter((key) => view[key] !== undefined);
  return Object.fromEntries(said.map((key) => [key, view[key]]));
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

/** What an operator has set, which holds before the definition: a line for each. */
export function overridesInWords({ overrides }: TypeView): string[] {
  return overrides.map(({ reason, until, limits, route }) => {
    const set = differences('{}', JSON.stringify({ limits, route }));
    const what = set.map(({ path, after }) => `${path} ${after}`).join(', ');
    return `${what} (override: ${reason}${until === null ? '' : `, until ${until}`})`;
  });
}
