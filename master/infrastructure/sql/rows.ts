/** What rows are made of, as a database takes and gives them. Knows no table. */

export type Value = string | number | null;
export type Row = Readonly<Record<string, unknown>>;

export interface Column<Source> {
  readonly name: string;
  /** What the column holds, for statements that must declare it; `bytes`: those of a text, see `Types.exactName`. */
  readonly kind: 'integer' | 'real' | 'text' | 'bytes';
  /** `ns`: the number of the namespace that the row is of. */
  readonly of: (source: Source, ns: number) => Value;
  /** What a new row has there where nothing is said of it: the default of the schema. */
  readonly unsaid: Value;
}

type ColumnEntry<Source> = readonly [
  name: Column<Source>['name'],
  kind: Column<Source>['kind'],
  of: Column<Source>['of'],
  unsaid?: Value,
];

export function columns<Source>(...list: ColumnEntry<Source>[]): readonly Column<Source>[] {
  return list.map(([name, kind, of, unsaid = null]) => ({ name, kind, of, unsaid }));
}

/** Names and types. */
export type Columns = readonly (readonly [string, string])[];

/** The tables that are there when a step begins, with their columns and indexes. */
export type Existing = ReadonlyMap<string, ReadonlySet<string>>;

/** Behind the others, so that no row is written again; those that are there already are left out. */
export function addColumns(existing: Existing, table: string, columns: Columns): string[] {
  const missing = columns.filter(([name]) => existing.get(table)?.has(name) !== true);
  return missing.map(([name, type]) => `ALTER TABLE ${table} ADD COLUMN ${name} ${type}`);
}
