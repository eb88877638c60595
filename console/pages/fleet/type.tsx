/** One type: what keeps the first of its tasks, what is defined and overridden, and how to hold it back. */
import type { TypeView } from '@soda-scheduler/protocol';
import { callForText } from '../../api/call.ts';
import type { RouteName } from '../../api/me.ts';
import { type Question, reasonAndUntil, reasonField, untilField } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { useResource } from '../../frame/resource.ts';
import { go } from '../../frame/route.ts';
import { AskButton } from '../../parts/ask-button.tsx';
import { YES } from '../../parts/form/fields.ts';
import { Json } from '../../parts/json.tsx';
import { Missing } from '../missing.tsx';
import { Facts, Figure, Head, Loaded, Section } from '../../parts/page.tsx';
import { pausedText } from '../../parts/state.tsx';
import { TimeInFull } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';
import { LoadCharts } from '../reports/load.tsx';
import { Recent } from '../reports/recent.tsx';
import { whySaid } from '../task/why-said.ts';
import { definitionIn } from './definition.ts';
import { overrideOf } from './override.ts';
import { CountsOfAll, useSeesAllCounted } from './types.tsx';

interface Told {
  readonly type: TypeView;
  readonly text: string;
}

export function TypePage({ name }: { readonly name: string }) {
  const { place, may, link } = useFrame();
  const { namespace } = place;
  const path = `/type/${encodeURIComponent(name)}`;
  const told = useResource<Told>(`${namespace} ${name}`, async (signal) => {
    const text = await callForText({ path, namespace, signal });
    return { type: JSON.parse(text) as TypeView, text };
  });
  const view = told.data?.type;
  return (
    <>
      <Head
        title={name}
        actions={
          view !== undefined && (
            <>
              {may('POST /task/submit') && (
                <a class="button" href={link('new-task', null, { type: name })}>
                  {t('new-task')}
                </a>
              )}
              {may('PUT /type/{type}', { type: name }) && (
                <a class="button" href={link('define', name)}>
                  {t('define.verb')}
                </a>
              )}
              <Actions of={view} done={told.reload} />
            </>
          )
        }
      >
        {view !== undefined && <a href={link('failed', null, { type: name })}>{t('failed')}</a>}
        {view !== undefined && <a href={link('bookings', null, { type: name })}>{t('bookings')}</a>}
      </Head>
      <Loaded of={told} none={<Missing name={name} list="types" />}>
        {({ type, text }) => <Whole of={type} text={text} />}
      </Loaded>
    </>
  );
}

function Whole({ of: view, text }: { readonly of: TypeView; readonly text: string }) {
  const { link, may } = useFrame();
  const isLink = useSeesAllCounted();
  const { counts, paused, constraint, overrides, type } = view;
  return (
    <>
      {paused !== null && (
        <p class="remark">
          {pausedText(paused.reason)} {paused.by} <TimeInFull at={paused.at} />{' '}
          {paused.until !== null && (
            <>
              {t('field.until')} <TimeInFull at={paused.until} />
            </>
          )}
        </p>
      )}
      {constraint !== undefined && paused === null && <Constraint of={constraint} />}
      <CountsOfAll />
      <div class="figures">
        {(['waiting', 'running', 'held'] as const).map((state) => (
          <Figure
            key={state}
            n={counts[state].toLocaleString()}
            href={isLink ? link('tasks', null, { type, state }) : null}
          >
            {wordOf('state', state)}
          </Figure>
        ))}
        <Figure
          n={view.executors.toLocaleString()}
          href={may('GET /executors') ? link('executors', null, { type }) : null}
        >
          {t('executors')}
        </Figure>
      </div>
      <Recent type={type} />
      <LoadCharts type={type} />
      {overrides.map(({ limits, route, reason, by, at, until }) => (
        <Section key={at} title={t('type.overridden')}>
          <Facts
            of={[
              [t('field.reason'), reason],
              [t('operation.by'), by],
              [t('type.since'), <TimeInFull at={at} />],
              [t('field.until'), until !== null && <TimeInFull at={until} />],
            ]}
          />
          <Json text={JSON.stringify({ limits, route })} label={t('type.overridden')} />
        </Section>
      ))}
      <Section title={t('type.definition')}>
        {view.registered ? (
          <Json text={definitionIn(text)} label={t('type.definition')} />
        ) : (
          <p class="soft">{t('type.unregistered')}</p>
        )}
      </Section>
    </>
  );
}

/** It comes and goes: what is below stays where it is. */
function Constraint({ of }: { readonly of: NonNullable<TypeView['constraint']> | null }) {
  return (
    <Section title={t('type.constraint')}>
      <p class="why">
        {of === null ? (
          <span class="soft">{t('type.constraint.none')}</span>
        ) : (
          <span>
            <strong>{wordOf('why', of.reason)}</strong> {whySaid({ ...of, details: of })}
          </span>
        )}
      </p>
    </Section>
  );
}

function Actions({ of: view, done }: { readonly of: TypeView; readonly done: () => void }) {
  const { namespace } = useFrame().place;
  const { type, paused, overrides } = view;
  const path = `/type/${encodeURIComponent(type)}`;
  const button = (
    verb: 'pause' | 'resume' | 'override' | 'end' | 'forget',
    route: RouteName,
    rest: Omit<Question, 'title' | 'verb'>,
  ) => {
    const words = { title: t(`type.${verb}`, { type }), verb: t(`type.${verb}.verb`) };
    return <AskButton route={route} about={{ type }} question={{ ...words, done, ...rest }} />;
  };
  return (
    <>
      {paused === null &&
        button('pause', 'POST /type/{type}/pause', {
          text: t('type.pause.text'),
          fields: [reasonField(), untilField()],
          request: (values) => ({
            method: 'POST',
            path: `${path}/pause`,
            namespace,
            body: reasonAndUntil(values),
          }),
        })}
      {paused !== null &&
        button('resume', 'POST /type/{type}/resume', {
          request: () => ({ method: 'POST', path: `${path}/resume`, namespace }),
        })}
      {button('override', 'PUT /type/{type}/override', overrideOf(view, path, namespace))}
      {overrides.length > 0 &&
        button('end', 'DELETE /type/{type}/override', {
          request: () => ({ method: 'DELETE', path: `${path}/override`, namespace }),
        })}
      {view.registered &&
        button('forget', 'DELETE /type/{type}', forgettingOf(view, path, namespace))}
    </>
  );
}

function forgettingOf({ version }: TypeView, path: string, namespace: string) {
  return {
    text: t('type.forget.text'),
    isGrave: true,
    fields: [{ name: 'force', label: t('type.forget.force'), kind: 'check' }],
    request: ({ force }) => ({
      method: 'DELETE',
      path,
      namespace,
      query: force === YES ? { force: 'true' } : {},
      headers: { 'if-match': `"${version}"` },
    }),
    done: () => go({ namespace, page: 'types' }),
  } satisfies Omit<Question, 'title' | 'verb'>;
}
