/** JSON of others as it is written: every digit, `1.0`, keys in their order. Only white space between values is ours. */
import { useState } from 'preact/hooks';
import { visibleJson } from '@soda-scheduler/protocol';
import { t } from '../words/words.ts';
import { Copy } from './copy.tsx';
import { indented } from './indented.ts';

/** Beyond it the rest is shown when it is asked for: a page with a megabyte of text is slow. */
const LENGTH_MAX = 20_000;

export function Json({ text, label }: { readonly text: string; readonly label: string }) {
  const [isWhole, setWhole] = useState(false);
  const shown = visibleJson(indented(text));
  const cut = isWhole ? shown : shown.slice(0, LENGTH_MAX);
  return (
    <div class="code">
      <Copy text={text} label={t('copy.exact')} />
      {/* Scrolled by keyboard too. */}
      <pre tabIndex={0} role="region" aria-label={label}>
        {cut}
      </pre>
      {cut.length < shown.length && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          {t('json.rest', { n: shown.length - cut.length })}
        </button>
      )}
    </div>
  );
}

/** With the stack that most of them have as lines of text, and the rest as it is. */
export function ErrorDetails({ text }: { readonly text: string }) {
  const { stack } = (JSON.parse(text) ?? {}) as { readonly stack?: unknown };
  if (typeof stack !== 'string') return <Json text={text} label={t('task.error')} />;
  return (
    <details>
      <summary>{t('json.stack')}</summary>
      <pre tabIndex={0} role="region" aria-label={t('json.stack')}>
        {stack}
      </pre>
      <Json text={text} label={t('task.error')} />
    </details>
  );
}
