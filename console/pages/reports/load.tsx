/** How busy it was, of all types or of one: an hour, a day or 30 days of it, as the URL says. */
import type { LoadReport } from '@soda-scheduler/protocol';
import { call } from '../../api/call.ts';
import { masterNow } from '../../api/clock.ts';
import { useFrame } from '../../frame/context.ts';
import { useResource } from '../../frame/resource.ts';
import { Chart, type Series } from '../../parts/chart/chart.tsx';
import { Tabs } from '../../parts/filters.tsx';
import { Empty, Loaded } from '../../parts/page.tsx';
import { t, type TextName } from '../../words/words.ts';
import { type LoadFigure, type Steps, stepsOf } from './points.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const SPANS = {
  hour: { spanMs: HOUR_MS, stepMs: MINUTE_MS },
  day: { spanMs: DAY_MS, stepMs: 15 * MINUTE_MS },
  month: { spanMs: 30 * DAY_MS, stepMs: 4 * HOUR_MS },
} as const;
type Span = keyof typeof SPANS;
const SPAN_NAMES = Object.keys(SPANS) as Span[];

/** There is something new each minute. */
const EVERY_MS = 30_000;

/** Nothing where this token may not see it. */
export function LoadCharts({ type }: { readonly type?: string }) {
  const { place, may, link } = useFrame();
  const { namespace, page, name, query } = place;
  const span = SPAN_NAMES.find((one) => one === query['over']) ?? 'hour';
  const { spanMs, stepMs } = SPANS[span];
  const isAllowed = may('GET /reports/load');
  const report = useResource<LoadReport>(
    isAllowed ? JSON.stringify([namespace, type, span]) : null,
    (signal) => {
      const from = Math.floor(masterNow() / MINUTE_MS) * MINUTE_MS - spanMs;
      return call({ path: '/reports/load', namespace, query: { type, from }, signal });
    },
    EVERY_MS,
  );
  if (!isAllowed) return null;
  return (
    <section>
      <Tabs
        of={SPAN_NAMES}
        label={t('load')}
        current={span}
        linkTo={(over) => link(page, name, { ...query, over })}
      >
        {(one) => t(`load.${one}`)}
      </Tabs>
      <Loaded of={report}>
        {(answer) =>
          answer.points.length === 0 ? (
            <Empty title={t('load.none')} />
          ) : (
            <Charts of={stepsIn(answer, stepMs)} hasType={type !== undefined} />
          )
        }
      </Loaded>
    </section>
  );
}

function stepsIn(report: LoadReport, stepMs: number): Steps {
  const zoneMs = -new Date(report.to).getTimezoneOffset() * MINUTE_MS;
  // The minute that is not over yet is no gap.
  const to = new Date(Math.floor(Date.parse(report.to) / MINUTE_MS) * MINUTE_MS).toISOString();
  return stepsOf({ ...report, to }, stepMs, zoneMs);
}

function Charts({ of: steps, hasType }: { readonly of: Steps; readonly hasType: boolean }) {
  const series = (figure: LoadFigure, title: TextName, ink: string): Series => ({
    ...{ title, ink },
    values: steps.valuesOf(figure),
  });
  const waiting = [
    series('waiting', 'state.waiting', 'soft'),
    series('running', 'state.running', 'accent'),
  ];
  const { times, stepMs } = steps;
  const over = { times, stepMs };
  return (
    <div class="charts">
      <Chart
        {...over}
        title="load.ended"
        kind="bars"
        series={[
          series('succeeded', 'state.succeeded', 'done'),
          ...some(series('canceled', 'state.canceled', 'soft')),
          ...some(series('expired', 'state.expired', 'warn')),
          series('failed', 'state.failed', 'bad'),
        ]}
      />
      <Chart
        {...over}
        title="load.depth"
        kind="lines"
        isMean
        series={[...waiting, ...some(series('held', 'state.held', 'warn'))]}
      />
      {hasType ? (
        <Chart
          {...over}
          title="load.delay"
          kind="lines"
          unit="time"
          series={[series('start_delay_p95_ms', 'load.delay.p95', 'accent')]}
        />
      ) : (
        <Chart
          {...over}
          title="load.oldest"
          kind="lines"
          unit="time"
          series={[series('oldest_wait_ms', 'load.oldest.wait', 'warn')]}
        />
      )}
      <Chart
        {...over}
        title="load.failures"
        kind="lines"
        isSum
        series={[
          series('attempts_failed', 'load.failures.attempts', 'warn'),
          series('failed', 'load.failures.tasks', 'bad'),
        ]}
      />
    </div>
  );
}

/** Only where there is any. */
function some(series: Series): Series[] {
  return series.values.some((value) => (value ?? 0) > 0) ? [series] : [];
}
