/** What jobs go by: calendars, and times at which none is fired. */
import { useFrame } from '../../frame/context.ts';
import { Tabs } from '../../parts/filters.tsx';
import { t } from '../../words/words.ts';

const TABS = ['calendars', 'blackouts'] as const;

export function CalendarTabs({ current }: { readonly current: (typeof TABS)[number] }) {
  const { link } = useFrame();
  return (
    <Tabs label={t('calendars')} of={TABS} current={current} linkTo={(tab) => link(tab)}>
      {(tab) => t(tab)}
    </Tabs>
  );
}
