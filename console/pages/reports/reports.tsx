/** Who has used how much, and how it went day by day: told apart by what the URL says, and the same as a file. */
import type { DailyReport, UsageFigures, UsageReport } from '@soda-scheduler/protocol';
import { hrefOfApi } from '../../api/call.ts';
import { masterNow } from '../../api/clock.ts';
import { useFrame } from '../../frame/context.ts';
import { useAnswer } from '../../frame/resource.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import {
  ChoiceFilter,
  FilterForm,
  type Filters,
  type Search,
  Tabs,
  TextFilter,
} from '../../parts/filters.tsx';
import { SodaCommand } from '../../parts/copy.tsx';
import { ListPage, useListed } from '../../parts/list-page.tsx';
import { Empty, Figure } from '../../parts/page.tsx';
import { dayText, lengthOf, monthText } from '../../parts/time.tsx';
import { language, t } from '../../words/words.ts';
import { daysOf, months, PRESET_SPAN, SPANS } from './spans.ts';
import { fieldsIn, FIELDS, usageLayout } from './usage.tsx';

const DAY_MS = 86_400_000;
const EVERY_MS = 60_000;

export function ReportsPage() {
  const { namespace } = useFrame().place;
  const list = useListed<UsageReport>('reports', {
    path: '/reports/usage',
    preset: { over: PRESET_SPAN },
    fields: ['over', 'by', 'group', 'type'],
    queryOf: (filters) => ({ ...whoOf(filters), by: fieldsIn(filters).join(',') }),
    everyMs: EVERY_MS,
  });
  const { filters, data } = list;
  const daily = useAnswer<DailyReport>(
    { path: '/reports/daily', query: whoOf(filters) },
    EVERY_MS,
  ).data;
  const file = { ...whoOf(filters), by: fieldsIn(filters).join(','), format: 'csv' };
  const isUsed = daily !== null && Object.values(daily.total).some((count) => count > 0);
  return (
    <ListPage
      of={list}
      rowsOf={({ usage }) => usage}
      layout={usageLayout(fieldsIn(filters))}
      summary={
        data !== null && (
          <span class="soft">
            {data.from !== data.to && `${dayText(data.from)} – `}
            {dayText(data.to)} · {data.zone}
          </span>
        )
      }
      actions={
        isUsed && (
          <a
            class="button"
            href={hrefOfApi({ path: '/reports/usage', namespace, query: file })}
            download={`usage-${daily.from}-${daily.to}.csv`}
          >
            {t('reports.csv')}
          </a>
        )
      }
      empty={<Nothing />}
    >
      <Spans of={list} />
      {isUsed && (
        <>
          <Totals of={daily.total} />
          {daily.days.length > 1 && <Days of={daily.days} />}
        </>
      )}
      <FilterForm>
        <By of={list} />
        <TextFilter name="group" label="group" of={list} />
        <TextFilter name="type" label="type" of={list} />
      </FilterForm>
    </ListPage>
  );
}

/** What of the filters both reports take. */
function whoOf({ over = PRESET_SPAN, group, type }: Filters) {
  return { ...daysOf(over, masterNow()), group, type };
}

function Spans({ of: list }: { readonly of: Search }) {
  const { over } = list.filters;
  return (
    <div class="spans">
      <Tabs
        of={SPANS}
        label={t('reports.days')}
        current={over}
        linkTo={(one) => list.linkTo({ over: one })}
      >
        {(one) => t(`reports.${one}`)}
      </Tabs>
      <ChoiceFilter
        name="over"
        label="reports.month"
        of={list}
        choices={months(masterNow())}
        inWords={monthText}
      />
    </div>
  );
}

/** What is told apart: one of them at least. */
function By({ of: list }: { readonly of: Search }) {
  const chosen = fieldsIn(list.filters);
  return (
    <div class="filter" role="group" aria-label={t('reports.by')}>
      <span>{t('reports.by')}</span>
      <div class="checks">
        {FIELDS.map(({ field, title }) => {
          const isChosen = chosen.includes(field);
          const others = isChosen ? chosen.filter((one) => one !== field) : [...chosen, field];
          return (
            <label key={field} class="check">
              <input
                type="checkbox"
                checked={isChosen}
                disabled={others.length === 0}
                onChange={() => list.change({ by: others.join(',') })}
              />
              {t(title)}
            </label>
          );
        })}
      </div>
    </div>
  );
}

function Totals({ of: total }: { readonly of: UsageFigures }) {
  const { submitted, succeeded, failed, expired, attempts, run_ms: runMs, wait_ms: waitMs } = total;
  const ended = succeeded + failed + expired;
  const figures = [
    ['reports.submitted', submitted],
    ['state.succeeded', succeeded],
    ['state.failed', failed],
    ['state.expired', expired > 0 && expired],
    ['reports.share', ended > 0 && shareText(succeeded / ended)],
    ['reports.run', runMs > 0 && lengthOf(runMs)],
    ['reports.wait', attempts > 0 && lengthOf(waitMs / attempts)],
  ] as const;
  return (
    <div class="figures">
      {figures.map(
        ([name, value]) =>
          value !== false && (
            <Figure key={name} n={value.toLocaleString(language())} href={null}>
              {t(name)}
            </Figure>
          ),
      )}
    </div>
  );
}

function Days({ of: days }: { readonly of: DailyReport['days'] }) {
  const over = { times: days.map(({ day }) => Date.parse(day)), stepMs: DAY_MS, isOfDays: true };
  const of = (figure: 'succeeded' | 'canceled' | 'expired' | 'failed' | 'success_share') =>
    days.map(({ [figure]: value }) => value);
  return (
    <div class="charts">
      <Chart
        {...over}
        title="reports.ended"
        kind="bars"
        series={[
          { title: 'state.succeeded', ink: 'done', values: of('succeeded') },
          { title: 'state.canceled', ink: 'soft', values: of('canceled') },
          { title: 'state.expired', ink: 'warn', values: of('expired') },
          { title: 'state.failed', ink: 'bad', values: of('failed') },
        ]}
      />
      <Chart
        {...over}
        title="reports.share"
        kind="lines"
        unit="share"
        series={[{ title: 'state.succeeded', ink: 'good', values: of('success_share') }]}
      />
    </div>
  );
}

function shareText(share: number): string {
  return share.toLocaleString(language(), { style: 'percent', maximumFractionDigits: 1 });
}

function Nothing() {
  return (
    <Empty title={t('reports.none')}>
      <p>{t('reports.none.how')}</p>
      <SodaCommand text="soda report usage --from -30d --by group,type" />
    </Empty>
  );
}
