/** Rows of a list, by a description of their columns; whoever does something to many of them ticks which. */
import type { ComponentChildren } from 'preact';
import { t, type TextName } from '../words/words.ts';

export interface Column<Row> {
  readonly title: TextName;
  /** What stands below says it itself: the title is only read out. */
  readonly isTitleHidden?: boolean;
  /** `num`: to the right; `wide`: not on a phone; `fill`: takes the width that is left, which one column has to. */
  readonly class?: string;
  /** Of what stands in it. `id`, `error`; `whole`: in several lines, where it has to be cut else. */
  readonly text?: string;
  /** @param reload asks for the rows anew, once something was changed. */
  readonly show: (row: Row, reload: () => void) => ComponentChildren;
}

export interface Layout<Row> {
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly classOf?: (row: Row) => string;
}

/** Which rows are ticked, by their keys. */
export interface Choice {
  readonly chosen: ReadonlySet<string>;
  readonly choose: (chosen: ReadonlySet<string>) => void;
}

interface Props<Row> {
  readonly of: Layout<Row>;
  readonly rows: readonly Row[];
  readonly reload?: () => void;
  /** Undefined: none can be ticked. */
  readonly choice?: Choice | undefined;
}

export function Table<Row>({ of, rows, reload = () => undefined, choice }: Props<Row>) {
  const { columns, keyOf, classOf } = of;
  const keys = rows.map(keyOf);
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            {choice !== undefined && (
              <th class="tick">
                <Tick label={t('list.choose-all')} keys={keys} choice={choice} />
              </th>
            )}
            {columns.map(({ title, class: place, isTitleHidden }) => (
              <th key={title} class={place}>
                {isTitleHidden === true ? <span class="sr">{t(title)}</span> : t(title)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const key = keyOf(row);
            return (
              <tr key={key} class={classOf?.(row)}>
                {choice !== undefined && (
                  <td class="tick">
                    <Tick label={key} keys={[key]} choice={choice} />
                  </td>
                )}
                {columns.map(({ title, class: place = '', text = '', show, isTitleHidden }) => (
                  <td
                    key={title}
                    class={`${place} ${text}`}
                    // On a phone it stands beside what it is of.
                    data-title={isTitleHidden === true ? undefined : t(title)}
                  >
                    {show(row, reload)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface TickProps {
  readonly label: string;
  readonly keys: readonly string[];
  readonly choice: Choice;
}

function Tick({ label, keys, choice: { chosen, choose } }: TickProps) {
  return (
    <input
      type="checkbox"
      aria-label={label}
      checked={keys.every((key) => chosen.has(key))}
      onChange={({ currentTarget: { checked } }) => {
        const others = [...chosen].filter((key) => !keys.includes(key));
        choose(new Set(checked ? [...others, ...keys] : others));
      }}
    />
  );
}
