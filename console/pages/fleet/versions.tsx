/** While executors of several versions are here: how many of each, and how far it is from the one to the other. */
import { type ExecutorView, quotedForShell } from '@soda-scheduler/protocol';
import { SodaCommand } from '../../parts/copy.tsx';
import { Link } from '../../parts/link.tsx';
import { Section } from '../../parts/page.tsx';
import { Bar } from '../../parts/state.tsx';
import { type Column, type Layout, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { t } from '../../words/words.ts';
import { percentsOf } from './percents.ts';

const STATES = ['idle', 'busy', 'draining'] as const;

interface Version {
  /** Empty: they do not say. */
  readonly version: string;
  readonly count: number;
  /** Of all of them. */
  readonly percent: number;
  readonly states: Readonly<Record<(typeof STATES)[number], number>>;
  readonly unready: number;
  /** When the newest of them came. */
  readonly newestAt: string;
}

/** Nothing is shown while all of them are alike. */
export function Versions({ of: executors }: { readonly of: readonly ExecutorView[] }) {
  const versions = versionsOf(executors.filter(({ connected }) => connected));
  const oldest = versions.at(-1);
  if (versions.length < 2 || oldest === undefined) return null;
  return (
    <Section title={t('versions')}>
      <Table of={versionLayout} rows={versions} />
      {oldest.version !== '' && (
        <>
          <p class="soft">{t('versions.how')}</p>
          <SodaCommand text={drainOf(oldest.version)} />
        </>
      )}
    </Section>
  );
}

function drainOf(version: string): string {
  const selector = quotedForShell(`version=${version}`);
  return `soda executor drain --selector ${selector} --max-unavailable 1 --until replaced --wait`;
}

/** Those first of which one has come last. */
function versionsOf(executors: readonly ExecutorView[]): Version[] {
  const names = [...new Set(executors.map(({ version }) => version ?? ''))];
  const ofEach = names.map((name) => executors.filter(({ version }) => (version ?? '') === name));
  const percents = percentsOf(ofEach.map(({ length }) => length));
  return names
    .map((version, index): Version => {
      const own = ofEach[index] ?? [];
      const inState = (state: string) => own.filter((one) => one.state === state).length;
      return {
        version,
        count: own.length,
        percent: percents[index] ?? 0,
        states: { idle: inState('idle'), busy: inState('busy'), draining: inState('draining') },
        unready: own.filter(({ ready }) => ready?.ok === false).length,
        newestAt: newestOf(own),
      };
    })
    .sort((a, b) => (a.newestAt < b.newestAt ? 1 : -1));
}

const newestOf = (executors: readonly ExecutorView[]): string =>
  executors.reduce(
    (newest, { connected_at: at }) => (at !== null && at > newest ? at : newest),
    '',
  );

const countOf = (state: (typeof STATES)[number]): Column<Version> => ({
  title: `executor-state.${state}`,
  class: 'num',
  show: ({ states }) => <Count n={states[state]} />,
});

function Count({ n }: { readonly n: number }) {
  return <span class={n === 0 ? 'zero' : ''}>{n}</span>;
}

const versionLayout: Layout<Version> = {
  keyOf: ({ version }) => version,
  columns: [
    {
      title: 'executor.version',
      show: ({ version }) =>
        version === '' ? (
          <span class="soft">{t('versions.none')}</span>
        ) : (
          <Link to="executors" query={{ version }}>
            {version}
          </Link>
        ),
    },
    { title: 'executors', class: 'num', show: ({ count }) => count },
    {
      title: 'versions.share',
      class: 'fill',
      show: ({ percent, version }) => <Bar of={version || t('versions.none')} percent={percent} />,
    },
    ...STATES.map(countOf),
    {
      title: 'executor.not-ready',
      class: 'num',
      show: ({ unready }) => <span class={unready === 0 ? 'zero' : 'warn'}>{unready}</span>,
    },
    {
      title: 'executor.since',
      class: 'num wide',
      show: ({ newestAt }) => <Time at={newestAt === '' ? null : newestAt} />,
    },
  ],
};
