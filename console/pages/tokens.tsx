/** Who has a token, and what it opens. A new one is shown once. */
import type { TokenList, TokenView } from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { ask, type Question } from '../frame/asking.tsx';
import { useFrame } from '../frame/context.ts';
import { useResource } from '../frame/resource.ts';
import { Copy } from '../parts/copy.tsx';
import { Empty, Head, Loaded, Pager } from '../parts/page.tsx';
import { Time } from '../parts/time.tsx';
import { t } from '../words/words.ts';

const ROLES = ['read', 'submit', 'operate', 'admin', 'executor'] as const;
const EVERY_MS = 15_000;
const LIMIT = 100;

export function TokensPage() {
  const { place, link, may } = useFrame();
  const { cursor } = place.query;
  const [made, setMade] = useState<{ name: string; token: string } | null>(null);
  const list = useResource<TokenList>(
    cursor ?? '',
    (signal) => call({ path: '/tokens', namespace: null, query: { limit: LIMIT, cursor }, signal }),
    EVERY_MS,
  );
  const make = (): void =>
    ask(
      newToken((answer) => {
        setMade(answer);
        list.reload();
      }),
    );
  return (
    <>
      <Head
        title={t('tokens')}
        actions={
          may('POST /tokens') && (
            <button type="button" onClick={make}>
              {t('tokens.new')}
            </button>
          )
        }
      />
      {made !== null && (
        <div class="remark">
          <p>{t('tokens.made', { name: made.name })}</p>
          <p>
            <code>{made.token}</code> <Copy text={made.token} label={t('copy')} />
          </p>
        </div>
      )}
      <Loaded of={list}>
        {({ tokens, next_cursor: next }) => (
          <>
            {tokens.length === 0 ? (
              <Empty title={t('tokens.none')} />
            ) : (
              <Table tokens={tokens} done={list.reload} />
            )}
            <Pager
              isFirst={cursor === undefined}
              first={link('tokens')}
              next={next === null ? null : link('tokens', null, { cursor: next })}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

interface TableProps {
  readonly tokens: readonly TokenView[];
  readonly done: () => void;
}

function Table({ tokens, done }: TableProps) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>{t('tokens.name')}</th>
            <th>{t('tokens.role')}</th>
            <th class="fill">{t('tokens.scope')}</th>
            <th class="num wide">{t('tokens.made-at')}</th>
            <th class="num">{t('tokens.used')}</th>
            <th class="num">{t('tokens.expires')}</th>
            <th>
              <span class="sr">{t('action.delete')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tokens.map(
            ({
              name,
              role,
              scope,
              created_at: madeAt,
              last_used_at: usedAt,
              expires_at: until,
            }) => (
              <tr key={name}>
                <td>{name}</td>
                <td>{role}</td>
                <td class="fill">{inWords(scope)}</td>
                <td class="num wide">
                  <Time at={madeAt} />
                </td>
                <td class="num">
                  <Time at={usedAt} />
                </td>
                <td class="num">
                  <Time at={until} />
                </td>
                <td>
                  <button
                    type="button"
                    class="warned"
                    onClick={() => ask(revocationOf(name, done))}
                  >
                    {t('tokens.revoke')}
                  </button>
                </td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

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
    .map(([what, names]) => `${what}: ${(names ?? []).join(' ')}`)
    .join(' · ');
}

const listed = (text = ''): string[] => text.split(/[\s,]+/).filter((part) => part !== '');

function newToken(done: (answer: { name: string; token: string }) => void): Question {
  return {
    title: t('tokens.new'),
    verb: t('tokens.new'),
    fields: [
      { name: 'name', label: t('tokens.name'), isRequired: true },
      { name: 'role', label: t('tokens.role'), kind: 'select', options: ROLES, initial: 'read' },
      { name: 'namespaces', label: t('namespaces'), hint: t('tokens.scope.hint') },
      { name: 'groups', label: t('tokens.groups') },
      { name: 'types', label: t('types') },
      { name: 'until', label: t('tokens.expires'), kind: 'datetime-local' },
    ],
    request: ({ name, role, until = '', ...lists }) => {
      const scope = Object.fromEntries(
        Object.entries(lists)
          .map(([what, text]) => [what, listed(text)] as const)
          .filter(([, names]) => names.length > 0),
      );
      return {
        method: 'POST',
        path: '/tokens',
        namespace: null,
        body: {
          name,
          role,
          ...(Object.keys(scope).length > 0 && { scope }),
          ...(until !== '' && { expires_at: new Date(until).toISOString() }),
        },
      };
    },
    done: (answer) => done(answer as { name: string; token: string }),
  };
}
