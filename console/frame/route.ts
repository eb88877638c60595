/**
 * Goes to places, and tells where one is. Whoever goes to a page begins at its top; whoever goes back is where he was in
 * it. Browsers put that back before a page has its rows: it is done here once there are enough of them.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { hrefOf, type Place, type PlaceLike, placeOf } from './place.ts';

/** For which rows may be waited for. */
const ROWS_MS = 5_000;
/** Somebody goes on by himself. */
const OWN_WAYS = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

/** How far down each entry of the history was left, by a name that is kept in it. */
const leftAt = new Map<string, number>();
/** Null: one begins at the top. */
let arrivesAt: number | null = null;

interface Entry {
  readonly soda?: string;
}

const entryNow = (): string | undefined => (history.state as Entry | null)?.soda;

export function go(place: PlaceLike): void {
  window.location.hash = hrefOf(place);
}

/** Tells later whether one is still where one is now: whoever has gone on is not pulled along by a late answer. */
export function staying(): () => boolean {
  const { hash } = window.location;
  return () => window.location.hash === hash;
}

export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(window.location.hash));
  useEffect(() => {
    const follow = (): void => setPlace(placeOf(window.location.hash));
    window.addEventListener('hashchange', follow);
    return () => window.removeEventListener('hashchange', follow);
  }, []);
  return place;
}

/** Before any page is shown: what listens later hears of a place that is noted already. */
export function followScroll(): void {
  history.scrollRestoration = 'manual';
  let entry = nameEntry();
  let { hash } = window.location;
  const follow = (): void => {
    const known = entryNow();
    const isOther = window.location.hash !== hash;
    if (isOther) {
      // Another page is not shown yet.
      leftAt.set(entry, window.scrollY);
      arrivesAt = known === undefined ? null : (leftAt.get(known) ?? null);
    }
    // A link to where one is takes the name of the entry away.
    entry = known ?? nameEntry(isOther ? undefined : entry);
    ({ hash } = window.location);
  };
  window.addEventListener('popstate', follow);
  window.addEventListener('hashchange', follow);
  // A page that is loaded again is the browser's to put back.
  window.addEventListener('pagehide', () => (history.scrollRestoration = 'auto'));
}

function nameEntry(name = entryNow() ?? `${Date.now()} ${Math.random()}`): string {
  history.replaceState({ soda: name } satisfies Entry, '');
  return name;
}

/** Whoever goes to a page is at its beginning with the keyboard too; but not whoever has just opened the console. */
export function useStart(place: Place, focusPage: () => void): void {
  const before = useRef<Place | null>(null);
  // Before the page is seen: whoever sees it may press the next key.
  useLayoutEffect(() => {
    const [was, at] = [before.current, arrivesAt];
    before.current = place;
    arrivesAt = null;
    const isOther = was?.page !== place.page || was.name !== place.name;
    if (isOther) window.scrollTo(0, 0);
    if (isOther && was !== null) focusPage();
    return at === null ? undefined : goDown(at);
  }, [place]);
}

/** As soon as the page is long enough, unless somebody goes on by himself before. Returns what ends it. */
function goDown(to: number): () => void {
  const end = (): void => {
    observer.disconnect();
    clearTimeout(timer);
    for (const way of OWN_WAYS) window.removeEventListener(way, end);
  };
  const observer = new ResizeObserver(() => {
    window.scrollTo(0, to);
    // A browser rounds.
    if (Math.abs(window.scrollY - to) <= 1) end();
  });
  const timer = setTimeout(end, ROWS_MS);
  for (const way of OWN_WAYS) window.addEventListener(way, end, { passive: true });
  observer.observe(document.body);
  return end;
}
