/** Why a task is where it is, in a sentence, and the least that would start it, as a button for whoever may press it. */
import type { TaskView, TypeView, WhyView } from '@soda-scheduler/protocol';
import { call, type Request } from '../../api/call.ts';
import type { About, RouteName } from '../../api/me.ts';
import { ask, inWords, type Question, reasonField, tell } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { useAnswer } from '../../frame/resource.ts';
import { staying } from '../../frame/route.ts';
import { Section } from '../../parts/page.tsx';
import { TimeInFull } from '../../parts/time.tsx';
import { headOf, t, wordOf } from '../../words/words.ts';
import { raised } from '../fleet/raised.ts';
import { changeSaid, whySaid } from './why-said.ts';

interface Props {
  readonly taskId: string;
  readonly suspended: TaskView['suspended'];
  readonly reload: () => void;
}

export function Why({ taskId, suspended, reload }: Props) {
  const path = `/task/${encodeURIComponent(taskId)}/why`;
  const { data: why, reload: askAgain } = useAnswer<WhyView>({ path });
  if (why === null || ['running', 'offered', 'ended'].includes(why.reason)) return null;
  const { ahead, estimate, change, details } = why;
  const suspendedIf = (reason: WhyView['reason']) => (reason === 'suspended' ? suspended : null);
  return (
    <Section title={t('why')}>
      <div class="why">
        <p>
          <strong>{wordOf('why', why.reason)}</strong>{' '}
          {whySaid({ ...why, suspended: suspendedIf(why.reason) })}
        </p>
        {change !== null && (
          <p class="change">
            {changeSaid(why)}{' '}
            <ChangeButton
              why={why}
              done={() => {
                askAgain();
                reload();
              }}
            />
          </p>
        )}
        {details.behind.length > 0 && (
          <ul>
            {details.behind.map((one) => (
              <li key={one.message}>
                {t('why.then')} {headOf('why', one.reason)}{' '}
                {whySaid({ ...one, suspended: suspendedIf(one.reason) })}
              </li>
            ))}
          </ul>
        )}
        <p class="soft">
          {ahead !== null &&
            ahead > 0 &&
            t(details.ahead_at_least === true ? 'why.ahead-at-least' : 'why.ahead', {
              n: ahead,
            })}{' '}
          {estimate !== null && (
            <>
              {t('why.start')} <TimeInFull at={estimate.start_at} />
            </>
          )}
        </p>
      </div>
    </Section>
  );
}

/** What does it, and who may; null: it is nothing that the API does. */
interface Remedy {
  readonly route: RouteName;
  readonly about: About;
  readonly verb: string;
  /** May have to look at what is set already. */
  readonly question: () => Promise<Question>;
}

function ChangeButton({ why, done }: { readonly why: WhyView; readonly done: () => void }) {
  const { place, may } = useFrame();
  const remedy = remedyOf(why, place.namespace, done);
  if (remedy === null) return null;
  const { route, about, verb, question } = remedy;
  if (!may(route, about)) return null;
  const press = async (): Promise<void> => {
    const stays = staying();
    try {
      const asked = await question();
      if (stays()) ask(asked);
    } catch (error) {
      tell(inWords(error));
    }
  };
  return (
    <button type="button" class="main" onClick={() => void press()}>
      {verb}
    </button>
  );
}

function remedyOf(why: WhyView, namespace: string, done: () => void): Remedy | null {
  const { change, task_id: taskId } = why;
  if (change === null || !isDoable(change.action)) return null;
  const verb = t(`why.do.${change.action}`);
  const [kind = '', name = ''] = (change.target ?? '').split(/\/(.*)/s);
  const part = encodeURIComponent(name);
  const simple = (route: RouteName, request: Request, about: About = {}): Remedy => ({
    route,
    verb,
    about,
    question: () =>
      Promise.resolve({
        title: changeSaid(why),
        verb,
        request: () => ({ namespace, ...request }),
        done,
      }),
  });
  const { action } = change;
  switch (action) {
    case 'resume':
      if (kind === 'task') {
        const path = `/task/${encodeURIComponent(taskId)}/resume`;
        return simple('POST /task/{task_id}/resume', { method: 'POST', path });
      }
      if (kind === 'type') {
        const path = `/type/${part}/resume`;
        return simple('POST /type/{type}/resume', { method: 'POST', path }, { type: name });
      }
      return simple(
        'POST /resume',
        {
          method: 'POST',
          path: '/resume',
          body: { scope: kind, ...(name !== '' && { value: name }) },
        },
        { pause: { scope: kind, value: name } },
      );
    case 'undrain': {
      const path = `/executor/${part}/resume`;
      return simple('POST /executor/{executor_id}/resume', { method: 'POST', path });
    }
    case 'add_label': {
      const request = {
        method: 'PATCH',
        path: `/executor/${part}`,
        body: { labels: change.value },
      } as const;
      return simple('PATCH /executor/{executor_id}', request);
    }
    case 'raise_limit':
      return raiseOf(why, { kind, name, namespace, verb, simple, done });
  }
}

/** What the API can do: nobody starts an executor by it, or makes time pass. */
function isDoable(action: string): action is 'resume' | 'undrain' | 'add_label' | 'raise_limit' {
  return ['resume', 'undrain', 'add_label', 'raise_limit'].includes(action);
}

interface Raised {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly verb: string;
  readonly simple: (route: RouteName, request: Request) => Remedy;
  readonly done: () => void;
}

function raiseOf(why: WhyView, { kind, name, namespace, verb, simple, done }: Raised): Remedy {
  const { change, details } = why;
  const max = change?.value;
  if (kind === 'namespace') {
    const path = `/namespace/${namespace}`;
    const body = { max_running: max };
    return simple('PUT /namespace/{namespace}', { method: 'PUT', path, body, namespace: null });
  }
  if (kind === 'limit') {
    const path = `/limit/${encodeURIComponent(name)}`;
    return simple('PUT /limit/{name}', { method: 'PUT', path, body: { max } });
  }
  const path = `/type/${encodeURIComponent(name)}`;
  return {
    route: 'PUT /type/{type}/override',
    verb,
    about: { type: name },
    question: async () => {
      // An override is put as a whole: what it says already stays.
      const type = await call<TypeView>({ path, namespace });
      const override = raised(type, details.limit?.name ?? 'limits.concurrency.max', max);
      return {
        title: changeSaid(why),
        text: t('why.override'),
        verb,
        fields: [reasonField(true)],
        request: ({ reason }) => ({
          method: 'PUT',
          path: `${path}/override`,
          namespace,
          body: { ...override, reason },
        }),
        done,
      };
    },
  };
}
