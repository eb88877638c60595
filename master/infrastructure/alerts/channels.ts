/**
 * How each channel but mail takes a message: where it goes, what it says, how it is signed, and what of the answer is
 * a refusal, which some give with status 200. Sends nothing.
 */
import { createHmac } from 'node:crypto';
import { ALERT_BODY_BYTES_MAX } from '../../domain/alerts/bounds.ts';
import {
  ALERT_PLACEHOLDER,
  type AlertChannel,
  type AlertReceiver,
} from '../../domain/alerts/rule.ts';
import { bodyOf, severityOf, textOf, titleOf, type Told } from './message.ts';

export interface Post {
  readonly url: URL;
  readonly body: unknown;
}

type Compose = (message: Told, receiver: AlertReceiver, url: URL, now: number) => Post;

/** Theirs: 2,048 bytes, of which a character may take four. */
const WECOM_LENGTH_MAX = 500;
const TEXT_LENGTH_MAX = 4_000;
const TOO_LONG = `the filled template is longer than ${ALERT_BODY_BYTES_MAX} bytes: name {{text}} less often`;

export const channels: Readonly<Record<Exclude<AlertChannel, 'mail'>, Compose>> = {
  webhook: (message, _receiver, url) => ({ url, body: bodyOf(message) }),
  slack: (message, _receiver, url) => ({
    url,
    body: { text: forSlack(shortened(textOf(message))) },
  }),
  feishu: (message, { secret }, url, now) => {
    const timestamp = String(Math.floor(now / 1000));
    const sign = createHmac('sha256', `${timestamp}\n${secret}`).digest('base64');
    const content = { text: shortened(uncalled(textOf(message))) };
    const signed = secret === null ? {} : { timestamp, sign };
    return { url, body: { ...signed, msg_type: 'text', content } };
  },
  dingtalk: (message, { secret }, url, now) => {
    const text = { content: shortened(textOf(message)) };
    const body = { msgtype: 'text', text, at: { isAtAll: false, atMobiles: [], atUserIds: [] } };
    if (secret === null) return { url, body };
    const sign = createHmac('sha256', secret).update(`${now}\n${secret}`).digest('base64');
    const signed = new URL(url);
    signed.searchParams.set('timestamp', String(now));
    signed.searchParams.set('sign', sign);
    return { url: signed, body };
  },
  wecom: (message, _receiver, url) => {
    const content = shortened(uncalled(textOf(message)), WECOM_LENGTH_MAX);
    return { url, body: { msgtype: 'text', text: { content } } };
  },
  json: (message, { template }, url) => ({
    url,
    body: template === null ? plainJson(message) : filled(JSON.parse(template), message),
  }),
};

/** What an answer with a status of success says against it; null: nothing. */
export function refusalIn(channel: AlertChannel, text: string): string | null {
  if (channel !== 'feishu' && channel !== 'dingtalk' && channel !== 'wecom') return null;
  const code = /"(?:errcode|code|StatusCode)"\s*:\s*(-?\d+)/.exec(text)?.[1];
  return code === undefined || code === '0' ? null : text;
}

function plainJson(message: Told) {
  return { title: titleOf(message), text: textOf(message), severity: severityOf(message) };
}

/** In the texts of it, names in double braces are filled in. @throws it becomes longer than a body may be. */
function filled(template: unknown, message: Told): unknown {
  const { title, text, severity } = plainJson(message);
  const values: Readonly<Record<string, string>> = {
    ...{ title, text, severity },
    count: String(message.told.length + message.moreCount),
  };
  const bytes = new Map(
    Object.entries(values).map(([name, value]) => [name, Buffer.byteLength(value)]),
  );
  let sum = 0;
  const fill = (part: unknown): unknown => {
    if (typeof part === 'string') {
      return part.replace(ALERT_PLACEHOLDER, (_, name: string) => {
        sum += bytes.get(name) ?? 0;
        if (sum > ALERT_BODY_BYTES_MAX) throw new Error(TOO_LONG);
        return values[name] ?? '';
      });
    }
    if (Array.isArray(part)) return part.map(fill);
    if (part === null || typeof part !== 'object') return part;
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, fill(value)]));
  };
  const body = fill(template);
  if (Buffer.byteLength(JSON.stringify(body)) > ALERT_BODY_BYTES_MAX) throw new Error(TOO_LONG);
  return body;
}

function forSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Whoever writes the words of an alert calls nobody by `<at ...>` or `<@...>`; neither channel has an escape for it. */
function uncalled(text: string): string {
  return text.replace(/<(?=\s*\/?\s*(?:at\b|@))/giu, '＜');
}

function shortened(text: string, max = TEXT_LENGTH_MAX): string {
  return text.length <= max ? text : `${text.slice(0, max - 4).replace(/\p{Cs}$/u, '')} ...`;
}
