/** What stands where there is nothing of the name that the URL says. */
import { Link } from '../parts/link.tsx';
import { Empty } from '../parts/page.tsx';
import { t } from '../words/words.ts';

/** By the list in which it would be. */
const texts = {
  tasks: 'missing.task',
  operations: 'missing.operation',
  executors: 'missing.executor',
  jobs: 'missing.job',
  bookings: 'missing.booking',
  types: 'missing.type',
  limits: 'missing.limit',
  calendars: 'missing.calendar',
} as const;

interface Props {
  readonly name: string;
  readonly list: keyof typeof texts;
}

export function Missing({ name, list }: Props) {
  return (
    <Empty title={t(texts[list], { name })}>
      <Link to={list}>{t('missing.list', { list: t(list) })}</Link>
    </Empty>
  );
}
