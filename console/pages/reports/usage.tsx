/** The rows of a report of usage: what they are told apart by, and the figures of each. */
import type { ReportField, UsageFigures, UsageRow } from '@soda-scheduler/protocol';
import type { Filters } from '../../parts/filters.tsx';
import { Link } from '../../parts/link.tsx';
import type { Column, Layout } from '../../parts/table.tsx';
import { dayText, lengthOf } from '../../parts/time.tsx';
import { language, type TextName } from '../../words/words.ts';

export const FIELDS: readonly { readonly field: ReportField; readonly title: TextName }[] = [
  { field: 'day', title: 'reports.day' },
  { field: 'group', title: 'group' },
  { field: 'project', title: 'filter.project' },
  { field: 'env', title: 'filter.env' },
  { field: 'user', title: 'filter.user' },
  { field: 'type', title: 'type' },
];

const PRESET: readonly ReportField[] = ['group', 'type'];

/** Those that the URL names, in the order of the columns. */
export function fieldsIn({ by = '' }: Filters): readonly ReportField[] {
  const named = by.split(',');
  const fields = FIELDS.map(({ field }) => field).filter((field) => named.includes(field));
  return fields.length === 0 ? PRESET : fields;
}

export function usageLayout(fields: readonly ReportField[]): Layout<UsageRow> {
  const shown = FIELDS.filter(({ field }) => fields.includes(field));
  return {
    keyOf: (row) => JSON.stringify(fields.map((field) => row[field])),
    columns: [
      ...shown.map(
        ({ field, title }, index): Column<UsageRow> => ({
          title,
          ...(index === shown.length - 1 && { class: 'fill', text: 'name' }),
          show: (row) => <Named field={field} value={row[field] ?? null} />,
        }),
      ),
      count('submitted', 'reports.submitted', 'wide'),
      count('succeeded', 'state.succeeded'),
      count('failed', 'state.failed'),
      count('canceled', 'state.canceled', 'wide'),
      count('expired', 'state.expired', 'wide'),
      count('attempts', 'attempts', 'wide'),
      count('timed_out', 'outcome.timed_out', 'wide'),
      count('lost', 'outcome.lost', 'wide'),
      {
        title: 'reports.wait',
        class: 'num wide',
        show: ({ attempts, wait_ms: ms }) =>
          attempts === 0 ? <span class="none">–</span> : lengthOf(ms / attempts),
      },
      {
        title: 'reports.run',
        class: 'num',
        show: ({ run_ms: ms }) => (ms === 0 ? <span class="none">–</span> : lengthOf(ms)),
      },
    ],
  };
}

function count(name: keyof UsageFigures, title: TextName, where = ''): Column<UsageRow> {
  return {
    title,
    class: `num ${where}`,
    show: ({ [name]: n }) => (
      <span class={n === 0 ? 'zero' : ''}>{n.toLocaleString(language())}</span>
    ),
  };
}

/** What too many names are summed up as. */
const OTHER = '(other)';

function Named({ field, value }: { readonly field: ReportField; readonly value: string | null }) {
  if (value === null) return <span class="none">–</span>;
  if (field === 'day') return <>{dayText(value)}</>;
  if (value === OTHER) return <>{value}</>;
  if (field === 'type') return <Link to="type" name={value} />;
  return (
    <Link to="tasks" query={{ [field]: value }}>
      {value}
    </Link>
  );
}
