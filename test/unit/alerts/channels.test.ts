/** What the channels of alerts make of words that somebody else has written. */
import { expect } from 'chai';
import { channels } from '../../../master/infrastructure/alerts/channels.ts';
import { textOf, titleOf, type Told } from '../../../master/infrastructure/alerts/message.ts';

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
        ...{ silencedUntil: null, silencedBy: null, silenceReason: null },
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

  it('let nobody who writes them steer a terminal, or turn a line around', () => {
    const [told] = message.told;
    if (told === undefined) throw new Error('there is one');
    const hostile = '\u001b[2J\u202Egnp.exe\u2066';
    const alert = { ...told.alert, subject: hostile, message: `${hostile}\nnext` };
    const of: Told = { ...message, told: [{ event: 'raised', alert }] };
    const shown = String.raw`\u001b[2J\u202egnp.exe\u2066`;
    expect(titleOf(of)).to.equal(`[info] message: ${shown}`);
    expect(textOf(of).split('\n').slice(0, 3)).to.deep.equal([
      `[info] message: ${shown}`,
      shown,
      'next',
    ]);
  });

  it('tell of what is over as of something past', () => {
    const [told] = message.told;
    if (told === undefined) throw new Error('there is one');
    const times = { raisedAt: 0, seenAt: 60_000, clearedAt: 120_000 };
    const alert = { ...told.alert, ...times, message: 'Nobody takes tasks.', change: 'Start one.' };
    const text = channels.slack(
      { ...message, told: [{ event: 'cleared', alert }] },
      { ...receiver, channel: 'slack' },
      new URL(receiver.url),
      0,
    ).body as { readonly text: string };
    expect(text.text.split('\n')).to.deep.equal([
      '[over] message: s',
      'It is over since 1970-01-01T00:02:00.000Z, after 2 min.',
      'It was: Nobody takes tasks.',
      'Raised 1970-01-01T00:00:00.000Z. (al-1)',
    ]);
  });

  it('say of how many alerts they know that they are over, and where the others are shown', () => {
    const [told] = message.told;
    if (told === undefined) throw new Error('there is one');
    const cleared = { event: 'cleared', alert: { ...told.alert, clearedAt: 120_000 } } as const;
    const textWith = (moreCount: number) => {
      const all = { ...message, told: [told, cleared], moreCount };
      const of = { ...receiver, channel: 'slack' } as const;
      const { text } = channels.slack(all, of, new URL(receiver.url), 0).body as { text: string };
      return text.split('\n');
    };
    expect(textWith(0)[0]).to.match(/ 2 alerts, 1 of them over$/);
    expect(textWith(26)[0]).to.match(/ 28 alerts, 1 of the first 2 over$/);
    expect(textWith(26).at(-1)).to.equal(
      'And 26 more: soda alert list, with --state cleared for what is over.',
    );
  });

  it('fill a template up to 256 KiB, and no further', () => {
    const [told] = message.told;
    const alert = told && { ...told.alert, message: 'é'.repeat(1_000) };
    const long = { ...message, told: told && alert ? [{ ...told, alert }] : [] };
    const fill = (count: number) => {
      const template = JSON.stringify({ a: '{{text}}'.repeat(count) });
      const url = new URL(receiver.url);
      return channels.json(long, { ...receiver, channel: 'json', template }, url, 0).body;
    };
    expect(JSON.stringify(fill(100))).to.have.length.within(100_000, 200_000);
    expect(() => fill(200)).to.throw(/filled template is longer than 262144 bytes/);
    const plain = JSON.stringify('x'.repeat(262_144));
    const asked = { ...receiver, channel: 'json', template: plain } as const;
    expect(() => channels.json(message, asked, new URL(receiver.url), 0)).to.throw(/is longer/);
  });
});
