/** What is done to many at once: the master counts first, a person reads how many and which, and then it is done. */
import type { BulkPreview } from '@soda-scheduler/protocol';
import { call, Refused } from '../api/call.ts';
import { ask, type Question, reasonField, tell } from '../frame/asking.tsx';
import { useFrame } from '../frame/context.ts';
import { go, staying } from '../frame/route.ts';
import { t, type TextName } from '../words/words.ts';

export type BulkAction =
  | 'cancel'
  | 'retry'
  | 'suspend'
  | 'resume'
  | 'redeliver'
  | 'delete'
  | 'first'
  | 'last';

const LIVE = ['cancel', 'suspend', 'resume', 'first', 'last'] as const;
const ENDED = ['retry', 'redeliver', 'delete'] as const;
/** What can be done to tasks of a state; of those of no state all of it. */
const BY_STATE: ReadonlyMap<string, readonly BulkAction[]> = new Map([
  ['waiting', ['cancel', 'suspend', 'first', 'last']],
  ['held', ['cancel', 'suspend', 'first', 'last']],
  ['suspended', ['resume', 'cancel']],
  ['offered', ['cancel', 'suspend']],
  ['running', ['cancel', 'suspend']],
]);
const GRAVE = new Set<BulkAction>(['cancel', 'delete']);

/** Which tasks are meant. */
export type Meant =
  | { readonly ids: readonly string[] }
  | { readonly filter: Readonly<Record<string, string>> };

interface Props {
  readonly filters: Readonly<Record<string, string>>;
  readonly chosen: readonly string[];
  readonly forget: () => void;
}

export function BulkBar({ filters, chosen, forget }: Props) {
  const { place } = useFrame();
  const { sort: _, ...filter } = filters;
  const { state } = filter;
  const ended = state === undefined ? [] : ENDED;
  const actions = (
    state === undefined ? [...LIVE, ...ENDED] : (BY_STATE.get(state) ?? ended)
  ).filter(
    (action) => action !== 'redeliver' || chosen.length > 0 || filter['notification'] !== undefined,
  );
  const hasFilter = Object.keys(filter).length > 0;
  if (chosen.length === 0 && !hasFilter) return null;
  const meant: Meant = chosen.length > 0 ? { ids: chosen } : { filter };
  return (
    <div class="bulk">
      <span>{chosen.length > 0 ? t('bulk.chosen', { n: chosen.length }) : t('bulk.matching')}</span>
      {actions.map((action) => (
        <button
          key={action}
          type="button"
          class="quiet"
          onClick={() => void askForMany(place.namespace, action, meant, forget)}
        >
          {t(`action.${action}`)}
        </button>
      ))}
      {chosen.length > 0 && (
        <button type="button" class="quiet" onClick={forget}>
          {t('bulk.none')}
        </button>
      )}
    </div>
  );
}

/** What is counted now: it may take seconds, in which somebody presses the button again, or goes on. */
let isCounting = false;

/** Shows how many it would be, and begins it once somebody has agreed to that. */
export async function askForMany(
  namespace: string,
  action: BulkAction,
  meant: Meant,
  done: () => void = () => undefined,
): Promise<void> {
  if (isCounting) return;
  isCounting = true;
  const stays = staying();
  const request = { method: 'POST', path: '/tasks/bulk', namespace } as const;
  tell(t('bulk.counting'));
  const preview = await call<BulkPreview>({ ...request, body: { action, ...meant } }).catch(
    (error: unknown) => {
      tell(error instanceof Refused ? error.message : t('asking.away'));
      return null;
    },
  );
  isCounting = false;
  if (preview === null) return;
  tell('');
  if (!stays()) return;
  const { count, exact, sample, token } = preview;
  if (count === 0 && exact) {
    tell(t('bulk.nothing'));
    return;
  }
  const number = `${exact ? '' : t('bulk.about')}${count.toLocaleString()}`;
  askToBegin({
    title: t(`bulk.${action}` as TextName, { n: count, number }),
    text: t('bulk.sample', { ids: sample.map(({ task_id: id }) => id).join(', ') }),
    verb: t(`action.${action}`),
    isGrave: GRAVE.has(action),
    ...request,
    body: { action, ...meant, token },
    done,
  });
}

interface Counted extends Pick<Question, 'title' | 'text' | 'content' | 'verb' | 'isGrave'> {
  readonly namespace: string;
  readonly path: string;
  /** As it was when it was counted, with the token of that. */
  readonly body: object;
  readonly done?: () => void;
}

/** Whoever agrees to what has been counted begins it, and is shown how far it is. */
export function askToBegin({ namespace, path, body, done, ...question }: Counted): void {
  ask({
    ...question,
    fields: [reasonField()],
    request: ({ reason = '' }) => ({
      ...{ method: 'POST', path, namespace },
      body: { ...body, ...(reason !== '' && { reason }) },
    }),
    said: t('bulk.begun'),
    done: (answer) => {
      done?.();
      const { operation_id: id } = answer as { operation_id: string };
      go({ namespace, page: 'operation', name: id });
    },
  });
}
