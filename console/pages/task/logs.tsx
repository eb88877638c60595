/** The log of a task while it runs, and after: the newest lines, by level and text, and the first error. */
import { type LogLine, type LogPage, logLevels, visibleText } from '@soda-scheduler/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { Copy } from '../../parts/copy.tsx';
import { Section } from '../../parts/page.tsx';
import { t } from '../../words/words.ts';

/** Shown at most: a page of a megabyte of text is slow. */
const LINES_MAX = 2_000;
const PAGE_LIMIT = 1_000;
const EVERY_MS = 2_000;

interface Filter {
  readonly level: string;
  readonly text: string;
}

interface Shown {
  readonly lines: readonly LogLine[];
  readonly dropped: number;
}

const NOTHING: Shown = { lines: [], dropped: 0 };

export function Logs({ taskId }: { readonly taskId: string }) {
  const [filter, setFilter] = useState<Filter>({ level: '', text: '' });
  const { lines, dropped } = useLog(taskId, filter);
  const list = useRef<HTMLOListElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const { current } = list;
    if (current !== null && isAtEnd.current) current.scrollTop = current.scrollHeight;
  }, [lines]);
  if (lines.length === 0 && filter.level === '' && filter.text === '') return null;
  const firstError = lines.find(({ level }) => level === 'error');
  return (
    <Section
      title={t('logs')}
      actions={
        <>
          <select
            aria-label={t('logs.level')}
            value={filter.level}
            onChange={({ currentTarget }) => setFilter({ ...filter, level: currentTarget.value })}
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
            onChange={({ currentTarget }) => setFilter({ ...filter, text: currentTarget.value })}
          />
          {firstError !== undefined && (
            <button
              type="button"
              class="quiet"
              onClick={() => {
                isAtEnd.current = false;
                document.getElementById(idOf(firstError))?.scrollIntoView({ block: 'center' });
              }}
            >
              {t('logs.first-error')}
            </button>
          )}
          <Copy text={lines.map(inText).join('\n')} label={t('copy')} />
        </>
      }
    >
      {(dropped > 0 || lines.length === LINES_MAX) && (
        <p class="soft">{t('logs.left-out', { n: dropped, max: LINES_MAX })}</p>
      )}
      <ol
        class="log"
        ref={list}
        tabIndex={0}
        aria-label={t('logs')}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight > scrollHeight - 20;
        }}
      >
        {lines.map((line) => (
          <Line key={idOf(line)} line={line} />
        ))}
      </ol>
    </Section>
  );
}

/** Asks for what comes after the last page, until nothing more comes, and not while nobody sees it. */
function useLog(taskId: string, { level, text }: Filter): Shown {
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
      const query = { after, level, text, limit: PAGE_LIMIT };
      const path = `/task/${encodeURIComponent(taskId)}/logs`;
      try {
        for (;;) {
          const page = await call<LogPage>({
            path,
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
  }, [taskId, namespace, level, text]);
  return shown;
}

function joined(before: Shown, { lines, dropped }: LogPage): Shown {
  return {
    lines: [...before.lines, ...lines].slice(-LINES_MAX),
    dropped: before.dropped + dropped,
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
