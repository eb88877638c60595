/** What holds work back: shared limits, values that only so many tasks may have at a time, and pauses. */
import { useFrame } from '../../frame/context.ts';
import { Tabs } from '../../parts/filters.tsx';
import { t } from '../../words/words.ts';

const TABS = ['limits', 'one-at-a-time', 'pauses'] as const;

export function LimitTabs({ current }: { readonly current: (typeof TABS)[number] }) {
  const { link } = useFrame();
  return (
    <Tabs label={t('limits')} of={TABS} current={current} linkTo={(tab) => link(tab)}>
      {(tab) => t(tab === 'limits' ? 'limits.shared' : tab)}
    </Tabs>
  );
}
