/** What the channels of alerts make of words that somebody else has written. */
import { expect } from 'chai';
import { channels } from '../../../master/infrastructure/alerts/channels.ts';
import type { Told } from '../../../master/infrastructure/alerts/message.ts';

const words = 'a <at user_id="all">x</at> <@all> <!channel> @all 1 < 2';
const message: Told = {
  ...{ id: 'd', moreCount: 0 },
  told: [
    {
      event: 'test',
      alert: {
        ...{ id: 'al-1', rule: 'message', kind: 'message', severity: 'info', fields: null },
        ...{ namespace: null, type: null, group: null, subject: 's', message: words, change: null },
        ...{ raisedAt: 0, seenAt: 0, count: 1, clearedAt: null, toldAt: 0, repeatCount: 0 },
        ...{ silencedUntil: null, silencedBy: null },
      },
    },
  ],
};
const receiver = { name: 'r', to: [], url: 'https://a.example', secret: null, template: null };

describe('the channels of alerts', () => {
  const bodyOf = (channel: 'slack' | 'feishu' | 'dingtalk' | 'wecom') => {
    const url = new URL(receiver.url);
    return channels[channel](message, { ...receiver, channel }, url, 0).body as {
      readonly text?: { readonly content: string } | string;
      readonly content?: { readonly text: string };
      readonly at?: unknown;
    };
  };

  it('let nobody who writes the words of an alert call everybody', () => {
    expect(bodyOf('slack').text).to.include('&lt;!channel&gt;');
    expect(bodyOf('feishu').content?.text)
      .to.include('1 < 2')
      .and.not.match(/<\/?at\b/i);
    expect(JSON.stringify(bodyOf('wecom')))
      .to.include('1 < 2')
      .and.not.include('<@');
    // Who is called is said beside the text.
    expect(bodyOf('dingtalk').at).to.deep.equal({ isAtAll: false, atMobiles: [], atUserIds: [] });
  });
});
