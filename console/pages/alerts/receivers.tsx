/** Who is told of alerts. What they know the master by is written here, and never shown again. */
import {
  type AlertReceiverView,
  type AlertTestView,
  alertChannels,
} from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import type { Question } from '../../frame/asking.tsx';
import { AskButton } from '../../parts/ask-button.tsx';
import { Command } from '../../parts/copy.tsx';
import type { Field } from '../../parts/form/fields.ts';
import { ListPage, useListed } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/page.tsx';
import type { Layout } from '../../parts/table.tsx';
import { t, wordOf } from '../../words/words.ts';
import { AlertTabs } from './tabs.tsx';

export interface ReceiverList {
  readonly receivers: readonly AlertReceiverView[];
  readonly next_cursor: string | null;
}

export function ReceiversPage() {
  const [tested, setTested] = useState<AlertTestView | null>(null);
  const list = useListed<ReceiverList>('alert-receivers', {
    path: '/alert-receivers',
    namespace: null,
    fields: [],
    limit: 200,
  });
  return (
    <ListPage
      of={list}
      rowsOf={({ receivers }) => receivers}
      layout={layoutWith(setTested)}
      actions={
        <AskButton route="PUT /alert-receiver/{name}" question={receiverForm(null, list.reload)} />
      }
      empty={
        <Empty title={t('receivers.none')}>
          <Command text="soda alert receivers set ops --channel slack --hook @slack-hook.url" />
        </Empty>
      }
    >
      <AlertTabs current="receivers" />
      {tested !== null && <Tested of={tested} />}
    </ListPage>
  );
}

/** What it has answered stays until the next one is asked. */
function Tested({ of: { receiver, delivered, error } }: { readonly of: AlertTestView }) {
  return (
    <p class={delivered ? 'remark taken' : 'refusal'} role="status">
      {t(delivered ? 'receivers.taken' : 'receivers.not-taken', { receiver })} {error}
    </p>
  );
}

const layoutWith = (tell: (tested: AlertTestView) => void): Layout<AlertReceiverView> => ({
  keyOf: ({ name }) => name,
  columns: [
    { title: 'tokens.name', show: ({ name }) => name },
    { title: 'receivers.channel', show: ({ channel }) => wordOf('channel', channel) },
    { title: 'callback.url', class: 'fill', show: ({ to, url }) => url ?? to?.join(' ') },
    {
      title: 'receivers.signed',
      class: 'wide',
      show: ({ has_secret: isSigned }) => (isSigned ? t('receivers.has-secret') : '–'),
    },
    {
      title: 'action.change',
      isTitleHidden: true,
      class: 'num',
      show: (receiver, reload) => (
        <>
          <AskButton route="POST /alerts/test" question={testOf(receiver.name, tell)} />{' '}
          <AskButton route="PUT /alert-receiver/{name}" question={receiverForm(receiver, reload)} />{' '}
          <AskButton
            route="DELETE /alert-receiver/{name}"
            question={removalOf(receiver.name, reload)}
          />
        </>
      ),
    },
  ],
});

function testOf(name: string, tell: (tested: AlertTestView) => void): Question {
  return {
    title: t('receivers.test.title', { name }),
    text: t('receivers.test.text'),
    verb: t('receivers.test'),
    request: () => ({
      method: 'POST',
      path: '/alerts/test',
      namespace: null,
      body: { receiver: name },
    }),
    done: (answer) => tell(answer as AlertTestView),
  };
}

const pathOf = (name = ''): string => `/alert-receiver/${encodeURIComponent(name)}`;

function removalOf(name: string, done: () => void): Question {
  return {
    title: t('receivers.delete.title', { name }),
    text: t('receivers.delete.text'),
    verb: t('action.delete'),
    isGrave: true,
    request: () => ({ method: 'DELETE', path: pathOf(name), namespace: null }),
    done,
  };
}

/** @param receiver null: a new one. */
function receiverForm(receiver: AlertReceiverView | null, done: () => void): Question {
  return {
    title:
      receiver === null ? t('receivers.new') : t('receivers.change.title', { name: receiver.name }),
    verb: t(receiver === null ? 'receivers.new' : 'action.change'),
    fields: ({ channel = receiver?.channel ?? 'mail' }) => receiverFields(receiver, channel),
    request: (_, { name = receiver?.name, ...body }) => ({
      method: 'PUT',
      path: pathOf(name as string),
      namespace: null,
      body,
    }),
    done,
  };
}

/** As they stand in a template, which has them in two braces. */
const PLACES = { title: '{title}', text: '{text}', severity: '{severity}', count: '{count}' };

const SIGNED: ReadonlySet<string> = new Set(['webhook', 'feishu', 'dingtalk']);

/** Each channel has its own. */
function receiverFields(receiver: AlertReceiverView | null, channel: string): Field[] {
  const isSame = receiver?.channel === channel;
  const named: Field = { name: 'name', label: t('tokens.name'), isRequired: true };
  const kind: Field = {
    name: 'channel',
    label: t('receivers.channel'),
    kind: 'select',
    options: alertChannels,
    inWords: (one) => wordOf('channel', one),
    initial: channel,
  };
  const rest: Field[] = [];
  if (channel === 'mail') {
    const initial = receiver?.to?.join(' ') ?? '';
    rest.push({
      name: 'to',
      label: t('receivers.to'),
      kind: 'words',
      initial,
      isRequired: true,
      hint: t('receivers.to.hint'),
    });
  } else {
    const hint = isSame
      ? t('receivers.url.hint', { url: receiver.url ?? '' })
      : t('receivers.url.secret');
    rest.push({
      name: 'url',
      label: t('receivers.url'),
      preset: 'https://',
      isRequired: true,
      hint,
    });
  }
  if (SIGNED.has(channel)) {
    const hint = t(
      isSame && receiver.has_secret ? 'receivers.secret.anew' : 'receivers.secret.hint',
    );
    rest.push({ name: 'secret', label: t('receivers.secret'), kind: 'secret', hint });
  }
  if (channel === 'json') {
    const template = receiver?.template ?? { text: '{{title}}\n{{text}}' };
    rest.push({
      name: 'template',
      label: t('receivers.template'),
      kind: 'json',
      initial: JSON.stringify(template, null, 2),
      hint: t('receivers.template.hint', PLACES),
    });
  }
  return [...(receiver === null ? [named] : []), kind, ...rest];
}
