/** What holds for a while in place of what is defined for a type; what else is overridden already stays. */
import { jsonAt, type TypeView } from '@soda-scheduler/protocol';
import { type Question, reasonAndUntil, reasonField, untilField } from '../../frame/asking.tsx';
import { type Field, NONE, setAt, valueOf } from '../../parts/form/fields.ts';
import { t } from '../../words/words.ts';
import { routeField } from './definition-fields.ts';

export function overrideOf(view: TypeView, path: string, namespace: string) {
  const { limits, overrides } = view;
  const held: Partial<TypeView['overrides'][number]> = overrides[0] ?? {};
  const at = (object: object, way: string): string => {
    const text = jsonAt(JSON.stringify(object), way.split('.')) ?? '';
    return text === 'null' ? NONE : text;
  };
  const number = (way: string, label: string, unit?: string): Field => ({
    name: `limits.${way}`,
    label,
    kind: 'limit',
    initial: at(held, `limits.${way}`),
    preset: at({ limits }, `limits.${way}`),
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
      const changed: Record<string, unknown> = structuredClone({ limits: held.limits ?? {} });
      for (const field of numbers)
        setAt(changed, field.name, valueOf(field, values[field.name] ?? ''));
      const chosen = values[route.name] ?? '';
      return {
        method: 'PUT',
        path: `${path}/override`,
        namespace,
        body: {
          ...changed,
          ...(chosen !== '' && { route: chosen === rule ? held.route : { rule: chosen } }),
          ...reasonAndUntil(values),
          // Left as it is: to the second.
          ...(values['until'] === until.initial && held.until && { until: held.until }),
        },
      };
    },
  } satisfies Omit<Question, 'title' | 'verb'>;
}
