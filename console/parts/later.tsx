/** What is loaded once it is shown. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../words/words.ts';

/** @param load loads it; it fails where the master is away, or is another version than this page came from. */
export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  return function Later(props: Props) {
    const [state, setState] = useState<'loading' | 'here' | 'failed'>(
      loaded === null ? 'loading' : 'here',
    );
    useEffect(() => {
      if (loaded !== null) return;
      load().then(
        (found) => {
          loaded = found;
          setState('here');
        },
        () => setState('failed'),
      );
    }, []);
    if (state === 'failed') return <p class="refusal">{t('later.failed')}</p>;
    const Page = loaded;
    return Page === null ? <p class="loading">{t('loading')}</p> : <Page {...props} />;
  };
}
