/** Says that nobody answers, and since when: what is shown is from before. A master may be silent without being gone. */
import { useEffect, useState } from 'preact/hooks';
import { call, reach } from '../api/call.ts';
import { language, t } from '../words/words.ts';

const EVERY_MS = 2_000;
const SILENT_MS = 3_000;

/** @param isWatching whether it asks while nothing else is known to be wrong. */
export function Banner({ isWatching }: { readonly isWatching: boolean }) {
  const since = useAwaySince();
  const isAsking = isWatching || since !== null;
  useEffect(() => {
    if (!isAsking) return undefined;
    const timer = setInterval(() => {
      if (document.hidden || Date.now() - reach.answeredAt() < EVERY_MS) return;
      const request = { path: '/whoami', namespace: null, timeoutMs: SILENT_MS };
      void call(request).catch(() => undefined);
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [isAsking]);
  if (since === null) return null;
  const at = new Date(since).toLocaleTimeString(language(), { hour12: false });
  return (
    <p class="banner" role="alert">
      {t('away', { at })}
    </p>
  );
}

export function useAwaySince(): number | null {
  const [since, setSince] = useState(reach.awaySince);
  useEffect(() => {
    return reach.onChange(() => setSince(reach.awaySince()));
  }, []);
  return since;
}
