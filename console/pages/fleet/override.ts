/** What holds for a while in place of what is defined for a type; what else is overridden already stays. */
import type { TypeView } from '@soda-scheduler/protocol';
import { type Question, reasonAndUntil, reasonField, untilField } from '../../frame/asking.tsx';
import type { Field } from '../../parts/form/fields.ts';
import { t } from '../../words/words.ts';
import { routeField } from './definition-fields.ts';
import { limitsWith, textAt } from './raised.ts';

export function overrideOf(view: TypeView, path: string, namespace: string) {
  const { limits, overrides } = view;
  const held: Partial<TypeView['overrides'][number]> = overrides[0] ?? {};
  const number = (way: string, label: string, unit?: string): Field => ({
    name: `limits.${way}`,
    label,
    kind: 'limit',
    initial: textAt(held, `limits.${way}`),
    preset: textAt({ limits }, `limits.${way}`),
    ...(unit !== undefined && { unit }),
  });
  const numbers = [
    { ...number('max_running', t('type.max-running')), hint: t('override.hint') },
    number('max_waiting', t('define.max-waiting')),
    number('per_group.max_running', t('define.group-running')),
    number('per_group.max_waiting', t('define.group-waiting')),
    number('rate.count', t('define.rate')),
    number('rate.seconds', t('define.rate.seconds'), 's'),
  ];
  const rule = held.route?.rule ?? '';
  const until = untilField(held.until);
  const route: Field = { ...routeField(t('override.route.as-defined')), initial: rule };
  return {
    text: t('why.override'),
    fields: [...numbers, route, reasonField(true), until],
    request: (values) => {
      const chosen = values[route.name] ?? '';
      return {
        method: 'PUT',
        path: `${path}/override`,
        namespace,
        body: {
          limits: limitsWith(held.limits, numbers, values),
          ...(chosen !== '' && { route: chosen === rule ? held.route : { rule: chosen } }),
          ...reasonAndUntil(values),
          // Left as it is: to the second.
          ...(values['until'] === until.initial && held.until && { until: held.until }),
        },
      };
    },
  } satisfies Omit<Question, 'title' | 'verb'>;
}
