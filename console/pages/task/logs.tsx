/** The log of a task while it runs, and after: the newest lines, of one attempt or all that follow, by level and text. */
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

interface Filter {
  readonly level: string;
  readonly text: string;
  /** Empty: of the newest that has a log, and those after it. */
  readonly attempt: string;
}

interface Shown {
  readonly lines: readonly LogLine[];
  readonly dropped: number;
  /** Of these, behind the last line. */
  readonly lost: number;
}

const NOTHING: Shown = { lines: [], dropped: 0, lost: 0 };
const ALL: Filter = { level: '', text: '', attempt: '' };

interface Props {
  readonly taskId: string;
  readonly attempt: number;
}

/** @param attempt the newest one. */
export function Logs({ taskId, attempt }: Props) {
  const [filter, setFilter] = useState(ALL);
  const [follows, setFollows] = useState(true);
  const { lines, dropped, lost } = useLog(taskId, filter);
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const { current } = list;
    if (current !== null && follows) current.scrollTop = current.scrollHeight;
  }, [lines, follows]);
  if (lines.length + lost === 0 && filter === ALL) return null;
  const toFirstError = (first: LogLine | undefined): void => {
    setFollows(false);
    // Of a long log it may be before what is shown: then errors are all that is.
    if (first === undefined || lines.length === LINES_MAX) setFilter({ ...filter, level: 'error' });
    else document.getElementById(idOf(first))?.scrollIntoView({ block: 'center' });
  };
  return (
    <Section
      title={t('logs')}
      actions={
        <>
          <Choices filter={filter} change={setFilter} attempt={attempt} />
          <label class="check">
            <input
              type="checkbox"
              checked={follows}
              onChange={({ currentTarget }) => setFollows(currentTarget.checked)}
            />
            {t('logs.follow')}
          </label>
          <Ways taskId={taskId} filter={filter} lines={lines} toFirstError={toFirstError} />
        </>
      }
    >
      {(dropped > lost || lines.length === LINES_MAX) && (
        <p class="soft">{t('logs.left-out', { n: dropped - lost, max: LINES_MAX })}</p>
      )}
      {lines.length === 0 && <p class="soft">{t('logs.none')}</p>}
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

interface ChoicesProps {
  readonly filter: Filter;
  readonly change: (filter: Filter) => void;
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
          onChange={({ currentTarget }) => change({ ...filter, attempt: currentTarget.value })}
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
        onChange={({ currentTarget }) => change({ ...filter, level: currentTarget.value })}
      >
        <option value="">{t('logs.all')}</option>
        {logLevels.map((level) => (
          <option key={level} value={level}>
            {level}
          </option>
        ))}
      </select>
      <input
        aria-label={t('logs.text')}
        placeholder={t('logs.text')}
        value={filter.text}
        onChange={({ currentTarget }) => change({ ...filter, text: currentTarget.value })}
      />
    </>
  );
}

interface WaysProps {
  readonly taskId: string;
  readonly filter: Filter;
  readonly lines: readonly LogLine[];
  readonly toFirstError: (first: LogLine | undefined) => void;
}

/** To the first error, and out of the page. */
function Ways({ taskId, filter, lines, toFirstError }: WaysProps) {
  const { namespace } = useFrame().place;
  const firstError = lines.find(({ level }) => level === 'error');
  const download = async (): Promise<void> => {
    const { attempt } = filter;
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
      {(firstError !== undefined || lines.length === LINES_MAX) && (
        <button type="button" class="quiet" onClick={() => toFirstError(firstError)}>
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

/** Asks for what comes after the last page, until nothing more comes, and not while nobody sees it. */
function useLog(taskId: string, { level, text, attempt }: Filter): Shown {
  const { namespace } = useFrame().place;
  const [shown, setShown] = useState<Shown>(NOTHING);
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    let after: string | undefined;
    setShown(NOTHING);
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
          if (page.lines.length > 0 || page.dropped > 0) setShown((before) => joined(before, page));
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
  }, [taskId, namespace, level, text, attempt]);
  return shown;
}

function joined(before: Shown, { lines, dropped, lost_at_end: lost }: LogPage): Shown {
  return {
    lines: [...before.lines, ...lines].slice(-LINES_MAX),
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
        {visibleText(text)}
        {fields !== undefined && <span class="soft"> {visibleText(JSON.stringify(fields))}</span>}
      </span>
    </li>
  );
}
