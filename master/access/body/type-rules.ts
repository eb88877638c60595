/** What a submit reads of the definition of a type: defaults for what a task leaves unsaid, and the schema of its params. */
import type { TypeDefinition } from '@soda-scheduler/protocol';
import { TYPE_RULES_MAX } from '../../domain/bounds.ts';
import type { TaskType } from '../../domain/model/task-type.ts';
import { ParamsSchema } from './params-schema.ts';

/** As the definition has it, which was checked when it was set. */
type Defaults = NonNullable<TypeDefinition['defaults']>;

export interface TypeRules {
  readonly defaults: Defaults | null;
  readonly schema: ParamsSchema | null;
}

/** The rules of the types that were asked for last, by the texts that they follow from. */
export class RulesOfTypes {
  readonly #known = new Map<string, { readonly text: string; readonly rules: TypeRules }>();

  of(namespace: string, { type, text }: TaskType): TypeRules {
    const key = `${namespace}/${type}`;
    const known = this.#known.get(key);
    const rules = known?.text === text ? known.rules : rulesIn(text);
    // Also one that is used goes behind all others: what nobody uses is forgotten first.
    this.#known.delete(key);
    this.#known.set(key, { text, rules });
    const [oldest] = this.#known.size > TYPE_RULES_MAX ? this.#known.keys() : [];
    if (oldest !== undefined) this.#known.delete(oldest);
    return rules;
  }
}

function rulesIn(text: string): TypeRules {
  const { defaults = null, params_schema } = JSON.parse(text) as TypeDefinition;
  return { defaults, schema: params_schema === undefined ? null : new ParamsSchema(params_schema) };
}

/** What the task says holds, then what its type says: of `retry` each of its fields by itself. */
export function withDefaults<T extends Partial<Defaults>>(task: T, defaults: Defaults): T {
  const retry = { ...defaults.retry, ...task.retry };
  return { ...defaults, ...task, ...(Object.keys(retry).length > 0 && { retry }) };
}
