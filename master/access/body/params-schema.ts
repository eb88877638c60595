/**
 * The JSON schema of the params of a type (2020-12), compiled. It is made of what `schema-work.ts` allows only:
 * nothing is fetched, nothing has no end, and a check takes no longer than was known before it began.
 */
import { createRequire } from 'node:module';
import type * as Ajv from 'ajv/dist/2020.js';
import type { ErrorObject, FuncKeywordDefinition, ValidateFunction } from 'ajv/dist/2020.js';
import { type FieldError, invalidFields } from '../http/problem.ts';
import { fieldName } from './fields.ts';
import { costOf, type SchemaCost, workOf } from './schema-work.ts';

/** With the first schema: a master without one need not wait for it. */
const loadAjv = () => createRequire(import.meta.url)('ajv/dist/2020.js') as typeof Ajv;

/** Steps of a check, of up to 50 ns each; of one that looks for all that is wrong, which makes more of each. */
const WORK_MAX = 400_000;
const ALL_ERRORS_WORK_MAX = 50_000;
const ERRORS_MAX = 10;

const options = {
  strict: false,
  // What is allowed in a schema was looked at before; to compile what checks that takes longer than all else.
  validateSchema: false,
  code: { optimize: false },
  validateFormats: false,
  // What an object has from its prototype is not in the params.
  ownProperties: true,
  inlineRefs: false,
  logger: false,
} as const;

export class ParamsSchema {
  readonly #schema: object | boolean;
  readonly #cost: SchemaCost;
  readonly #validate: ValidateFunction;
  /** Made when params first do not fit. */
  #findAll: ValidateFunction | null = null;

  /** @throws {Problem} 400: it is no schema, or more than is allowed in one. */
  constructor(schema: object | boolean) {
    const cost = costOf(schema);
    if ('field' in cost) throw invalidFields([cost]);
    this.#schema = schema;
    this.#cost = cost;
    this.#validate = compile(schema, false);
  }

  /** @param params JSON whose depth was checked. Empty: they fit. */
  errorsOf(params: string): readonly FieldError[] {
    const value: unknown = JSON.parse(params);
    const work = workOf(value, this.#cost);
    if (work > WORK_MAX) {
      const message = `too large to be checked against the schema of the type: about ${Math.round(work)} steps, and ${WORK_MAX} are allowed`;
      return [{ field: 'task.params', message }];
    }
    if (this.#validate(value)) return [];
    if (work > ALL_ERRORS_WORK_MAX) return inWords(this.#validate.errors);
    const findAll = (this.#findAll ??= compile(this.#schema, true));
    findAll(value);
    return inWords(findAll.errors);
  }
}

/** As people reckon: 0.3 is a multiple of 0.1, though neither is a fraction that a computer has. */
const multipleOf = ({ _ }: typeof Ajv): FuncKeywordDefinition => ({
  keyword: 'multipleOf',
  type: 'number',
  schemaType: 'number',
  compile: (step: number) => (value: number) => isMultiple(value, step),
  error: {
    message: ({ schema }) => `must be multiple of ${schema}`,
    params: ({ schema }) => _`{multipleOf: ${schema}}`,
  },
});

/** The rest of a division is exact. Fractions were rounded before, so that their quotient may be off by as much. */
function isMultiple(value: number, step: number): boolean {
  if (value % step === 0) return true;
  const quotient = value / step;
  if (Number.isInteger(step) || quotient === 0) return false;
  const off = Math.abs(quotient - Math.round(quotient));
  // Beyond what a number can tell apart (no number at all, even) anything is one.
  return !(off > 4 * Number.EPSILON * Math.abs(quotient));
}

function compile(schema: object | boolean, allErrors: boolean): ValidateFunction {
  try {
    const library = loadAjv();
    const ajv = new library.Ajv2020({ ...options, allErrors });
    ajv.removeKeyword('multipleOf').addKeyword(multipleOf(library));
    return ajv.compile(schema);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw invalidFields([{ field: 'params_schema', message: message.slice(0, 512) }]);
  }
}

function inWords(errors: readonly ErrorObject[] | null | undefined): FieldError[] {
  const found = new Map<string, FieldError>();
  for (const { instancePath, keyword, params, message = 'does not fit' } of errors ?? []) {
    const path = instancePath
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
    const { additionalProperty, missingProperty, allowedValues } = params as Record<
      string,
      unknown
    >;
    const extra = additionalProperty ?? missingProperty;
    if (typeof extra === 'string') path.push(extra);
    const field = fieldName(['task', 'params', ...path]);
    const words =
      keyword === 'additionalProperties'
        ? 'not a known field'
        : keyword === 'required'
          ? 'required'
          : keyword === 'enum'
            ? `expected one of ${JSON.stringify(allowedValues).slice(0, 200)}`
            : message.slice(0, 256);
    found.set(`${field}: ${words}`, { field, message: words });
    if (found.size === ERRORS_MAX) break;
  }
  return [...found.values()];
}
