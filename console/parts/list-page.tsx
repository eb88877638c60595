/**
 * A page that is a list. `useListed` asks for what the URL says, page by page, and keeps it fresh; `ListPage` shows it.
 * Where a request has found too little it asks for what is behind, so many times, and tells that it is looking.
 * What is particular to one list, its columns, filters, actions, and what it teaches when it is empty, its page says.
 */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { call, type Query, Refused } from '../api/call.ts';
import { useFrame } from '../frame/context.ts';
import { placeOf } from '../frame/place.ts';
import { type Resource, useResource } from '../frame/resource.ts';
import { staying } from '../frame/route.ts';
import { t, type TextName } from '../words/words.ts';
import type { Changed, Filters, Search } from './filters.tsx';
import { Empty, Head, Loaded } from './page.tsx';
import { type Choice, type Layout, Table } from './table.tsx';

/** Requests that look for what one page shows, and for how long. */
const LOOKS_MAX = 20;
const LOOKS_MS = 10_000;
/** So seldom it is looked for again where one request was not enough. */
const AGAIN_MS = 30_000;

interface Asked<A> {
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
  /** Whether what is behind is to be looked at as well. Default: never. */
  readonly isTooLittle?: (answer: A) => boolean;
  /** Two answers as one. Default: the later one, as there was nothing on the one before. */
  readonly join?: (answer: A, behind: A) => A;
}

interface Answer {
  readonly next_cursor: string | null;
}

interface Looked<A> {
  readonly answer: A;
  readonly isLooking: boolean;
}

export interface Listed<A> extends Resource<A>, Search {
  /** Its name in the URL, and of its title. */
  readonly page: TextName;
  readonly isFirst: boolean;
  /** What is shown is not all yet. */
  readonly isLooking: boolean;
  /** Of rows that these filters let through: with others nothing is chosen. */
  readonly choice: Choice;
}

export function useListed<A extends Answer>(page: TextName, asked: Asked<A>): Listed<A> {
  const { path, namespace, preset, fields, queryOf = (filters) => filters, limit } = asked;
  const { place, link } = useFrame();
  const { cursor, ...named } = place.query;
  const filtersIn = (query: Filters): Filters => {
    const known = Object.entries(query).filter(([name]) => fields?.includes(name) ?? true);
    return { ...preset, ...Object.fromEntries(known) };
  };
  const filters = filtersIn(named);
  const request = {
    ...{ path, query: { limit, ...queryOf(filters), cursor } },
    namespace: namespace === null ? null : place.namespace,
  };
  const hasGoneOn = useRef(false);
  const looked = useResource<Looked<A>>(
    JSON.stringify(request),
    async (signal, show) => {
      const ask = (from?: string) =>
        call<A>({ ...request, query: { ...request.query, cursor: from ?? cursor }, signal });
      return look(ask, asked, (part) => {
        hasGoneOn.current = part !== null;
        if (part !== null) show({ answer: part, isLooking: true });
      });
    },
    hasGoneOn.current ? AGAIN_MS : asked.everyMs,
  );
  const linkTo = (changed: Changed): string => link(page, null, { ...filters, ...changed });
  const stays = staying();
  return {
    ...looked,
    data: looked.data?.answer ?? null,
    isLooking: looked.data?.isLooking ?? false,
    page,
    filters,
    isFirst: cursor === undefined,
    choice: useChoice(`${place.namespace} ${JSON.stringify(filters)}`),
    linkTo,
    linkNow: (changed) => {
      const { cursor: _, ...now } = placeOf(window.location.hash).query;
      return link(page, null, { ...filtersIn(now), ...changed });
    },
    change: (changed) => {
      // Whoever has gone on leaves what was typed behind: the browser tells of that as of a change.
      if (stays()) window.location.hash = linkTo(changed);
    },
  };
}

/**
 * Ends where enough was found, where it has taken too long, or nobody sees the page.
 * @param goesOn is told what there is, each time before more is asked for; null: there was enough at once.
 */
async function look<A extends Answer>(
  ask: (cursor?: string) => Promise<A>,
  { isTooLittle = () => false, join = (_, behind) => behind }: Asked<A>,
  goesOn: (part: A | null) => void,
): Promise<Looked<A>> {
  const until = Date.now() + LOOKS_MS;
  let answer = await ask();
  for (let count = 1; ; count += 1) {
    const { next_cursor: next } = answer;
    const mayGoOn = count < LOOKS_MAX && Date.now() < until && !document.hidden;
    if (next === null || !mayGoOn || !isTooLittle(answer)) {
      if (count === 1) goesOn(null);
      return { answer, isLooking: false };
    }
    goesOn(answer);
    try {
      answer = join(answer, await ask(next));
    } catch (error) {
      // A master that is busy: what was found stays, and how to go on.
      if (error instanceof Refused) return { answer, isLooking: false };
      throw error;
    }
  }
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
  /** Rows stay while somebody points at them or has chosen some. Their keys have to last. */
  readonly holds?: boolean;
  /** What leads to the next page. */
  readonly further?: TextName;
}

export function ListPage<A extends Answer, Row>(props: Props<A, Row>) {
  const { of: list, rowsOf, layout, summary, actions, children, empty, noteOf, hasChoice } = props;
  const { further = 'pager.next', holds = false } = props;
  const { place } = useFrame();
  const held = useHeld({
    among: JSON.stringify(place),
    rows: list.data === null ? null : rowsOf(list.data),
    keyOf: layout.keyOf,
    chosen: holds ? list.choice.chosen : NONE,
  });
  const { rows, newCount: n } = held;
  const none = list.isLooking
    ? 'looking'
    : list.data?.next_cursor === null
      ? 'no-more'
      : 'none-yet';
  return (
    <>
      <Head title={t(list.page)} actions={actions}>
        {summary}
        {holds && (
          // What is below does not move once there is something new.
          <button type="button" class={`quiet ${n === 0 ? 'unseen' : ''}`} onClick={held.release}>
            {t('list.held', { n })}
          </button>
        )}
      </Head>
      {children}
      <div
        class="listed"
        onPointerEnter={({ pointerType: by }) => holds && by === 'mouse' && held.point(true)}
        onPointerLeave={() => held.point(false)}
      >
        <Loaded of={list}>
          {(answer) => {
            const next = answer.next_cursor;
            if (rows.length === 0 && next === null && list.isFirst) return empty;
            const note = rows.length === 0 ? '' : (noteOf?.(answer) ?? '');
            return (
              <>
                {rows.length === 0 ? (
                  <Empty title={t(`list.${none}`)} />
                ) : (
                  <Table
                    of={layout}
                    rows={rows}
                    reload={list.reload}
                    choice={hasChoice === true ? list.choice : undefined}
                  />
                )}
                {note !== '' && <p class="note">{note}</p>}
                {list.isLooking && rows.length > 0 && <p class="loading">{t('list.going-on')}</p>}
                <Pager of={list} next={next} further={further} />
              </>
            );
          }}
        </Loaded>
      </div>
    </>
  );
}

interface HeldOf<Row> {
  /** What is listed: with another list all begins anew. */
  readonly among: string;
  /** The newest. Null: there is no answer yet. */
  readonly rows: readonly Row[] | null;
  readonly keyOf: (row: Row) => string;
  readonly chosen: ReadonlySet<string>;
}

interface Held<Row> {
  readonly rows: readonly Row[];
  /** That are not shown. */
  readonly newCount: number;
  /** Shows them; what is chosen stays. */
  readonly release: () => void;
  /** Whether somebody points at the rows. */
  readonly point: (isAt: boolean) => void;
}

/**
 * Rows that stay where they are while somebody points at them, or has chosen some: what they say stays fresh, but none
 * comes or goes until then, or until it is asked for.
 */
function useHeld<Row>({ among, rows, keyOf, chosen }: HeldOf<Row>): Held<Row> {
  const [isAt, point] = useState(false);
  const [, setReleased] = useState(0);
  const kept = useRef<{ among: string; rows: readonly Row[] }>({ among, rows: [] });
  if (kept.current.among !== among) kept.current = { among, rows: [] };
  const fresh = rows ?? [];
  const byKey = new Map(fresh.map((row) => [keyOf(row), row]));
  const before = kept.current.rows;
  const isHeld = (isAt || chosen.size > 0) && before.length > 0;
  const shown = isHeld ? before.map((row) => byKey.get(keyOf(row)) ?? row) : fresh;
  kept.current.rows = shown;
  const keys = new Set(shown.map(keyOf));
  return {
    rows: shown,
    newCount: fresh.filter((row) => !keys.has(keyOf(row))).length,
    release: () => {
      const others = shown.filter((row) => chosen.has(keyOf(row)) && !byKey.has(keyOf(row)));
      kept.current.rows = [...fresh, ...others];
      setReleased((n) => n + 1);
    },
    point,
  };
}

/** Pages of a list: the first one, and the one behind this. @param next null: there is nothing more. */
function Pager<A>({
  of: { isFirst, linkTo },
  next,
  further,
}: {
  readonly of: Listed<A>;
  readonly next: string | null;
  readonly further: TextName;
}) {
  if (isFirst && next === null) return null;
  return (
    <nav class="pager" aria-label={t('pager')}>
      {!isFirst && <a href={linkTo({})}>{t('pager.first')}</a>}
      {next !== null && <a href={linkTo({ cursor: next })}>{t(further)}</a>}
    </nav>
  );
}
