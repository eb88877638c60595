/** Finds whatever has an id, from everywhere: `/`, the id or how it begins, Enter. */
import type {
  ExecutorList,
  JobList,
  NamespaceList,
  TaskList,
  TypeView,
} from '@soda-scheduler/protocol';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { call, Refused, type Request } from '../api/call.ts';
import { t, type TextName } from '../words/words.ts';
import { useFrame } from './context.ts';
import { hrefOf, type PlaceLike } from './place.ts';

interface Found {
  readonly kind: TextName;
  readonly name: string;
  /** Where it is another than the one looked at. */
  readonly namespace: string | null;
  readonly place: PlaceLike;
}

/** What was found up to now. */
interface Look {
  readonly found: readonly Found[];
  /** `more`: it was not looked through to the end. */
  readonly state: 'looking' | 'more' | 'done';
}

const PAUSE_MS = 200;
const TASKS_MAX = 6;
const JOBS_MAX = 6;
/** A page of tasks looks at so many, and may have none that fits: so many are looked through. */
const PAGES_MAX = 30;
/** Others that are asked for an id. */
const NAMESPACES_MAX = 20;

export function Search() {
  const { place, may } = useFrame();
  const { namespace } = place;
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  /** Where one was before. */
  const before = useRef<EventTarget | null>(null);
  const look = useLook(text, namespace, may('GET /executors'));
  /** Somebody has pressed Enter: the first that is found is opened, as soon as it is. */
  const [isAwaited, setAwaited] = useState(false);
  const leave = useCallback((): void => {
    setText('');
    field.current?.blur();
  }, []);
  const first = look?.found[0];
  useEffect(() => {
    if (!isAwaited || first === undefined) return;
    setAwaited(false);
    window.location.hash = hrefOf(first.place);
    leave();
  }, [isAwaited, first, leave]);
  useEffect(() => {
    // Whoever goes elsewhere meanwhile looks for nothing any more.
    const goOn = (): void => {
      setAwaited(false);
      leave();
    };
    window.addEventListener('hashchange', goOn);
    return () => window.removeEventListener('hashchange', goOn);
  }, [leave]);
  const press = (event: KeyboardEvent): void => {
    const { key, currentTarget: form } = event;
    const by = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (key === 'Escape') {
      leave();
      if (before.current instanceof HTMLElement) before.current.focus();
    } else if (by !== undefined) {
      const stops = [...(form as HTMLElement).querySelectorAll<HTMLElement>('input, a')];
      stops[stops.findIndex((stop) => stop === document.activeElement) + by]?.focus();
      event.preventDefault();
    }
  };
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        setAwaited(text.trim() !== '');
      }}
      onKeyDown={press}
      onFocusIn={({ relatedTarget, currentTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) before.current = relatedTarget;
      }}
    >
      <input
        ref={field}
        id="search"
        type="search"
        placeholder={t('search')}
        aria-label={t('search')}
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setAwaited(false);
        }}
      />
      {look !== null && <Results of={look} leave={leave} />}
    </form>
  );
}

/** What has this id, or one that begins so; null: nothing is known yet. */
function useLook(text: string, namespace: string, seesExecutors: boolean): Look | null {
  const [look, setLook] = useState<Look | null>(null);
  useEffect(() => {
    const id = text.trim();
    setLook(null);
    if (id === '') return undefined;
    const stop = new AbortController();
    const { signal } = stop;
    const timer = setTimeout(async () => {
      for await (const one of looks({ id, namespace, seesExecutors, signal })) {
        if (signal.aborted) return;
        setLook(one);
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, namespace, seesExecutors]);
  return look;
}

interface ResultsProps {
  readonly of: Look;
  readonly leave: () => void;
}

function Results({ of: { found, state }, leave }: ResultsProps) {
  const note = state === 'done' ? (found.length === 0 ? 'none' : null) : state;
  return (
    <ul>
      {found.map((one) => (
        <li key={hrefOf(one.place)}>
          <a href={hrefOf(one.place)} onClick={leave}>
            <span class="soft">{t(one.kind)}</span> <span class="id">{one.name}</span>
            {one.namespace !== null && <span class="soft"> {one.namespace}</span>}
          </a>
        </li>
      ))}
      {note !== null && <li class="soft">{t(`search.${note}`)}</li>}
    </ul>
  );
}

interface Wanted {
  readonly id: string;
  readonly namespace: string;
  readonly seesExecutors: boolean;
  readonly signal: AbortSignal;
}

/** All that is found up to now, again and again. Whatever is refused has not been found. */
async function* looks({ id, namespace, seesExecutors, signal }: Wanted): AsyncGenerator<Look> {
  const part = encodeURIComponent(id);
  /** A master that is busy or away has not said that there is nothing. */
  let isUnsure = false;
  const ask = <T,>(request: Request) =>
    call<T>({ signal, ...request }).catch((error: unknown) => {
      isUnsure ||= !(error instanceof Refused) || error.status >= 500;
      return null;
    });
  const tasksFrom = (cursor?: string) =>
    ask<TaskList>({
      ...{ path: '/tasks', namespace },
      query: { id_prefix: id, limit: TASKS_MAX, cursor },
    });
  const [first, task, executors, type, job, jobs, booking, operation] = await Promise.all([
    tasksFrom(),
    ask({ path: `/task/${part}`, namespace }),
    seesExecutors ? ask<ExecutorList>({ path: '/executors', namespace, query: { id } }) : null,
    ask<TypeView>({ path: `/type/${part}`, namespace }),
    ask<{ readonly name: string }>({ path: `/job/${part}`, namespace }),
    ask<JobList>({ path: '/jobs', namespace, query: { text: id } }),
    id.startsWith('bk-') ? ask({ path: `/booking/${part}`, namespace }) : null,
    id.startsWith('op-') ? ask({ path: `/operation/${part}`, namespace }) : null,
  ]);
  const found = (kind: TextName, page: string, name: string): Found => ({
    kind,
    name,
    namespace: null,
    place: { namespace, page, name },
  });
  const others = [
    ...(executors?.executors ?? []).map((one) => found('executor', 'executor', one.executor_id)),
    ...(type === null || !isKnown(type) ? [] : [found('type', 'type', type.type)]),
    ...jobsNamed(id, job, jobs?.jobs ?? []).map((name) => found('job', 'job', name)),
    ...(booking === null ? [] : [found('bookings.booking', 'booking', id)]),
    ...(operation === null ? [] : [found('operation', 'operation', id)]),
  ];
  const ids = new Set(task === null ? [] : [id]);
  const all = () => [...[...ids].map((one) => found('task', 'task', one)), ...others];
  let next: string | null = null;
  let page = first;
  for (let count = 1; ; count += 1) {
    for (const { task_id: one } of page?.tasks ?? []) if (ids.size < TASKS_MAX) ids.add(one);
    next = page === null ? next : page.next_cursor;
    if (page === null || next === null || ids.size >= TASKS_MAX || count === PAGES_MAX) break;
    yield { found: all(), state: 'looking' };
    page = await tasksFrom(next);
  }
  const known = all().length > 0 ? all() : await lookElsewhere(id, namespace, ask);
  yield { found: known, state: next === null && !isUnsure ? 'done' : 'more' };
}

/** First the one that has just this name. Of those that the API finds others have it in what is said of them. */
function jobsNamed(
  part: string,
  job: { readonly name: string } | null,
  jobs: readonly { readonly name: string }[],
): string[] {
  const names = jobs
    .map(({ name }) => name)
    .filter((name) => name.toLowerCase().includes(part.toLowerCase()));
  return [...new Set([...(job === null ? [] : [job.name]), ...names])].slice(0, JOBS_MAX);
}

/** There is an answer for every name. */
function isKnown({ registered, counts, executors }: TypeView): boolean {
  return registered || executors > 0 || Object.values(counts).some((count) => count > 0);
}

async function lookElsewhere(
  id: string,
  here: string,
  ask: <T>(request: Request) => Promise<T | null>,
): Promise<Found[]> {
  const list = await ask<NamespaceList>({
    path: '/namespaces',
    namespace: null,
    query: { limit: NAMESPACES_MAX },
  });
  const others = (list?.namespaces ?? []).map(({ name }) => name).filter((name) => name !== here);
  const answers = await Promise.all(
    others.map(async (namespace): Promise<Found[]> => {
      const task = await ask({ path: `/task/${encodeURIComponent(id)}`, namespace });
      if (task === null) return [];
      return [{ kind: 'task', name: id, namespace, place: { namespace, page: 'task', name: id } }];
    }),
  );
  return answers.flat();
}
