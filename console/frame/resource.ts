/**
 * What a page shows of the master, kept fresh: asked for again every few seconds and as soon as the feed tells of
 * something, but never while nobody sees the page. An answer that comes late for what is no more looked at is dropped.
 */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Away, call, Refused, type Request } from '../api/call.ts';
import { useFrame } from './context.ts';

/** Of how often it is asked for by the clock: so much more often, however much happens. */
const NEWS_FACTOR = 5;
/** What is asked for as rarely changes by the clock: news are none of it. */
const SELDOM_MS = 30_000;

export interface Resource<T> {
  /** The newest answer; null: there was none yet. */
  readonly data: T | null;
  /** What was said in place of the newest answer. A master that is away is told of by the banner. */
  readonly refused: Refused | null;
  readonly reload: () => void;
}

/**
 * @param key what is asked for, by its words: with another one all begins anew. Null: nothing is.
 * @param load may show what it has up to then: seen where nothing was shown before that was whole.
 */
export function useResource<T>(
  key: string | null,
  load: (signal: AbortSignal, show: (part: T) => void) => Promise<T>,
  everyMs = 5_000,
): Resource<T> {
  const { newsCount } = useFrame();
  const [state, setState] = useState<{ key: string | null } & Omit<Resource<T>, 'reload'>>(() => ({
    key,
    ...NOTHING,
  }));
  const loading = useRef(load);
  loading.current = load;
  const lastAt = useRef(0);
  const running = useRef<AbortController | null>(null);
  /** Of which all was shown already. */
  const wholeKey = useRef<string | null>(null);

  const ask = useCallback(async (): Promise<void> => {
    if (key === null) return;
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    lastAt.current = Date.now();
    try {
      const data = await loading.current(mine.signal, (part) => {
        const isSeen = !mine.signal.aborted && wholeKey.current !== key;
        if (isSeen) setState({ key, data: part, refused: null });
      });
      if (mine.signal.aborted) return;
      wholeKey.current = key;
      setState({ key, data, refused: null });
    } catch (error) {
      if (mine.signal.aborted || error instanceof Away) return;
      const refused = error instanceof Refused ? error : new Refused(0, { detail: String(error) });
      setState((before) => ({ ...(before.key === key ? before : NOTHING), key, refused }));
    } finally {
      if (running.current === mine) running.current = null;
    }
  }, [key]);

  useEffect(() => {
    void ask();
    return () => running.current?.abort();
  }, [ask]);
  useAgain(everyMs, ask, running);
  useEffect(() => {
    if (newsCount === 0 || everyMs >= SELDOM_MS) return undefined;
    const wait = Math.max(0, lastAt.current + everyMs / NEWS_FACTOR - Date.now());
    const timer = setTimeout(() => void ask(), wait);
    return () => clearTimeout(timer);
  }, [newsCount, ask, everyMs]);

  const current = state.key === key ? state : NOTHING;
  return { data: current.data, refused: current.refused, reload: () => void ask() };
}

const NOTHING = { data: null, refused: null } as const;

/** Every so often, while the page is seen and no answer is awaited; at once when it is seen again. */
function useAgain(
  everyMs: number,
  ask: () => Promise<void>,
  running: { readonly current: AbortController | null },
): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden && running.current === null) void ask();
    }, everyMs);
    const seen = (): void => {
      if (!document.hidden) void ask();
    };
    document.addEventListener('visibilitychange', seen);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', seen);
    };
  }, [everyMs, ask, running]);
}

/** What one path answers, of the namespace that is looked at if it names none. Null: it is not asked for. */
export function useAnswer<T>(
  request: Pick<Request, 'path' | 'namespace' | 'query'> | null,
  everyMs?: number,
): Resource<T> {
  const { namespace } = useFrame().place;
  const asked = { namespace, path: '', ...request };
  return useResource<T>(
    request === null ? null : JSON.stringify(asked),
    (signal) => call({ ...asked, signal }),
    everyMs,
  );
}
