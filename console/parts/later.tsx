/** What is loaded once it is shown. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { reach } from '../api/call.ts';
import { speakOfAll, t } from '../words/words.ts';

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
      if (state !== 'loading' || loaded !== null) return;
      Promise.all([load(), speakOfAll()]).then(
        ([found]) => {
          loaded = found;
          setState('here');
        },
        () => setState('failed'),
      );
    }, [state]);
    useEffect(() => {
      if (state !== 'failed') return undefined;
      return reach.onChange(() => reach.awaySince() === null && setState('loading'));
    }, [state]);
    if (state === 'failed') return <p class="refusal">{t('later.failed')}</p>;
    const Page = loaded;
    return Page === null ? <p class="loading">{t('loading')}</p> : <Page {...props} />;
  };
}
