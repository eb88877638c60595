/** What all pages have: a heading with what can be done, what stands there before there is an answer, and empty lists. */
import { Component, type ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { visibleText } from '@soda-scheduler/protocol';
import type { Place } from '../frame/place.ts';
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
    document.title = visibleText(`${title} · Soda`);
  }, [title]);
  return (
    <header class="head">
      <h1 tabIndex={-1}>{title}</h1>
      {children}
      {actions !== undefined && <div class="actions">{actions}</div>}
    </header>
  );
}

/** Why something was not done; read out as it appears. Empty: nothing. */
export function Refused({ why }: { readonly why: string }) {
  if (why === '') return null;
  return (
    <p class="refusal" role="alert">
      {why}
    </p>
  );
}

/** Shows what has come, or why nothing has. */
export function Loaded<T>({
  of: { data, refused },
  none,
  children,
}: {
  readonly of: Resource<T>;
  /** In place of what the master says of it, where there is nothing of its name. */
  readonly none?: ComponentChildren;
  readonly children: (data: T) => ComponentChildren;
}) {
  // What cannot be a name at all is the name of nothing either.
  const isNone = refused?.status === 404 || refused?.status === 400;
  if (data === null && isNone && none !== undefined) return <>{none}</>;
  return (
    <>
      <Refused why={refused?.message ?? ''} />
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

/** A number, and what is counted; a link to it, where whoever looks may see it. */
export function Figure({
  n,
  href,
  children,
}: {
  readonly n: string;
  readonly href: string | null;
  readonly children: ComponentChildren;
}) {
  const shown = (
    <>
      <b>{n}</b> {children}
    </>
  );
  return href === null ? <span>{shown}</span> : <a href={href}>{shown}</a>;
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

interface FallibleProps {
  readonly place: Place;
  readonly children: ComponentChildren;
}

/** A page that cannot be shown takes nothing else with it: it says so, until one goes elsewhere. */
export class Fallible extends Component<FallibleProps, { readonly brokenAt: Place | null }> {
  override state = { brokenAt: null };

  override componentDidCatch(error: unknown): void {
    // For whoever looks into it: the page itself has no words for people.
    reportError(error);
    this.setState({ brokenAt: this.props.place });
  }

  override render() {
    const { place, children } = this.props;
    if (this.state.brokenAt !== place) return children;
    return (
      <>
        <Head title={t('page.broken')} />
        <button type="button" onClick={() => window.location.reload()}>
          {t('page.reload')}
        </button>
      </>
    );
  }
}
