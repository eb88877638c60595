/** `apply` and `export`: what files define takes the place of what was before, once all of it was checked; and what that changes. */
import { type AtVersion, SodaError } from '@soda-scheduler/client';
import { type Difference, differences, jsonObject } from '@soda-scheduler/protocol';
import { ExitCode, exitCodeOf, Failure } from '../exit-code.ts';
import { goOnWithoutReader, type Output } from '../output.ts';
import { changeInWords, throwIfAny } from './definition.ts';

/** What is defined so: types, jobs. */
export interface Kind<Definition, View extends { readonly version: number }> {
  /** The field that names one, in files and in JSON. */
  readonly key: string;
  get(name: string): Promise<View>;
  put(
    name: string,
    definition: Definition,
    options: AtVersion & { readonly dryRun?: boolean },
  ): Promise<View>;
  /** False: the master knows of it, but nobody has defined it. */
  isDefined(view: View): boolean;
  /** As JSON. */
  definitionOf(view: View): string;
  /** What to do first where one is refused, for these fields, for what others are before they are applied; null: nothing helps. */
  adviceOn?(name: string, fields: readonly string[]): Promise<string | null>;
  /** What else there is to say: in JSON, and in lines for people. */
  besides(view: View): {
    readonly fields: object;
    readonly lines: (isChanged: boolean) => readonly string[];
  };
}

interface Plan<Definition, View> {
  readonly name: string;
  readonly definition: Definition;
  readonly version: number;
  readonly isNew: boolean;
  /** Null: none. */
  readonly changes: readonly Difference[] | null;
  readonly view: View;
}

/** @throws {Failure} naming all that is wrong with any: then nothing is changed. */
export async function apply<Definition, View extends { readonly version: number }>(
  kind: Kind<Definition, View>,
  definitions: readonly (readonly [name: string, definition: Definition])[],
  output: Output,
  isDry: boolean,
): Promise<void> {
  goOnWithoutReader();
  for (const plan of await plansOf(kind, definitions)) {
    const { name, definition, version, changes } = plan;
    const done =
      !isDry && changes !== null
        ? await kind.put(name, definition, { version }).catch((error: unknown) => {
            throw named(name, error);
          })
        : plan.view;
    sayPlan(kind, { ...plan, view: done }, output, isDry);
  }
}

async function plansOf<Definition, View extends { readonly version: number }>(
  kind: Kind<Definition, View>,
  definitions: readonly (readonly [string, Definition])[],
): Promise<readonly Plan<Definition, View>[]> {
  const plans: Plan<Definition, View>[] = [];
  const faults: string[] = [];
  for (const [name, definition] of definitions) {
    try {
      plans.push(await planOf(kind, name, definition));
    } catch (error) {
      if (!(error instanceof SodaError) || error.code !== 400) throw named(name, error);
      const { errors = [{ field: '', message: error.message }] } = error.problem ?? {};
      for (const { field, message } of errors) {
        faults.push([name, field, message].filter((part) => part !== '').join(': '));
      }
      // Whatever goes wrong meanwhile, the faults are to be said.
      const advice = await kind
        .adviceOn?.(
          name,
          errors.map(({ field }) => field),
        )
        .catch(() => null);
      if (advice) faults.push(`${name}: ${advice}`);
    }
  }
  throwIfAny(faults, 'nothing is applied');
  return plans;
}

/** What the master would make of it. Changes nothing. */
async function planOf<Definition, View extends { readonly version: number }>(
  kind: Kind<Definition, View>,
  name: string,
  definition: Definition,
): Promise<Plan<Definition, View>> {
  const before = await known(() => kind.get(name));
  const view = await kind.put(name, definition, { dryRun: true });
  const was = before === null ? '{}' : kind.definitionOf(before);
  const changes = differences(was, kind.definitionOf(view));
  const isNew = before === null || !kind.isDefined(before);
  const isChanged = isNew || changes.length > 0;
  const version = before?.version ?? 0;
  return { name, definition, version, isNew, changes: isChanged ? changes : null, view };
}

/** Null: there is no such thing. */
export async function known<View>(get: () => Promise<View>): Promise<View | null> {
  try {
    return await get();
  } catch (error) {
    if (error instanceof SodaError && exitCodeOf(error) === ExitCode.notFound) return null;
    throw error;
  }
}

/** Of several, whose failure it is. */
function named(name: string, error: unknown): unknown {
  if (!(error instanceof SodaError)) return error;
  return new Failure(`${name}: ${error.message}`, exitCodeOf(error));
}

function sayPlan<Definition, View extends { readonly version: number }>(
  kind: Kind<Definition, View>,
  { name, isNew, changes, view }: Plan<Definition, View>,
  output: Output,
  isDry: boolean,
): void {
  const action = changes === null ? 'unchanged' : isNew ? 'created' : 'changed';
  const did = isDry && changes !== null ? `would be ${action}` : action;
  const { fields, lines } = kind.besides(view);
  const told = changes?.map(({ path, before, after }) => {
    return jsonObject({ path }, { from: before, to: after });
  });
  const row = { [kind.key]: name, action, dry_run: isDry, ...fields };
  output.row(jsonObject(row, { changes: `[${(told ?? []).join(',')}]` }), [`${name}: ${did}`]);
  if (output.json) return;
  for (const change of changes ?? []) output.say(null, `  ${changeInWords(change)}`);
  for (const line of lines(changes !== null)) output.say(null, `  ${line}`);
}

/** As `apply` takes it. @param definition JSON. */
export async function printDefinition(output: Output, definition: string): Promise<void> {
  if (output.json) return output.row(definition, []);
  const { yamlOf } = await import('./yaml.ts');
  process.stdout.write(`---\n${yamlOf(definition)}`);
}
