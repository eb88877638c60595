/** Asks for a token, and gives it to the master, which answers with a cookie: the page keeps nothing of it. */
import { useEffect, useState } from 'preact/hooks';
import { Away, call, Refused as RefusedCall } from '../api/call.ts';
import { Refused } from '../parts/page.tsx';
import { t } from '../words/words.ts';
import { Choices } from './choices.tsx';
import type { Settings } from './settings.ts';

interface Props {
  /** By none of his doing. */
  readonly hasEnded: boolean;
  readonly settings: Settings;
  readonly change: (changed: Partial<Settings>) => void;
  /** Finds out whether somebody is logged in. */
  readonly look: () => Promise<void>;
  /** Told once he is, by this form. */
  readonly done: () => void;
}

export function Login({ hasEnded, settings, change, look, done }: Props) {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState('');
  useEffect(() => {
    // In another tab, say, which could not tell.
    const seen = (): void => void (document.hidden || look());
    document.addEventListener('visibilitychange', seen);
    return () => document.removeEventListener('visibilitychange', seen);
  }, [look]);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setProblem('');
    try {
      await call({
        method: 'POST',
        path: '/session',
        namespace: null,
        body: { token: token.trim() },
      });
      await look();
      done();
    } catch (error) {
      setProblem(refusalOf(error));
    }
  };
  return (
    <main class="login">
      <h1>Soda Scheduler</h1>
      {hasEnded ? (
        <p class="remark" role="alert">
          {t('login.ended')}
        </p>
      ) : (
        <p class="soft">{t('login.why')}</p>
      )}
      <form onSubmit={(event) => void submit(event)}>
        <label class="field">
          <span>{t('login.token')}</span>
          <input
            type="password"
            name="token"
            autocomplete="current-password"
            required
            autofocus
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </label>
        <Refused why={problem} />
        <button type="submit" class="main">
          {t('login')}
        </button>
      </form>
      <p class="soft">{t('login.how')}</p>
      <pre>soda token create me --role operate</pre>
      <Choices settings={settings} change={change} />
    </main>
  );
}

function refusalOf(error: unknown): string {
  if (error instanceof Away) return t('asking.away');
  if (error instanceof RefusedCall) {
    const { status, problem, retryAfter } = error;
    if (status === 401)
      return t(problem.reason === 'token_expired' ? 'login.expired' : 'login.unknown');
    if (status === 429 && retryAfter !== null) return t('login.locked', { seconds: retryAfter });
  }
  return error instanceof Error ? error.message : String(error);
}
