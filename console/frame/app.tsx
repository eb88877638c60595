/** The whole page: who is here is known first, then where; what cannot be shown says why. */
import type { Whoami } from '@soda-scheduler/protocol';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { call, reach, Refused as RefusedCall, setCsrf } from '../api/call.ts';
import { may } from '../api/me.ts';
import { t } from '../words/words.ts';
import { Asking } from './asking.tsx';
import { Banner } from './banner.tsx';
import { FrameContext } from './context.ts';
import { Fallible, Refused } from '../parts/page.tsx';
import { Keys } from './keys.tsx';
import { useForgetting } from '../parts/form/kept.ts';
import { Login } from './login.tsx';
import { Navigation } from './navigation.tsx';
import { useNews } from './news.ts';
import { pageAt } from './pages.tsx';
import { usePlace, useStart } from './route.ts';
import { changeSettings, readSettings, type Settings } from './settings.ts';

/** Between two tries to find out who is here. */
const AGAIN_MS = 3_000;

/** Of one who has logged in the others hear, and go on. */
const tabs = new BroadcastChannel('soda-login');

/** Who is here. `ended`: nobody any more. */
type Me = Whoami | 'unknown' | 'nobody' | 'ended';

export function App() {
  const [settings, setSettings] = useState(readSettings);
  const [me, setMe] = useState<Me>('unknown');
  /** Why nobody is let in, not even to log in. */
  const [why, setWhy] = useState('');
  const change = (changed: Partial<Settings>): void =>
    // Without a master that answers they hold from the next load on; a newer one has a newer page.
    void changeSettings(changed).then(
      setSettings,
      () => reach.awaySince() === null && window.location.reload(),
    );
  const find = useCallback(async (): Promise<void> => {
    try {
      const found = await call<Whoami>({ path: '/whoami', namespace: null });
      setCsrf(found.csrf ?? null);
      setMe(found);
    } catch (error) {
      // Whoever is refused for another reason, such as a master that is busy, is logged in still.
      if (error instanceof RefusedCall && error.status === 401) return;
      if (error instanceof RefusedCall) setWhy(error.message);
      setTimeout(() => void find(), AGAIN_MS);
    }
  }, []);
  useEffect(() => {
    reach.onLoggedOut(() => setMe(withoutLogin));
    // With another token it is somebody else.
    const heard = (): void => void find();
    tabs.addEventListener('message', heard);
    void find();
    return () => tabs.removeEventListener('message', heard);
  }, [find]);
  useForgetting();

  return (
    <>
      <Banner isWatching={typeof me === 'object'} />
      {me === 'unknown' && why === '' && <p class="loading">{t('loading')}</p>}
      {me === 'unknown' && <Refused why={why} />}
      {(me === 'nobody' || me === 'ended') && (
        <Login
          hasEnded={me === 'ended'}
          settings={settings}
          change={change}
          look={find}
          // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none: it is of this origin alone
          done={() => tabs.postMessage('in')}
        />
      )}
      {typeof me === 'object' && (
        <Inside key={settings.language} me={me} settings={settings} change={change} />
      )}
    </>
  );
}

/** Whoever was here is told that he is no more. */
function withoutLogin(before: Me): Me {
  if (before === 'unknown') return 'nobody';
  return typeof before === 'object' ? 'ended' : before;
}

interface InsideProps {
  readonly me: Whoami;
  readonly settings: Settings;
  readonly change: (changed: Partial<Settings>) => void;
}

function Inside({ me, settings, change }: InsideProps) {
  const place = usePlace();
  const newsCount = useNews(place.namespace, may(me, 'GET /events'));
  const { namespace } = place;
  const frame = {
    me,
    place,
    newsCount,
    hasClockTimes: settings.times === 'clock',
    firstView: settings.views[namespace] ?? null,
    setFirstView: (name: string | null) => {
      // Another tab may have chosen meanwhile.
      const { [namespace]: _, ...others } = readSettings().views;
      change({ views: name === null ? others : { ...others, [namespace]: name } });
    },
  };
  useStart(place, focusPage);
  return (
    <FrameContext.Provider value={frame}>
      <a class="skip" href="#main" onClick={skip}>
        {t('skip')}
      </a>
      <div class="frame">
        <Navigation settings={settings} change={change} />
        <main id="main" tabIndex={-1}>
          <Fallible place={place}>
            {me.role === 'executor' ? (
              <p class="refusal">{t('login.executor')}</p>
            ) : (
              pageAt(place, me)
            )}
          </Fallible>
        </main>
      </div>
      <Asking />
      <Keys />
    </FrameContext.Provider>
  );
}

function focusPage(): void {
  document.getElementById('main')?.focus({ preventScroll: true });
}

/** The part of the URL behind `#` is where one is. */
function skip(event: Event): void {
  event.preventDefault();
  focusPage();
}
