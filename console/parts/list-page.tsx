/**
 * A page that is a list. `useListed` asks for what the URL says, page by page, and keeps it fresh; `ListPage` shows it.
 * What is particular to one list, its columns, filters, actions, and what it teaches when it is empty, its page says.
 */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Query } from '../api/call.ts';
import { useFrame } from '../frame/context.ts';
import { type Resource, useAnswer } from '../frame/resource.ts';
import { t, type TextName } from '../words/words.ts';
import type { Changed, Filters, Search } from './filters.tsx';
import { Empty, Head, Loaded } from './page.tsx';
import { type Choice, type Layout, Table } from './table.tsx';

interface Asked {
  readonly path: string;
  /** Null: what is listed belongs to none. Default: the one that is looked at. */
  readonly namespace?: null;
  /** Filters that hold where the URL has none of their name. */
  readonly preset?: Filters;
  /** Filters that the page has: what else the URL says is left out. Default: all of it. */
  readonly fields?: readonly string[];
  /** What is asked for by filters. Default: they are the query. */
  readonly queryOf?: (filters: Filters) => Query;
  /** Rows of a page. Default: as many as the API says. */
  readonly limit?: number;
  readonly everyMs?: number;
}

interface Answer {
  readonly next_cursor: string | null;
}

export interface Listed<A> extends Resource<A>, Search {
  /** Its name in the URL, and of its title. */
  readonly page: TextName;
  readonly isFirst: boolean;
  /** Of rows that these filters let through: with others nothing is chosen. */
  readonly choice: Choice;
}

export function useListed<A extends Answer>(
  page: TextName,
  { path, namespace, preset, fields, queryOf = (filters) => filters, limit, everyMs }: Asked,
): Listed<A> {
  const { place, link } = useFrame();
  const { cursor, ...named } = place.query;
  const known = Object.entries(named).filter(([name]) => fields?.includes(name) ?? true);
  const filters: Filters = { ...preset, ...Object.fromEntries(known) };
  const answer = useAnswer<A>(
    {
      path,
      query: { limit, ...queryOf(filters), cursor },
      ...(namespace === null && { namespace }),
    },
    everyMs,
  );
  const linkTo = (changed: Changed): string => link(page, null, { ...filters, ...changed });
  return {
    ...answer,
    page,
    filters,
    isFirst: cursor === undefined,
    choice: useChoice(`${place.namespace} ${JSON.stringify(filters)}`),
    linkTo,
    change: (changed) => {
      window.location.hash = linkTo(changed);
    },
  };
}

function useChoice(among: string): Choice {
  const [made, setMade] = useState({ among, chosen: NONE });
  return {
    chosen: made.among === among ? made.chosen : NONE,
    choose: (chosen) => setMade({ among, chosen }),
  };
}

const NONE: ReadonlySet<string> = new Set();

interface Props<A, Row> {
  readonly of: Listed<A>;
  readonly rowsOf: (answer: A) => readonly Row[];
  readonly layout: Layout<Row>;
  /** Beside the title. */
  readonly summary?: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** Above the rows: what they are looked for by, and what can be done to many of them. */
  readonly children?: ComponentChildren;
  /** In place of rows, where there is none on any page. */
  readonly empty?: ComponentChildren;
  /** Below them; empty: nothing. */
  readonly noteOf?: (answer: A) => string;
  readonly hasChoice?: boolean;
}

export function ListPage<A extends Answer, Row>(props: Props<A, Row>) {
  const { of: list, rowsOf, layout, summary, actions, children, empty, noteOf, hasChoice } = props;
  return (
    <>
      <Head title={t(list.page)} actions={actions}>
        {summary}
      </Head>
      {children}
      <Loaded of={list}>
        {(answer) => {
          const rows = rowsOf(answer);
          const next = answer.next_cursor;
          if (rows.length === 0 && next === null && list.isFirst) return empty;
          const note = rows.length === 0 ? '' : (noteOf?.(answer) ?? '');
          return (
            <>
              {rows.length === 0 ? (
                <Empty title={t(next === null ? 'list.no-more' : 'list.none-yet')} />
              ) : (
                <Table
                  of={layout}
                  rows={rows}
                  reload={list.reload}
                  choice={hasChoice === true ? list.choice : undefined}
                />
              )}
              {note !== '' && <p class="note">{note}</p>}
              <Pager of={list} next={next} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

/** Pages of a list: the first one, and the one behind this. @param next null: there is nothing more. */
function Pager<A>({
  of: { isFirst, linkTo },
  next,
}: {
  readonly of: Listed<A>;
  readonly next: string | null;
}) {
  if (isFirst && next === null) return null;
  return (
    <nav class="pager" aria-label={t('pager')}>
      {!isFirst && <a href={linkTo({})}>{t('pager.first')}</a>}
      {next !== null && <a href={linkTo({ cursor: next })}>{t('pager.next')}</a>}
    </nav>
  );
}
