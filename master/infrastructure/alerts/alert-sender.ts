/**
 * Sends alerts: by HTTP, to addresses that callbacks may reach too, and by mail. Says how a try went, and decides
 * nothing of the next one. Never rejects.
 */
import type { AlertSender, AlertTry, Clock } from '../../application/ports.ts';
import type { AlertReceiver } from '../../domain/alerts/rule.ts';
import { type AddressPolicy, checkedLookup, type Resolve } from '@soda-scheduler/address-policy';
import { visibleJson } from '@soda-scheduler/protocol';
import { CallbackSigner } from '../callbacks/callback-message.ts';
import { CallbackRequests } from '../callbacks/callback-request.ts';
import { channels, refusalIn } from './channels.ts';
import type { Mailer } from './mailer.ts';
import type { Told } from './message.ts';

const ERROR_LENGTH_MAX = 256;
const GONE = 410;

export interface AlertSenderOptions {
  /** Those of callbacks: of webhooks without one of their own. */
  readonly secrets: readonly string[];
  readonly policy: AddressPolicy;
  readonly resolve: Resolve;
  readonly clock: Clock;
  /** Null: nobody has said how mail is sent. */
  readonly mailer: Mailer | null;
}

export class HttpAlertSender implements AlertSender {
  readonly #options: AlertSenderOptions;
  readonly #requests: CallbackRequests;

  constructor(options: AlertSenderOptions) {
    this.#options = options;
    const lookup = checkedLookup(options.policy, options.resolve);
    this.#requests = new CallbackRequests(options.clock, lookup);
  }

  refusalOf({ channel, url, secret }: AlertReceiver) {
    if (channel === 'mail') {
      if (this.#options.mailer !== null) return null;
      const message = 'the master cannot send mail: set SODA_SMTP_URL and SODA_MAIL_FROM';
      return { field: 'channel', message };
    }
    const refusal = this.#options.policy.checkUrl(new URL(url ?? ''));
    if (refusal !== null) return { field: 'url', message: refusal.message };
    if (channel !== 'webhook' || secret === null) return null;
    try {
      new CallbackSigner([secret]);
      return null;
    } catch {
      return { field: 'secret', message: 'expected `whsec_` and 24 to 64 bytes in base64' };
    }
  }

  async send(receiver: AlertReceiver, message: Told): Promise<AlertTry> {
    try {
      const refusal = this.refusalOf(receiver);
      if (refusal !== null) return failed(refusal.message);
      if (receiver.channel !== 'mail') return await this.#post(receiver, message);
      const tried = await this.#options.mailer?.send(receiver.to, message);
      const { error = null, isFinal = false } = tried ?? {};
      return error === null ? { error, isFinal: false } : { ...failed(error), isFinal };
    } catch (error) {
      return failed(error instanceof Error ? error.message : String(error));
    }
  }

  /** Ends what is in flight. */
  stop(): void {
    this.#requests.stop();
    this.#options.mailer?.stop();
  }

  async #post(receiver: AlertReceiver, message: Told): Promise<AlertTry> {
    const { channel, secret, url: given } = receiver;
    if (channel === 'mail') throw new Error('a mail is not posted');
    // Wall time: receivers compare it with theirs.
    const now = Date.now();
    const { url, body } = channels[channel](message, receiver, new URL(given ?? ''), now);
    // To programs it says the same.
    const json = visibleJson(JSON.stringify(body));
    const secrets = secret === null ? this.#options.secrets : [secret];
    const signer = channel === 'webhook' ? new CallbackSigner(secrets) : null;
    const { status, text } = await this.#requests.post({
      url,
      json,
      headers: () => ({
        'content-type': 'application/json',
        'user-agent': 'soda-scheduler/2',
        ...signer?.headers(`msg_${message.id}`, Date.now(), json),
      }),
      onSlow: () => undefined,
    });
    if (status === null) return failed(text);
    const isTaken = status >= 200 && status < 300;
    const refusal = isTaken ? refusalIn(channel, text) : `HTTP ${status}: ${text}`;
    if (refusal === null) return { error: null, isFinal: false };
    return { ...failed(refusal), isFinal: status === GONE };
  }
}

function failed(error: string): AlertTry {
  const line = error.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return { error: line.slice(0, ERROR_LENGTH_MAX).replace(/\p{Cs}$/u, ''), isFinal: false };
}
