/** Finds whatever has an id, from everywhere: `/`, the id or how it begins, Enter. */
import type { ExecutorList, NamespaceList, TaskList, TypeView } from '@soda-scheduler/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, type Request } from '../api/call.ts';
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

const PAUSE_MS = 200;
const TASKS_MAX = 6;
/** Others that are asked for an id. */
const NAMESPACES_MAX = 20;

export function Search() {
  const { place, may } = useFrame();
  const { namespace } = place;
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  /** Where one was before. */
  const before = useRef<EventTarget | null>(null);
  const found = useFound(text, namespace, may('GET /executors'));
  const leave = (): void => {
    setText('');
    field.current?.blur();
  };
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
        const first = found?.[0];
        if (first === undefined) return;
        window.location.hash = hrefOf(first.place);
        leave();
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
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      {found !== null && <Results of={found} leave={leave} />}
    </form>
  );
}

/** What has this id, or one that begins so; null: that is not known yet. */
function useFound(
  text: string,
  namespace: string,
  seesExecutors: boolean,
): readonly Found[] | null {
  const [found, setFound] = useState<readonly Found[] | null>(null);
  useEffect(() => {
    const id = text.trim();
    setFound(null);
    if (id === '') return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      void look(id, namespace, seesExecutors, stop.signal).then(
        (all) => !stop.signal.aborted && setFound(all),
        () => undefined,
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, namespace, seesExecutors]);
  return found;
}

interface ResultsProps {
  readonly of: readonly Found[];
  readonly leave: () => void;
}

function Results({ of: found, leave }: ResultsProps) {
  return (
    <ul>
      {found.length === 0 && <li class="soft">{t('search.none')}</li>}
      {found.map((one) => (
        <li key={hrefOf(one.place)}>
          <a href={hrefOf(one.place)} onClick={leave}>
            <span class="soft">{t(one.kind)}</span> <span class="id">{one.name}</span>
            {one.namespace !== null && <span class="soft"> {one.namespace}</span>}
          </a>
        </li>
      ))}
    </ul>
  );
}

async function look(
  id: string,
  namespace: string,
  seesExecutors: boolean,
  signal: AbortSignal,
): Promise<Found[]> {
  const part = encodeURIComponent(id);
  const ask = <T,>(request: Request) => call<T>({ signal, ...request }).catch(() => null);
  const [tasks, task, executors, type, operation] = await Promise.all([
    ask<TaskList>({ path: '/tasks', namespace, query: { id_prefix: id, limit: TASKS_MAX } }),
    ask({ path: `/task/${part}`, namespace }),
    seesExecutors ? ask<ExecutorList>({ path: '/executors', namespace, query: { id } }) : null,
    ask<TypeView>({ path: `/type/${part}`, namespace }),
    id.startsWith('op-') ? ask({ path: `/operation/${part}`, namespace }) : null,
  ]);
  const found = (kind: TextName, page: string, name: string): Found => ({
    kind,
    name,
    namespace: null,
    place: { namespace, page, name },
  });
  const ids = new Set([
    ...(task === null ? [] : [id]),
    ...(tasks?.tasks ?? []).map(({ task_id: one }) => one),
  ]);
  const all = [
    ...[...ids].map((one) => found('task', 'task', one)),
    ...(executors?.executors ?? []).map((one) => found('executor', 'executor', one.executor_id)),
    ...(type === null || !isKnown(type) ? [] : [found('type', 'type', type.type)]),
    ...(operation === null ? [] : [found('operation', 'operation', id)]),
  ];
  return all.length > 0 ? all : lookElsewhere(id, namespace, ask);
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
