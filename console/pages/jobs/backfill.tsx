/** Past times of a job that are run now: which ones is asked, how many these are is shown, and then it is begun and followed. */
import {
  type BackfillPreview,
  type BackfillRequest,
  backfillWhich,
  type JobView,
  type TriggerView,
} from '@soda-scheduler/protocol';
import { useRef } from 'preact/hooks';
import { masterNow } from '../../api/clock.ts';
import { ask, type Question } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { askToBegin } from '../../parts/bulk.tsx';
import { dayAfter } from '../../parts/days.ts';
import type { Field, Typed } from '../../parts/form/fields.ts';
import { Facts } from '../../parts/page.tsx';
import { t, wordOf } from '../../words/words.ts';
import { clockIn } from './month/zones.ts';
import { dayIn, instantOf } from './month/zones.ts';
import { pathOf } from './steer.tsx';
import { zoneOfJob } from './trigger-words.ts';

/** From then on, if nobody says otherwise. */
const DAYS_BACK = 7;
/** Where the clock of the master may stand behind what is taken for it: what is to come cannot be asked for. */
const BEHIND_MS = 3_000;

/** Of which there are times that could be missing. */
const hasTimes = ({ kind }: TriggerView): boolean => kind !== 'delay' && kind !== 'on';

/** For a job that has past times, and whoever may run them. */
export function BackfillButton({ of: job }: { readonly of: JobView }) {
  const { place, may } = useFrame();
  /** Asked again, it begins with what was said before. */
  const said = useRef<Typed>({});
  if (!job.triggers.some(hasTimes) || !may('POST /job/{name}/backfill')) return null;
  const form: Form = { job, namespace: place.namespace, said };
  return (
    <button type="button" onClick={() => ask(questionOf(form))}>
      {t('action.backfill')}
    </button>
  );
}

interface Form {
  readonly job: JobView;
  readonly namespace: string;
  readonly said: { current: Typed };
}

/** @param problem what came of it when it was asked before. */
function questionOf(form: Form, problem?: string): Question {
  const { job, namespace, said } = form;
  const zone = zoneOfJob(job.triggers);
  const path = `${pathOf(job.name)}/backfill`;
  return {
    title: t('backfill', { name: job.name }),
    text: problem ?? t('backfill.text'),
    verb: t('backfill.preview'),
    fields: fieldsOf(job, zone).map((field) => {
      const before = said.current[field.name];
      return before === undefined ? field : { ...field, initial: before };
    }),
    request: (values, body) => {
      said.current = values;
      return {
        ...{ method: 'POST', path, namespace },
        body: { trigger: job.triggers.find(hasTimes)?.name, ...body, ...spanOf(values, zone) },
      };
    },
    said: '',
    done: (answer, { body }) => begin(form, answer as BackfillPreview, body as BackfillRequest),
  };
}

function fieldsOf(job: JobView, zone: string): readonly Field[] {
  const triggers = job.triggers.filter(hasTimes).map(({ name }) => name);
  const first = `${dayAfter(dayIn(zone, masterNow()), -DAYS_BACK)}T00:00`;
  const byClock = { kind: 'datetime-local', hint: t('backfill.zone', { zone }) } as const;
  const trigger: Field = {
    ...{ name: 'trigger', label: t('job.trigger'), kind: 'select' },
    options: triggers,
    initial: triggers[0] ?? '',
  };
  return [
    ...(triggers.length > 1 ? [trigger] : []),
    { name: 'from', label: t('backfill.from'), isRequired: true, initial: first, ...byClock },
    { name: 'to', label: t('backfill.to'), ...byClock, hint: t('backfill.to.hint') },
    {
      ...{ name: 'which', label: t('backfill.which'), kind: 'select' },
      options: backfillWhich,
      inWords: (which) => wordOf('backfill.which', which),
      initial: 'missing',
    },
    { name: 'max_running', label: t('backfill.max-running'), kind: 'number', preset: '1' },
  ];
}

/** Instants, as the clocks of the zone show them; up to now, if nothing is said. */
function spanOf({ from = '', to = '' }: Typed, zone: string) {
  const [begun, over] = [from, to].map((local) => (local === '' ? null : instantOf(zone, local)));
  return {
    from: new Date(begun ?? 0).toISOString(),
    to: new Date(over ?? masterNow() - BEHIND_MS).toISOString(),
  };
}

/** @param asked what has been counted. */
function begin(form: Form, preview: BackfillPreview, asked: BackfillRequest): void {
  const { job, namespace } = form;
  const { count, exact, first, last, covered, left_out: leftOut, trigger, token } = preview;
  if (first === null || last === null) {
    const besides = [
      ...(covered > 0 ? [t('backfill.covered.n', { n: covered })] : []),
      ...(leftOut > 0 ? [t('backfill.left-out.n', { n: leftOut })] : []),
    ];
    ask(questionOf(form, [t('backfill.nothing'), ...besides].join(' ')));
    return;
  }
  const zone = zoneOfJob(job.triggers);
  const number = `${exact ? '' : t('backfill.up-to')}${count.toLocaleString()}`;
  askToBegin({
    title: t('backfill.begin', { n: count, number, name: job.name }),
    content: (
      <Facts
        of={[
          [t('backfill.first'), clockIn(zone, first)],
          [t('backfill.last'), count > 1 && clockIn(zone, last)],
          [t('trigger.zone'), zone],
          [t('job.trigger'), job.triggers.length > 1 && trigger],
          [t('backfill.max-running'), asked.max_running?.toLocaleString()],
          [t('backfill.covered'), covered > 0 && covered.toLocaleString()],
          [t('backfill.left-out'), leftOut > 0 && t('backfill.left-out.by', { n: leftOut })],
        ]}
      />
    ),
    verb: t('action.backfill'),
    namespace,
    path: `${pathOf(job.name)}/backfill`,
    body: { ...asked, token },
  });
}
