/** Says that nobody answers, and since when: what is shown is from before. */
import { useEffect, useState } from 'preact/hooks';
import { call, reach } from '../api/call.ts';
import { language, t } from '../words/words.ts';

const AGAIN_MS = 3_000;

export function Banner() {
  const since = useAwaySince();
  useEffect(() => {
    if (since === null) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) void call({ path: '/whoami', namespace: null }).catch(() => undefined);
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, [since]);
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
