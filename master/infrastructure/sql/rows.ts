/** What rows are made of, as a database takes and gives them. Knows no table. */

export type Value = string | number | null;
export type Row = Readonly<Record<string, unknown>>;

export interface Column<Source> {
  readonly name: string;
  /** What the column holds, for statements that must declare it. */
  readonly kind: 'integer' | 'real' | 'text';
  /** `ns`: the number of the namespace that the row is of. */
  readonly of: (source: Source, ns: number) => Value;
}

type Column3<Source> = readonly [
  Column<Source>['name'],
  Column<Source>['kind'],
  Column<Source>['of'],
];

export function columns<Source>(...list: Column3<Source>[]): readonly Column<Source>[] {
  return list.map(([name, kind, of]) => ({ name, kind, of }));
}
