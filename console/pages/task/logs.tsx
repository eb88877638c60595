/**
 * The log of a task while it runs, and after: the newest lines, or those from the first error on, of one attempt or all
 * that follow, by level and text.
 */
import { type LogLine, type LogPage, logLevels, visibleText } from '@soda-scheduler/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, callForText } from '../../api/call.ts';
import { inWords, tell } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { Copy } from '../../parts/copy.tsx';
import { Section } from '../../parts/page.tsx';
import { t } from '../../words/words.ts';
import { saveAs } from './save.ts';

/** Shown at most: a page of a megabyte of text is slow. */
const LINES_MAX = 2_000;
const PAGE_LIMIT = 1_000;
const EVERY_MS = 2_000;
/** From the end, within which somebody reads what comes. */
const END_PX = 20;
/** After the last letter that was typed. */
const TYPED_MS = 400;
/** Lines before the first error that are shown with it. */
const LEAD_COUNT = 5;

interface Filter {
  readonly level: string;
  readonly text: string;
  /** Empty: of the newest that has a log, and those after it. */
  readonly attempt: string;
  /** The place behind which the lines begin, of which the first are shown. Empty: the newest are. */
  readonly from: string;
}

interface Shown {
  readonly lines: readonly LogLine[];
  readonly dropped: number;
  /** Of these, behind the last line. */
  readonly lost: number;
}

const NOTHING: Shown = { lines: [], dropped: 0, lost: 0 };
const ALL: Filter = { level: '', text: '', attempt: '', from: '' };

interface Props {
  readonly taskId: string;
  readonly attempt: number;
  readonly hasEnded: boolean;
}

/** @param attempt the newest one. */
export function Logs({ taskId, attempt, hasEnded }: Props) {
  const [filter, setFilter] = useState(ALL);
  const [isAtEnd, setFollows] = useState(true);
  const { lines, dropped, lost } = useLog(taskId, hasEnded, filter);
  const isFromError = filter.from !== '';
  const follows = isAtEnd && !isFromError;
  const change = (changed: Partial<Filter>): void =>
    setFilter((before) => ({ ...before, ...changed }));
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const { current } = list;
    if (current !== null && follows) current.scrollTop = current.scrollHeight;
  }, [lines, follows]);
  if (lines.length + lost === 0 && filter === ALL) return null;
  const toFirstError = (first: LogLine): void => {
    setFollows(false);
    const line = document.getElementById(idOf(first));
    if (line !== null) return line.scrollIntoView({ block: 'center' });
    // Of a long log it may be before what is shown.
    const from = `${first.attempt}.${Math.max(0, first.n - LEAD_COUNT)}`;
    change({ level: '', text: '', from });
  };
  return (
    <Section
      title={t('logs')}
      actions={
        <>
          <Choices filter={filter} change={change} attempt={attempt} />
          <label class="check">
            <input
              type="checkbox"
              checked={follows}
              onChange={({ currentTarget: { checked } }) => {
                setFollows(checked);
                if (checked) change({ from: '' });
              }}
            />
            {t('logs.follow')}
          </label>
          <Ways taskId={taskId} filter={filter} lines={lines} toFirstError={toFirstError} />
        </>
      }
    >
      <Notes of={{ lines, dropped, lost }} isFromError={isFromError} change={change} />
      <ol
        class="log"
        ref={list}
        tabIndex={0}
        aria-label={t('logs')}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
          setFollows(scrollTop + clientHeight > scrollHeight - END_PX)
        }
      >
        {lines.map((line) => (
          <Line key={idOf(line)} line={line} />
        ))}
      </ol>
      {lost > 0 && <p class="soft">{t('logs.lost', { n: lost })}</p>}
    </Section>
  );
}

interface NotesProps {
  readonly of: Shown;
  readonly isFromError: boolean;
  readonly change: (changed: Partial<Filter>) => void;
}

/** What is not shown of it. */
function Notes({ of: { lines, dropped, lost }, isFromError, change }: NotesProps) {
  return (
    <>
      {isFromError && (
        <p class="soft">
          {t('logs.from-error', { max: LINES_MAX })}{' '}
          <button type="button" class="quiet" onClick={() => change({ from: '' })}>
            {t('logs.to-newest')}
          </button>
        </p>
      )}
      {!isFromError && lines.length === LINES_MAX && (
        <p class="soft">{t('logs.left-out', { max: LINES_MAX })}</p>
      )}
      {dropped > lost && <p class="soft">{t('logs.dropped', { n: dropped - lost })}</p>}
      {lines.length === 0 && <p class="soft">{t('logs.none')}</p>}
    </>
  );
}

interface ChoicesProps {
  readonly filter: Filter;
  readonly change: (changed: Partial<Filter>) => void;
  readonly attempt: number;
}

/** Attempts that can be chosen: who looks for an older one asks for it by the command line. */
const ATTEMPTS_MAX = 50;

function Choices({ filter, change, attempt }: ChoicesProps) {
  const attempts = Array.from({ length: Math.min(attempt, ATTEMPTS_MAX) }, (_, n) => attempt - n);
  return (
    <>
      {attempt > 1 && (
        <select
          aria-label={t('logs.attempt')}
          value={filter.attempt}
          onChange={({ currentTarget }) => change({ attempt: currentTarget.value, from: '' })}
        >
          <option value="">{t('logs.newest')}</option>
          {attempts.map((n) => (
            <option key={n} value={n}>
              {t('logs.one', { n })}
            </option>
          ))}
        </select>
      )}
      <select
        aria-label={t('logs.level')}
        value={filter.level}
        onChange={({ currentTarget }) => change({ level: currentTarget.value })}
      >
        <option value="">{t('logs.all')}</option>
        {logLevels.map((level) => (
          <option key={level} value={level}>
            {level}
          </option>
        ))}
      </select>
      <TextFilter text={filter.text} apply={(text) => change({ text })} />
    </>
  );
}

interface TextProps {
  readonly text: string;
  readonly apply: (text: string) => void;
}

/** What is typed stays, however often the page is shown anew, and counts once nobody types. */
function TextFilter({ text, apply }: TextProps) {
  const [typed, setTyped] = useState(text);
  const applied = useRef(text);
  useEffect(() => {
    if (text === applied.current) return;
    applied.current = text;
    setTyped(text);
  }, [text]);
  useEffect(() => {
    if (typed === applied.current) return undefined;
    const timer = setTimeout(() => {
      applied.current = typed;
      apply(typed);
    }, TYPED_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <input
      aria-label={t('logs.text')}
      placeholder={t('logs.text')}
      value={typed}
      spellcheck={false}
      onInput={({ currentTarget: { value } }) => setTyped(value)}
    />
  );
}

interface WaysProps {
  readonly taskId: string;
  readonly filter: Filter;
  readonly lines: readonly LogLine[];
  readonly toFirstError: (first: LogLine) => void;
}

/** To the first error, and out of the page. */
function Ways({ taskId, filter, lines, toFirstError }: WaysProps) {
  const { namespace } = useFrame().place;
  const { attempt } = filter;
  const mayHaveErrors = lines.length === LINES_MAX || lines.some(({ level }) => level === 'error');
  const find = async (): Promise<void> => {
    const first = await firstError(taskId, namespace, attempt);
    if (first === null) tell(t('logs.none'));
    else toFirstError(first);
  };
  const download = async (): Promise<void> => {
    const text = await callForText({
      path: pathOf(taskId),
      namespace,
      query: { attempt },
      headers: { accept: 'text/plain' },
    });
    saveAs(`${taskId}${attempt === '' ? '' : `.${attempt}`}.log`, text);
  };
  return (
    <>
      {mayHaveErrors && (
        <button
          type="button"
          class="quiet"
          onClick={() => void find().catch((error: unknown) => tell(inWords(error)))}
        >
          {t('logs.first-error')}
        </button>
      )}
      <Copy text={lines.map(inText).join('\n')} label={t('copy')} />
      <button
        type="button"
        class="quiet"
        onClick={() => void download().catch((error: unknown) => tell(inWords(error)))}
      >
        {t('logs.download')}
      </button>
    </>
  );
}

const pathOf = (taskId: string): string => `/task/${encodeURIComponent(taskId)}/logs`;

/** Null: there is none. A page looks at so much of a log, and may be empty. */
async function firstError(
  taskId: string,
  namespace: string,
  attempt: string,
): Promise<LogLine | null> {
  const path = pathOf(taskId);
  let after: string | undefined;
  for (;;) {
    const query = { level: 'error', limit: 1, attempt, after };
    const { lines, next } = await call<LogPage>({ path, namespace, query });
    if (lines[0] !== undefined) return lines[0];
    if (next === after) return null;
    after = next;
  }
}

/**
 * Asks for what comes after the last page, until nothing more comes, and not while nobody sees it.
 * @param hasEnded with another one all begins anew: a task that has ended may be run again.
 */
function useLog(taskId: string, hasEnded: boolean, { level, text, attempt, from }: Filter): Shown {
  const { namespace } = useFrame().place;
  const [shown, setShown] = useState<Shown>(NOTHING);
  const wanted = JSON.stringify([taskId, namespace, level, text, attempt, from]);
  const lastWanted = useRef(wanted);
  useEffect(() => {
    // What other filters have found is not shown under new ones.
    if (lastWanted.current !== wanted) setShown(NOTHING);
    lastWanted.current = wanted;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    let after = from === '' ? undefined : from;
    let count = 0;
    // Where the task alone has ended or begun anew, what is shown stays until there is something in its place.
    let isFirst = true;
    const ask = async (): Promise<void> => {
      if (!document.hidden && (await more())) return;
      if (!stop.signal.aborted) timer = setTimeout(() => void ask(), EVERY_MS);
    };
    /** Whether that was the end. */
    const more = async (): Promise<boolean> => {
      const query = { level, text, attempt, limit: PAGE_LIMIT };
      try {
        for (;;) {
          const page = await call<LogPage>({
            path: pathOf(taskId),
            namespace,
            query: { ...query, after },
            signal: stop.signal,
          });
          const isNew = page.next !== after;
          after = page.next;
          count += page.lines.length;
          if (isFirst || page.lines.length > 0 || page.dropped > 0) {
            const begins = isFirst;
            setShown((before) => joined(begins ? NOTHING : before, page, from === ''));
            isFirst = false;
          }
          if (from !== '' && count >= LINES_MAX) return true;
          if (!isNew || (page.ended && page.lines.length === 0)) return page.ended;
        }
      } catch {
        // Where it is not allowed, or away: it is asked for again.
        return false;
      }
    };
    void ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [taskId, namespace, hasEnded, level, text, attempt, from]);
  return shown;
}

function joined(
  before: Shown,
  { lines, dropped, lost_at_end: lost }: LogPage,
  keepsNewest: boolean,
): Shown {
  const all = [...before.lines, ...lines];
  return {
    lines: keepsNewest ? all.slice(-LINES_MAX) : all.slice(0, LINES_MAX),
    dropped: before.dropped + dropped,
    lost: before.lost + lost,
  };
}

const idOf = ({ attempt, n }: LogLine): string => `log-${attempt}-${n}`;

/** As it is shown: whoever pastes it into a terminal is to have no more than he has seen. */
function inText({ at, level, text, fields }: LogLine): string {
  return visibleText(
    `${at} ${level} ${text}${fields === undefined ? '' : ` ${JSON.stringify(fields)}`}`,
  );
}

function Line({ line }: { readonly line: LogLine }) {
  const { at, attempt, level, stream, text, fields } = line;
  return (
    <li id={idOf(line)} class={`log-${level}`} title={`${at} #${attempt} ${stream}`}>
      <time dateTime={at}>{new Date(at).toLocaleTimeString('en-GB')}</time>
      <b>{level}</b>
      <span>
        {text}
        {fields !== undefined && <span class="soft"> {JSON.stringify(fields)}</span>}
      </span>
    </li>
  );
}
