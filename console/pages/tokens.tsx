/** Who has a token, and what it opens. A new one is shown once. */
import type { TokenList, TokenView } from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import type { Question } from '../frame/asking.tsx';
import { AskButton } from '../parts/ask-button.tsx';
import { Command, Copy } from '../parts/copy.tsx';
import { ListPage, useListed } from '../parts/list-page.tsx';
import { Empty } from '../parts/page.tsx';
import type { Layout } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { t, wordOf } from '../words/words.ts';

const ROLES = ['read', 'submit', 'operate', 'admin', 'executor'] as const;

export function TokensPage() {
  const [made, setMade] = useState<{ name: string; token: string } | null>(null);
  const list = useListed<TokenList>('tokens', {
    path: '/tokens',
    namespace: null,
    fields: [],
    limit: 100,
    everyMs: 15_000,
  });
  const question = newToken((answer) => {
    setMade(answer);
    list.reload();
  });
  return (
    <ListPage
      of={list}
      rowsOf={({ tokens }) => tokens}
      layout={tokenLayout}
      actions={<AskButton route="POST /tokens" question={question} />}
      empty={
        <Empty title={t('tokens.none')}>
          <Command text="soda token create ada --role operate" />
        </Empty>
      }
    >
      {made !== null && (
        <div class="remark">
          <p>{t('tokens.made', { name: made.name })}</p>
          <p>
            <code>{made.token}</code> <Copy text={made.token} label={t('copy')} />
          </p>
        </div>
      )}
    </ListPage>
  );
}

const tokenLayout: Layout<TokenView> = {
  keyOf: ({ name }) => name,
  columns: [
    { title: 'tokens.name', show: ({ name }) => name },
    { title: 'tokens.role', show: ({ role }) => wordOf('role', role) },
    { title: 'tokens.scope', class: 'fill', show: ({ scope }) => inWords(scope) },
    { title: 'tokens.made-at', class: 'num wide', show: ({ created_at: at }) => <Time at={at} /> },
    { title: 'tokens.used', class: 'num', show: ({ last_used_at: at }) => <Time at={at} /> },
    { title: 'tokens.expires', class: 'num', show: ({ expires_at: at }) => <Time at={at} /> },
    {
      title: 'action.delete',
      isTitleHidden: true,
      show: ({ name }, reload) => (
        <AskButton route="DELETE /token/{name}" question={revocationOf(name, reload)} />
      ),
    },
  ],
};

function revocationOf(name: string, done: () => void): Question {
  const path = `/token/${encodeURIComponent(name)}`;
  return {
    title: t('tokens.revoke.title', { name }),
    text: t('tokens.revoke.text'),
    verb: t('tokens.revoke'),
    isGrave: true,
    request: () => ({ method: 'DELETE', path, namespace: null }),
    done,
  };
}

function inWords(scope: TokenView['scope']): string {
  if (scope === null) return t('tokens.everything');
  return Object.entries(scope)
    .map(([what, names]) => `${wordOf('scope-of', what)}: ${(names ?? []).join(' ')}`)
    .join(' · ');
}

function newToken(done: (answer: { name: string; token: string }) => void): Question {
  return {
    title: t('tokens.new'),
    verb: t('tokens.new'),
    fields: [
      { name: 'name', label: t('tokens.name'), isRequired: true },
      {
        name: 'role',
        label: t('tokens.role'),
        kind: 'select',
        options: ROLES,
        inWords: (role) => wordOf('role', role),
        initial: 'read',
      },
      {
        name: 'scope.namespaces',
        label: t('namespaces'),
        kind: 'words',
        hint: t('tokens.scope.hint'),
      },
      { name: 'scope.groups', label: t('tokens.groups'), kind: 'words' },
      { name: 'scope.types', label: t('types'), kind: 'words' },
      { name: 'expires_at', label: t('tokens.expires'), kind: 'datetime-local' },
    ],
    request: (_, body) => ({ method: 'POST', path: '/tokens', namespace: null, body }),
    done: (answer) => done(answer as { name: string; token: string }),
  };
}
