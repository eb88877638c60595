/** Saved views: lists of tasks that people look at again and again, kept by the master for all of a namespace. */
import type { ViewView } from '@soda-scheduler/protocol';
import { useEffect } from 'preact/hooks';
import type { Question } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { type Resource, useAnswer } from '../../frame/resource.ts';
import type { Field } from '../../parts/form/fields.ts';
import { AskButton } from '../../parts/ask-button.tsx';
import type { Filters } from '../../parts/filters.tsx';
import { Link } from '../../parts/link.tsx';
import { Empty, Loaded } from '../../parts/page.tsx';
import { t } from '../../words/words.ts';

interface ViewList {
  readonly views: readonly ViewView[];
}

/** There are no more of them than the API says at once. */
const LIMIT = 200;
const EVERY_MS = 30_000;

function useViews(): Resource<ViewList> {
  return useAnswer<ViewList>({ path: '/views', query: { limit: LIMIT } }, EVERY_MS);
}

/** `#/tasks?view=name`: goes on to the list that stands under that name today, whatever it was when the link was made. */
export function OpenedView({ name }: { readonly name: string }) {
  const { link, firstView, setFirstView } = useFrame();
  const views = useViews();
  const view = views.data?.views.find((one) => one.name === name);
  const href = view && link('tasks', null, filtersOf(view));
  const isMissing = views.data !== null && view === undefined;
  useEffect(() => {
    if (href !== undefined) window.location.replace(href);
  }, [href]);
  useEffect(() => {
    if (isMissing && firstView === name) setFirstView(null);
  }, [isMissing, firstView, name]);
  return (
    <Loaded of={views}>
      {() =>
        isMissing && (
          <Empty title={t('views.missing', { name })}>
            <Link to="tasks">{t('tasks.all')}</Link>
          </Empty>
        )
      }
    </Loaded>
  );
}

/** Above the list: each as a link, and what can be done to the one that is looked at. */
export function Views({ filters }: { readonly filters: Filters }) {
  const { link } = useFrame();
  const { data, reload } = useViews();
  const all = data?.views ?? [];
  const here = all.find((view) => isSame(filtersOf(view), filters));
  const canBeSaved = data !== null && here === undefined && Object.keys(filters).length > 0;
  if (all.length === 0 && !canBeSaved) return null;
  return (
    <nav class="views" aria-label={t('views')}>
      {all.map((view) => (
        <a
          key={view.name}
          href={link('tasks', null, filtersOf(view))}
          aria-current={view === here ? 'true' : undefined}
        >
          {view.name}
        </a>
      ))}
      {canBeSaved && <Save filters={filters} done={reload} />}
      {here !== undefined && <Actions of={here} all={all} done={reload} />}
    </nav>
  );
}

function Save({ filters, done }: { readonly filters: Filters; readonly done: () => void }) {
  const { namespace } = useFrame().place;
  const question: Question = {
    title: t('views.save'),
    text: t('views.save.text'),
    verb: t('views.save'),
    fields: [nameField('')],
    request: ({ name = '' }) => saving(name, filters, namespace),
    done,
  };
  return <AskButton route="PUT /view/{name}" question={question} isQuiet />;
}

interface ActionsProps {
  readonly of: ViewView;
  readonly all: readonly ViewView[];
  readonly done: () => void;
}

function Actions({ of: view, all, done }: ActionsProps) {
  const { place, firstView, setFirstView } = useFrame();
  const { namespace } = place;
  const { name } = view;
  const removal = { method: 'DELETE', path: pathOf(name), namespace } as const;
  const isFirst = firstView === name;
  let renamed = name;
  const rename: Question = {
    title: t('views.rename.title', { name }),
    verb: t('views.rename'),
    fields: [nameField(name)],
    request: ({ name: next = '' }) => {
      renamed = next.trim();
      if (all.some((one) => one.name === renamed)) throw new Error(t('views.rename.taken'));
      // It stands under both names for a moment, and never under none.
      return [saving(renamed, filtersOf(view), namespace), removal];
    },
    isGoneDone: true,
    done: () => {
      if (isFirst) setFirstView(renamed);
      done();
    },
  };
  const remove: Question = {
    title: t('views.remove.title', { name }),
    verb: t('views.remove'),
    isGrave: true,
    request: () => removal,
    done: () => {
      if (isFirst) setFirstView(null);
      done();
    },
  };
  return (
    <>
      <button
        type="button"
        class="quiet"
        title={t('views.first.hint')}
        onClick={() => setFirstView(isFirst ? null : name)}
      >
        {t(isFirst ? 'views.first.on' : 'views.first')}
      </button>
      <AskButton route="PUT /view/{name}" question={rename} isQuiet />
      <AskButton route="DELETE /view/{name}" question={remove} isQuiet />
    </>
  );
}

function nameField(initial: string): Field {
  return {
    name: 'name',
    label: t('views.name'),
    hint: t('views.name.hint'),
    initial,
    isRequired: true,
  };
}

const pathOf = (name: string): string => `/view/${encodeURIComponent(name)}`;

/** In the URL numbers are text; the API takes both. */
function saving(name: string, query: Filters, namespace: string) {
  const trimmed = name.trim();
  if (trimmed === '') throw new Error(t('views.name'));
  return { method: 'PUT', path: pathOf(trimmed), namespace, body: { query } } as const;
}

/** As they stand in the URL. */
function filtersOf({ query }: ViewView): Filters {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [
      name,
      name === 'from' || name === 'to' ? new Date(value ?? 0).toISOString() : String(value),
    ]),
  );
}

function isSame(a: Filters, b: Filters): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => sameValue(name, a[name], b[name]))
  );
}

function sameValue(name: string, a = '', b = ''): boolean {
  return name === 'from' || name === 'to' ? Date.parse(a) === Date.parse(b) : a === b;
}
