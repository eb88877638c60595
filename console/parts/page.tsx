/** What all pages have: a heading with what can be done, what stands there before there is an answer, and empty lists. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Resource } from '../frame/resource.ts';
import { t } from '../words/words.ts';

interface HeadProps {
  readonly title: string;
  /** Beside the title. */
  readonly children?: ComponentChildren;
  readonly actions?: ComponentChildren;
}

export function Head({ title, children, actions }: HeadProps) {
  useEffect(() => {
    document.title = `${title} · Soda`;
  }, [title]);
  return (
    <header class="head">
      <h1>{title}</h1>
      {children}
      {actions !== undefined && <div class="actions">{actions}</div>}
    </header>
  );
}

/** Shows what has come, or why nothing has. */
export function Loaded<T>({
  of: { data, refused },
  children,
}: {
  readonly of: Resource<T>;
  readonly children: (data: T) => ComponentChildren;
}) {
  return (
    <>
      {refused !== null && (
        <p class="refusal" role="alert">
          {refused.message}
        </p>
      )}
      {data === null ? refused === null && <p class="loading">{t('loading')}</p> : children(data)}
    </>
  );
}

/** An empty list teaches what would fill it. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p>{title}</p>
      {children}
    </div>
  );
}

/** Pages of a list: the first one, and those behind it. */
export function Pager({
  isFirst,
  first,
  next,
}: {
  readonly isFirst: boolean;
  readonly first: string;
  /** Null: there is nothing more. */
  readonly next: string | null;
}) {
  if (isFirst && next === null) return null;
  return (
    <nav class="pager" aria-label={t('pager')}>
      {!isFirst && <a href={first}>{t('pager.first')}</a>}
      {next !== null && <a href={next}>{t('pager.next')}</a>}
    </nav>
  );
}

/** Names and values in two columns. */
export function Facts({
  of: facts,
}: {
  readonly of: readonly (readonly [string, ComponentChildren])[];
}) {
  return (
    <dl class="facts">
      {facts
        .filter(
          ([, value]) => value !== null && value !== undefined && value !== false && value !== '',
        )
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function Section({
  title,
  children,
  actions,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly actions?: ComponentChildren;
}) {
  return (
    <section>
      <h2>
        {title}
        {actions}
      </h2>
      {children}
    </section>
  );
}
