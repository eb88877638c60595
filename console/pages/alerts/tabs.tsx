/** What there is of alerts: those that are raised first. */
import { useFrame } from '../../frame/context.ts';
import { Tabs } from '../../parts/filters.tsx';
import { t } from '../../words/words.ts';

type Tab = 'raised' | 'cleared' | 'rules' | 'receivers';

export function AlertTabs({ current }: { readonly current: Tab }) {
  const { link, may } = useFrame();
  const tabs: Tab[] = ['raised', 'cleared'];
  if (may('GET /alert-rules')) tabs.push('rules', 'receivers');
  const linkTo = (tab: Tab): string =>
    tab === 'raised' || tab === 'cleared'
      ? link('alerts', null, tab === 'raised' ? {} : { state: tab })
      : link(`alert-${tab}`);
  return (
    <Tabs label={t('alerts')} of={tabs} current={current} linkTo={linkTo}>
      {(tab) => t(`alerts.tab.${tab}`)}
    </Tabs>
  );
}
