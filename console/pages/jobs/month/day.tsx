/** The times of one day of a job: what became of each and why, its task, and to skip what is to come. */
import type { JobNext, JobView, OccurrenceList } from '@soda-scheduler/protocol';
import { masterNow } from '../../../api/clock.ts';
import { useFrame } from '../../../frame/context.ts';
import { useAnswer } from '../../../frame/resource.ts';
import { AskButton } from '../../../parts/ask-button.tsx';
import { Link } from '../../../parts/link.tsx';
import { Table } from '../../../parts/table.tsx';
import { dayText } from '../../../parts/time.tsx';
import { t, wordOf } from '../../../words/words.ts';
import { pathOf } from '../steer.tsx';
import {
  COMING_MAX,
  comingTurn,
  nearest,
  pastTurn,
  ROWS_MAX,
  shownAt,
  type Turn,
} from './turns.ts';
import { zoneOf } from '../trigger-words.ts';
import { clockIn, timeIn } from './zones.ts';

const COMING_MS = 20_000;
const NO_STATES: ReadonlyMap<string, string> = new Map();

interface Props {
  readonly of: JobView;
  readonly day: string;
  readonly zone: string;
  readonly turns: readonly Turn[];
  /** The month does not have all of it: it is asked for by itself. */
  readonly isUnknown: boolean;
  /** From its first instant to that of the next day. */
  readonly span: readonly [number, number];
  readonly reload: () => void;
}

export function DayTurns({ of: job, day, zone, turns, isUnknown, span, reload }: Props) {
  const [from, to] = span.map((at) => new Date(at).toISOString());
  const own = useAnswer<OccurrenceList>(
    isUnknown
      ? { path: `${pathOf(job.name)}/occurrences`, query: { from, to, limit: ROWS_MAX } }
      : null,
  );
  const [begun = '', over = ''] = [from, to];
  const hasBegun = Date.parse(begun) <= masterNow();
  const later = useAnswer<JobNext>(
    isUnknown && !hasBegun
      ? {
          path: `${pathOf(job.name)}/next`,
          query: { count: COMING_MAX, from: new Date(span[0] - 1).toISOString() },
        }
      : null,
    COMING_MS,
  );
  const next = (later.data?.next ?? []).filter(({ nominal }) => nominal < over);
  const found = isUnknown
    ? [
        ...next.map(comingTurn),
        ...(own.data?.occurrences ?? []).map((one) => pastTurn(one, NO_STATES)),
      ]
    : turns;
  const rows = nearest(found);
  const isCut =
    rows.length < found.length ||
    (isUnknown && own.data?.next_cursor !== null) ||
    next.length === COMING_MAX;
  return (
    <section class="day-turns" aria-label={dayText(day)}>
      <h3>{dayText(day)}</h3>
      {rows.length === 0 ? (
        <p class="soft">{t('month.nothing')}</p>
      ) : (
        <Table of={layoutOf(job, zone, reload)} rows={rows} />
      )}
      {isCut && rows.length > 0 && <p class="note">{t('month.cut', { n: rows.length })}</p>}
    </section>
  );
}

const layoutOf = (job: JobView, zone: string, reload: () => void) => ({
  keyOf: ({ key }: Turn) => key,
  columns: [
    {
      title: 'when' as const,
      show: (turn: Turn) => (
        <span title={ownClock(job, turn)}>{timeIn(zone, Date.parse(shownAt(turn)))}</span>
      ),
    },
    {
      title: 'month.became' as const,
      class: 'fill name',
      text: 'whole',
      show: (turn: Turn) => <Became of={turn} zone={zone} hasSeveral={job.triggers.length > 1} />,
    },
    {
      title: 'action.change' as const,
      isTitleHidden: true,
      class: 'num',
      show: (turn: Turn) => <Skip of={turn} job={job} reload={reload} />,
    },
  ],
});

/** By the clocks that its trigger goes by. */
function ownClock({ triggers }: JobView, turn: Turn): string {
  const zone = zoneOf(triggers.find(({ name }) => name === turn.trigger));
  return `${clockIn(zone, shownAt(turn))} ${zone} · ${turn.nominal}`;
}

interface BecameProps {
  readonly of: Turn;
  readonly zone: string;
  readonly hasSeveral: boolean;
}

function Became({ of: turn, zone, hasSeveral }: BecameProps) {
  const { state, count, reason, trigger, taskId, at } = turn;
  return (
    <>
      <span class="state">
        <i class={`dot dot-${state}`} aria-hidden="true" />
        {wordOf('turn', state)}
        {count > 1 && ` × ${count.toLocaleString()}`}
      </span>
      {(hasSeveral || trigger === 'manual') && (
        <span class="soft"> · {trigger === 'manual' ? t('runs.by-hand') : trigger}</span>
      )}
      {state === 'shifted' && at !== null && <> → {clockIn(zone, at)}</>}
      {taskId !== null && (
        <div>
          <Link to="task" name={taskId} />
        </div>
      )}
      {reason !== null && <div class="soft">{reason}</div>}
    </>
  );
}

interface SkipProps {
  readonly of: Turn;
  readonly job: JobView;
  readonly reload: () => void;
}

/** What somebody has skipped is taken back; what a calendar leaves out is not his. */
function Skip({ of: turn, job, reload }: SkipProps) {
  const { namespace } = useFrame().place;
  const { trigger, nominal, state, isToCome } = turn;
  const skipped = job.triggers.find(({ name }) => name === trigger)?.skipped ?? [];
  const isSkipped = skipped.some((one) => Date.parse(one) === Date.parse(nominal));
  if (!isToCome || (!isSkipped && state !== 'runs' && state !== 'shifted')) return null;
  const verb = isSkipped ? 'unskip' : 'skip';
  return (
    <AskButton
      route={`POST /job/{name}/${verb}`}
      isQuiet
      question={{
        title: t(`jobs.${verb}`, { name: job.name, n: 1 }),
        text: t(`jobs.${verb}.text`),
        verb: t(`jobs.${verb}.verb`),
        request: () => ({
          method: 'POST',
          path: `${pathOf(job.name)}/${verb}`,
          namespace,
          body: { trigger, nominal },
        }),
        done: reload,
      }}
    />
  );
}
