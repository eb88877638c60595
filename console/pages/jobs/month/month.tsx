/** A month of a job as a calendar: what became of its times, and what will. One day of it is looked at more closely. */
import type {
  JobNext,
  JobView,
  OccurrenceList,
  OccurrenceView,
  TaskList,
} from '@soda-scheduler/protocol';
import type { ComponentChildren } from 'preact';
import { call } from '../../../api/call.ts';
import { masterNow } from '../../../api/clock.ts';
import { useFrame } from '../../../frame/context.ts';
import { useAnswer, useResource } from '../../../frame/resource.ts';
import { dayAfter, isDay, isMonth, monthAfter, WEEKDAYS, weeksOf } from '../../../parts/days.ts';
import { Loaded, Section } from '../../../parts/page.tsx';
import { monthText } from '../../../parts/time.tsx';
import { language, t, wordOf } from '../../../words/words.ts';
import { nameOf } from '../cron-words.ts';
import { DayTurns } from './day.tsx';
import { pathOf } from '../steer.tsx';
import { zoneOfJob } from '../trigger-words.ts';
import { byDay, comingTurn, countsOf, pastTurn, shownAt, type Turn } from './turns.ts';
import { dayIn, startOf, timeIn } from './zones.ts';

/** Of what has been: pages of so many, so many pages. A job of each minute has more than anybody looks at. */
const PAGE_ROWS = 200;
const PAGES_MAX = 3;
const NEXT_MAX = 500;
const COMING_MS = 20_000;
/** Above it a day tells numbers in place of times. */
const TIMES_SHOWN = 3;

interface Past {
  readonly rows: readonly OccurrenceView[];
  /** What is before it was not asked for; null: all is here. */
  readonly since: string | null;
  readonly states: ReadonlyMap<string, string>;
}

export function JobMonth({
  of: job,
  reload,
}: {
  readonly of: JobView;
  readonly reload: () => void;
}) {
  const { place, link } = useFrame();
  const { query } = place;
  const zone = zoneOfJob(job.triggers);
  const today = dayIn(zone, masterNow());
  const month = isMonth(query['month']) ? query['month'] : today.slice(0, 7);
  const [from, to] = [month, monthAfter(month, 1)].map((one) =>
    new Date(startOf(zone, `${one}-01`)).toISOString(),
  ) as [string, string];
  const isNow = month === today.slice(0, 7);
  const { past, coming } = useMonth(job.name, [from, to], isNow);
  const asked = query['day'];
  const day = isDay(asked) && asked.startsWith(month) ? asked : today;
  const linkTo = (changed: Record<string, string>) => link('job', job.name, changed);
  const again = (): void => {
    past.reload();
    coming.reload();
    reload();
  };
  return (
    <Section
      title={monthText(month)}
      actions={<Months of={job.name} month={month} isNow={isNow} zone={zone} />}
    >
      <Loaded of={past}>
        {(found) => {
          const { days, unknown } = turnsIn(found, coming.data?.next ?? [], to, zone);
          return (
            <div class="month-and-day">
              <Grid
                month={month}
                today={today}
                cellOf={(one) => (
                  <Day
                    day={one}
                    turns={days.get(one) ?? []}
                    zone={zone}
                    isUnknown={unknown(one)}
                    isChosen={one === day}
                    href={linkTo({ month, day: one })}
                  />
                )}
              />
              {day.startsWith(month) && (
                <DayTurns
                  of={job}
                  day={day}
                  zone={zone}
                  turns={days.get(day) ?? []}
                  isUnknown={unknown(day)}
                  span={[startOf(zone, day), startOf(zone, dayAfter(day))]}
                  reload={again}
                />
              )}
            </div>
          );
        }}
      </Loaded>
    </Section>
  );
}

/** What has been and what is to come, from an instant to another one. @param isNow the present is in it. */
function useMonth(job: string, [from, to]: readonly [string, string], isNow: boolean) {
  const { namespace } = useFrame().place;
  const past = useResource<Past>(`month ${namespace} ${job} ${from}`, (signal) =>
    pastOf(job, namespace, from, to, signal),
  );
  const since = isNow ? {} : { from: new Date(Date.parse(from) - 1).toISOString() };
  const hasEnded = Date.parse(to) <= masterNow();
  const request = { path: `${pathOf(job)}/next`, query: { count: NEXT_MAX, ...since } };
  return { past, coming: useAnswer<JobNext>(hasEnded ? null : request, COMING_MS) };
}

/** By days, and of which of these more is to be asked for. */
function turnsIn({ rows, since, states }: Past, next: JobNext['next'], to: string, zone: string) {
  const within = next.filter(({ nominal }) => nominal < to);
  const turns = [...rows.map((row) => pastTurn(row, states)), ...within.map(comingTurn)];
  const last = within.length === NEXT_MAX ? within.at(-1)?.nominal : undefined;
  const unknown = (day: string): boolean =>
    (since !== null && day < dayIn(zone, Date.parse(since))) ||
    (last !== undefined && day > dayIn(zone, Date.parse(last)));
  return { days: byDay(turns, zone), unknown };
}

interface MonthsProps {
  /** The job. */
  readonly of: string;
  readonly month: string;
  readonly isNow: boolean;
  readonly zone: string;
}

/** To the months beside it. */
function Months({ of: name, month, isNow, zone }: MonthsProps) {
  const { link } = useFrame();
  const to = (by: number): string => link('job', name, { month: monthAfter(month, by) });
  return (
    <>
      <a href={to(-1)} aria-label={t('month.before')}>
        ←
      </a>
      <a href={to(1)} aria-label={t('month.after')}>
        →
      </a>
      {!isNow && <a href={link('job', name)}>{t('month.now')}</a>}
      <span class="soft">{zone}</span>
    </>
  );
}

interface GridProps {
  readonly month: string;
  readonly today: string;
  readonly cellOf: (day: string) => ComponentChildren;
}

function Grid({ month, today, cellOf }: GridProps) {
  return (
    <table class="job-month" aria-label={monthText(month)}>
      <thead>
        <tr>
          {WEEKDAYS.map((weekday) => (
            <th key={weekday}>{nameOf(weekday)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeksOf(month).map((week) => (
          <tr key={week.find(Boolean)}>
            {week.map((day, at) => (
              <td key={at} class={day === today ? 'job-today' : ''}>
                {day !== null && cellOf(day)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

async function pastOf(
  job: string,
  namespace: string,
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<Past> {
  const rows: OccurrenceView[] = [];
  let cursor: string | undefined;
  let pages = 0;
  // How runs have ended, of as many as one page has: of others it is only known that they ran.
  const tasks = call<TaskList>({
    ...{ path: '/tasks', namespace, signal },
    query: { job, limit: PAGE_ROWS },
  }).catch(() => null);
  do {
    const page: OccurrenceList = await call<OccurrenceList>({
      ...{ path: `${pathOf(job)}/occurrences`, namespace, signal },
      query: { from, to, limit: PAGE_ROWS, cursor },
    });
    rows.push(...page.occurrences);
    cursor = page.next_cursor ?? undefined;
    pages += 1;
  } while (cursor !== undefined && pages < PAGES_MAX);
  const states = new Map((await tasks)?.tasks.map(({ task_id: id, state }) => [id, state]));
  return { rows, since: cursor === undefined ? null : (rows.at(-1)?.nominal ?? null), states };
}

interface DayProps {
  readonly day: string;
  readonly turns: readonly Turn[];
  readonly zone: string;
  /** Of more than were asked for. */
  readonly isUnknown: boolean;
  readonly isChosen: boolean;
  readonly href: string;
}

function Day({ day, turns, zone, isUnknown, isChosen, href }: DayProps) {
  const counts = [...countsOf(turns)];
  const areFew = turns.length <= TIMES_SHOWN && turns.every(({ count }) => count === 1);
  const told = areFew
    ? turns.map((turn) => {
        const time = timeIn(zone, Date.parse(shownAt(turn))).slice(0, 5);
        return { key: turn.key, state: turn.state, text: time };
      })
    : counts.map(([state, n]) => ({
        key: state,
        state,
        text: n === 0 ? '' : `× ${n.toLocaleString(language())}`,
      }));
  return (
    <a href={href} class="job-day" aria-current={isChosen ? 'date' : undefined}>
      <b>
        {Number(day.slice(8))} <span class="sr">{monthText(day.slice(0, 7))}</span>
      </b>
      {told.map(({ key, state, text }) => (
        <span key={key} class="turn" title={wordOf('turn', state)}>
          <i class={`dot dot-${state}`} aria-hidden="true" />
          <span>
            {text} <span class="sr">{wordOf('turn', state)}</span>
          </span>
        </span>
      ))}
      {isUnknown && <span class="soft">…</span>}
    </a>
  );
}
