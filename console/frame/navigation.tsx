/** Where one can go from everywhere: pages that this token may see, any id, other namespaces. */
import type { NamespaceList } from '@soda-scheduler/protocol';
import { useEffect, useRef } from 'preact/hooks';
import { call } from '../api/call.ts';
import { inWords, tell } from './asking.tsx';
import { t, wordOf } from '../words/words.ts';
import { ClockNote } from '../parts/time.tsx';
import { useAwaySince } from './banner.tsx';
import { Choices } from './choices.tsx';
import { useFrame } from './context.ts';
import { pages } from './pages.tsx';
import { useAnswer } from './resource.ts';
import { go } from './route.ts';
import { Search } from './search.tsx';
import type { Settings } from './settings.ts';

interface Props {
  readonly settings: Settings;
  readonly change: (changed: Partial<Settings>) => void;
}

export function Navigation({ settings, change }: Props) {
  const { me, place, link, opening, may } = useFrame();
  const awaySince = useAwaySince();
  const menu = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone the menu is one line, and longer than the screen.
    menu.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [place.page]);
  const logOut = async (): Promise<void> => {
    try {
      await call({ method: 'DELETE', path: '/session', namespace: null });
      window.location.reload();
    } catch (error) {
      tell(inWords(error));
    }
  };
  return (
    <header class="navigation">
      <a class="brand" href={link('')}>
        Soda
      </a>
      <Search />
      <NamespaceSwitch />
      <nav ref={menu} aria-label={t('pages')}>
        {Object.entries(pages).map(([page, { title, route, isInMenu, keptFor }]) =>
          isInMenu && (route === undefined || may(route)) ? (
            <a
              key={page}
              href={opening(page)}
              aria-current={
                place.page === page || keptFor?.includes(place.page) ? 'page' : undefined
              }
            >
              {t(title)}
            </a>
          ) : null,
        )}
      </nav>
      <div class="foot">
        <p class="live">
          <i
            class={`dot ${awaySince === null ? 'dot-succeeded' : 'dot-failed'}`}
            aria-hidden="true"
          />
          {awaySince === null ? t('live') : t('live.away')}
        </p>
        <p class="soft">
          {me.name ?? t('me.open')} · {wordOf('role', me.role)}
        </p>
        {me.csrf !== undefined && (
          <button type="button" class="quiet" onClick={() => void logOut()}>
            {t('logout')}
          </button>
        )}
        <a class="soft" href="docs/index.html" target="_blank">
          {t('docs')}
        </a>
        <Choices settings={settings} change={change} />
        <ClockNote />
        <p class="soft zone">{Intl.DateTimeFormat().resolvedOptions().timeZone}</p>
      </div>
    </header>
  );
}

/** Only where there is a choice. */
function NamespaceSwitch() {
  const { place } = useFrame();
  const { data } = useAnswer<NamespaceList>(
    { path: '/namespaces', namespace: null, query: { limit: 200 } },
    60_000,
  );
  // What one looks at is another thing there, or none: the list that has it is in each.
  const list = Object.entries(pages).find(([, { keptFor }]) => keptFor?.includes(place.page));
  const page = place.name === null ? place.page : (list?.[0] ?? place.page);
  const names = new Set([...(data?.namespaces ?? []).map(({ name }) => name), place.namespace]);
  if (names.size < 2) return null;
  return (
    <select
      aria-label={t('namespace')}
      title={t('namespace')}
      value={place.namespace}
      onChange={({ currentTarget }) => go({ namespace: currentTarget.value, page })}
    >
      {[...names].sort().map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
