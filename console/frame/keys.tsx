/** The keyboard: `/` finds, `?` tells which keys there are, `g` and a letter goes to a page. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../words/words.ts';
import { useFrame } from './context.ts';
import { pages } from './pages.tsx';

/** From `g` to the letter. */
const CHORD_MS = 1_500;

export function Keys() {
  const { opening, may } = useFrame();
  const [isOpen, setOpen] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  const chordAt = useRef(0);
  const reachable = Object.entries(pages).filter(
    ([, { key, route }]) => key !== undefined && (route === undefined || may(route)),
  );

  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const isSecond = Date.now() - chordAt.current < CHORD_MS;
      chordAt.current = event.key === 'g' ? Date.now() : 0;
      const page = isSecond ? reachable.find(([, { key }]) => key === event.key) : undefined;
      if (page !== undefined) window.location.hash = opening(page[0]);
      else if (event.key === '/') document.getElementById('search')?.focus();
      else if (event.key === '?') setOpen(true);
      else return;
      event.preventDefault();
    };
    const leave = (): void => setOpen(false);
    document.addEventListener('keydown', press);
    window.addEventListener('hashchange', leave);
    return () => {
      document.removeEventListener('keydown', press);
      window.removeEventListener('hashchange', leave);
    };
  });
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);

  if (!isOpen) return null;
  return (
    <dialog ref={dialog} onClose={() => setOpen(false)} aria-labelledby="keys">
      <h2 id="keys">{t('keys')}</h2>
      <dl class="facts">
        <Key keys="/">{t('search')}</Key>
        <Key keys="?">{t('keys')}</Key>
        <Key keys="Esc">{t('keys.close')}</Key>
        {reachable.map(([page, { key, title }]) => (
          <Key key={page} keys={`g ${key}`}>
            {t(title)}
          </Key>
        ))}
      </dl>
      <footer>
        <button type="button" onClick={() => dialog.current?.close()}>
          {t('keys.close')}
        </button>
      </footer>
    </dialog>
  );
}

function Key({ keys, children }: { readonly keys: string; readonly children: string }) {
  return (
    <div>
      <dt>
        {keys.split(' ').map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{children}</dd>
    </div>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.closest('input, textarea, select, dialog') !== null || target.isContentEditable)
  );
}
