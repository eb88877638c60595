/** Types of which only so many tasks may run with the same value in their params, and which values hold others back now. */
import type { TaskList, TypeList, WhyView } from '@soda-scheduler/protocol';
import { call } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { useAnswer, useResource } from '../../frame/resource.ts';
import { SodaCommand } from '../../parts/copy.tsx';
import { Link } from '../../parts/link.tsx';
import { Empty, Head, Loaded, Section } from '../../parts/page.tsx';
import { type Layout, Table } from '../../parts/table.tsx';
import { t } from '../../words/words.ts';
import { CountsOfAll } from '../fleet/types.tsx';
import { LimitTabs } from './tabs.tsx';

/** Held tasks that are asked why: each is a request. */
const ASKED_MAX = 12;
const SLOW_MS = 15_000;

export function OneAtATimePage() {
  const { place } = useFrame();
  const { namespace } = place;
  const types = useAnswer<TypeList>({ path: '/types', query: { limit: 200 } }, SLOW_MS);
  const keys = useResource<readonly Key[]>(
    `keys ${namespace}`,
    (signal) => keysHeld(namespace, signal),
    SLOW_MS,
  );
  return (
    <>
      <Head title={t('one-at-a-time')} />
      <LimitTabs current="one-at-a-time" />
      <Loaded of={types}>{(list) => <Types of={list.types.filter(isSome)} />}</Loaded>
      {keys.data !== null && keys.data.length > 0 && (
        <Section title={t('keys-held')}>
          <Table of={keyLayout} rows={keys.data} />
          <p class="note">{t('keys-held.note', { n: ASKED_MAX })}</p>
        </Section>
      )}
    </>
  );
}

type Type = TypeList['types'][number];

const isSome = ({ limits, counts }: Type): boolean =>
  (limits?.concurrency ?? null) !== null || counts.held > 0;

function Types({ of: types }: { readonly of: readonly Type[] }) {
  if (types.length === 0) {
    return (
      <Empty title={t('one-at-a-time.none')}>
        <SodaCommand
          text={`soda type set encode limits.concurrency='{"pointer": "/input", "max": 1}'`}
        />
      </Empty>
    );
  }
  return (
    <>
      <CountsOfAll />
      <Table of={typeLayout} rows={types} />
    </>
  );
}

const typeLayout: Layout<Type> = {
  keyOf: ({ type }) => type,
  columns: [
    { title: 'type', class: 'fill', show: ({ type }) => <Link to="type" name={type} /> },
    {
      title: 'keys-held.pointer',
      text: 'id',
      show: ({ limits }) => limits?.concurrency?.pointer,
    },
    { title: 'keys-held.max', class: 'num', show: ({ limits }) => limits?.concurrency?.max },
    {
      title: 'state.held',
      class: 'num',
      show: ({ type, counts: { held } }) => (
        <Link to="tasks" query={{ type, state: 'held' }}>
          {held.toLocaleString()}
        </Link>
      ),
    },
  ],
};

type Key = NonNullable<WhyView['details']['concurrency']> & { readonly type: string };

/** The values of the newest held tasks, each once. */
async function keysHeld(namespace: string, signal: AbortSignal): Promise<readonly Key[]> {
  const { tasks } = await call<TaskList>({
    path: '/tasks',
    namespace,
    query: { state: 'held', limit: ASKED_MAX },
    signal,
  });
  const found = await Promise.all(
    tasks.map(async ({ task_id: id, type }): Promise<Key[]> => {
      const path = `/task/${encodeURIComponent(id)}/why`;
      const { details } = await call<WhyView>({ path, namespace, signal });
      const { concurrency } = details;
      return concurrency === undefined ? [] : [{ ...concurrency, type }];
    }),
  );
  const keys = new Map(found.flat().map((key) => [keyLayout.keyOf(key), key]));
  return [...keys.values()].sort((a, b) => b.held - a.held);
}

const keyLayout: Layout<Key> = {
  keyOf: ({ type, pointer, value }) => `${type} ${pointer} ${value}`,
  columns: [
    { title: 'keys-held.value', class: 'fill', text: 'id', show: ({ value }) => value },
    { title: 'type', class: 'wide', show: ({ type }) => <Link to="type" name={type} /> },
    { title: 'keys-held.by', text: 'id', show: ({ names }) => names.join(', ') },
    { title: 'state.held', class: 'num', show: ({ held }) => held.toLocaleString() },
  ],
};
