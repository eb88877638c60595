/**
 * Posts the callbacks of finished tasks and reports how each try went, as an event. When to try
 * again is the domain's business (`domain/notify.ts`); whom to call at all is the address
 * policy's. Never throws, never follows a redirect, never waits for one receiver longer than the
 * time limit, and never reads more of an answer than the cap.
 *
 * Plain `node:http` rather than axios: docs/decisions/002-callback-transport.md.
 */
import http, {
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import https from 'node:https';
import type { Clock, Log, Notifier, StoredTask } from '../application/ports.ts';
import type { Event } from '../domain/events.ts';
import type { EndedTask, Notification } from '../domain/task.ts';
import { AddressPolicy } from './address-policy.ts';
import { CallbackSigner, callbackJson, isAbout, webhookId } from './callback-message.ts';
import { OriginQueue } from './origin-queue.ts';

/** For one try: name resolution, connecting, sending and the whole answer. */
const TRY_TIMEOUT_S = 15;
const ANSWER_BYTES_MAX = 64 * 1024;
const RETRY_AFTER_MS_MAX = 3_600_000;
const ERROR_LENGTH_MAX = 256;
/** What a cut may leave at the end; MySQL takes no JSON that has one. */
const HALF_CHARACTER = /\p{Cs}$/u;
/** An idle connection is closed after this. */
const KEEP_ALIVE_MS = 30_000;
const ORIGIN_LIMITS = { inFlightMax: 256, inFlightPerOriginMax: 32, failingOriginsMax: 1000 };

export interface HttpNotifierOptions {
  /** Standard Webhooks secrets (`whsec_...`), newest first; every callback is signed with each. */
  readonly secrets: readonly string[];
  /** Hosts and ranges that may be called although they are not public: see `AddressPolicy`. */
  readonly allow: readonly string[];
  readonly post: (event: Event) => void;
  readonly findTask: (taskId: string) => Promise<StoredTask | null>;
  readonly clock: Clock;
  readonly log: Log;
  /** For tests: how names are resolved and checked. */
  readonly policy?: AddressPolicy;
}

interface Delivery {
  readonly notification: Notification;
  readonly url: URL;
  task: EndedTask | null;
}

/** What one HTTP exchange came to. */
interface Answer {
  readonly status: number | null;
  readonly retryAfter: string | undefined;
  /** Why there is no status, or the beginning of the body. */
  readonly text: string;
  readonly timedOut: boolean;
}

type Tried = Omit<Extract<Event, { type: 'notificationTried' }>, 'type' | 'taskSeq' | 'finishedAt'>;

export class HttpNotifier implements Notifier {
  readonly #options: HttpNotifierOptions;
  readonly #policy: AddressPolicy;
  readonly #signer: CallbackSigner;
  readonly #queue: OriginQueue<Delivery>;
  readonly #inFlight = new Set<ClientRequest>();
  /** Webhook ids of what is being tried: after a rebuild it is handed over once more. */
  readonly #trying = new Set<string>();
  readonly #http: http.Agent;
  readonly #https: https.Agent;
  #stopped = false;

  /** @throws if a secret or an entry of `allow` is malformed. */
  constructor(options: HttpNotifierOptions) {
    this.#options = options;
    this.#policy = options.policy ?? new AddressPolicy(options.allow);
    this.#signer = new CallbackSigner(options.secrets);
    this.#queue = new OriginQueue(ORIGIN_LIMITS, (delivery) => void this.#try(delivery));
    const agentOptions = { keepAlive: true, timeout: KEEP_ALIVE_MS };
    this.#http = new http.Agent(agentOptions);
    this.#https = new https.Agent(agentOptions);
  }

  deliver(notification: Notification, task: EndedTask | null): void {
    if (this.#stopped || this.#trying.has(webhookId(notification))) return;
    if (!URL.canParse(notification.url)) {
      this.#report(notification, failed(null, 'refused: not a URL'));
      return;
    }
    const url = new URL(notification.url);
    this.#queue.add(url.origin, { notification, url, task });
  }

  forgetAll(): void {
    this.#queue.clearWaiting();
  }

  /** Ends what is in flight. Its outcome is unknown, so nothing is reported. Safe to repeat. */
  stop(): void {
    this.#stopped = true;
    this.#queue.clear();
    for (const request of this.#inFlight) request.destroy();
    this.#http.destroy();
    this.#https.destroy();
  }

  async #try(delivery: Delivery): Promise<void> {
    const { notification, url } = delivery;
    const { origin } = url;
    const id = webhookId(notification);
    this.#trying.add(id);
    const json = await this.#body(delivery);
    if (this.#stopped) return;
    if (typeof json !== 'string') {
      this.#trying.delete(id);
      this.#queue.settle(origin, null);
      if (json !== null) this.#report(notification, json);
      return;
    }
    const answer = await this.#exchange(delivery, json).catch((error: unknown) => noAnswer(error));
    if (this.#stopped) return;
    this.#trying.delete(id);
    this.#report(notification, triedOf(answer));
    const stillFailing = this.#queue.settle(origin, isHealthy(answer));
    if (stillFailing && answer.timedOut) this.#shed(origin);
  }

  /** The body; or how the try ends without one; or null where there is nothing to report. */
  async #body(delivery: Delivery): Promise<string | Tried | null> {
    const { notification, url } = delivery;
    const refusal = this.#policy.checkUrl(url);
    if (refusal !== null) return failed(null, refusal.message);
    try {
      if (delivery.task === null) {
        const found = await this.#options.findTask(notification.taskId);
        if (found === null) return { ...failed(null, 'the task is not retained'), outcome: 'gone' };
        delivery.task = found.task;
      }
      // The task was run again since: its new run brings a notification of its own.
      return isAbout(notification, delivery.task) ? callbackJson(delivery.task) : null;
    } catch (error) {
      return failed(null, `the task could not be read: ${messageOf(error)}`);
    }
  }

  async #exchange({ notification, url }: Delivery, json: string): Promise<Answer> {
    const { clock } = this.#options;
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(json),
      'user-agent': 'soda-scheduler/2',
      // Wall time: receivers compare it with theirs, and the master's clock may have drifted.
      ...this.#signer.headers(webhookId(notification), Date.now(), json),
    };
    const deadline = clock.now() + TRY_TIMEOUT_S * 1000;
    const answer = await this.#send(url, headers, json, deadline, true);
    // The receiver closed an idle connection just as it was used: no sign of trouble.
    return answer ?? (await this.#send(url, headers, json, deadline, false)) ?? noAnswer(undefined);
  }

  /** Null: a kept connection turned out to be closed, so the request may be sent on a new one. */
  #send(
    url: URL,
    headers: OutgoingHttpHeaders,
    json: string,
    deadline: number,
    reuse: boolean,
  ): Promise<Answer | null> {
    return new Promise((resolve) => {
      const secure = url.protocol === 'https:';
      const request = (secure ? https : http).request(url, {
        method: 'POST',
        headers,
        agent: reuse && (secure ? this.#https : this.#http),
        lookup: this.#policy.lookup,
      });
      let response: IncomingMessage | undefined;
      let failure: NodeJS.ErrnoException | undefined;
      let timedOut = false;
      let text = '';
      let bytes = 0;
      this.#inFlight.add(request);
      const callOff = this.#options.clock.wakeAt(deadline, () => {
        timedOut = true;
        request.destroy();
      });
      request.on('response', (incoming) => {
        response = incoming;
        incoming.on('error', () => {}); // The status is known: how the body ends does not matter.
        incoming.on('data', (chunk: Buffer) => {
          if (bytes < ERROR_LENGTH_MAX) text += chunk.toString('utf8', 0, ERROR_LENGTH_MAX);
          bytes += chunk.length;
          if (bytes > ANSWER_BYTES_MAX) request.destroy();
        });
      });
      request.on('error', (error) => (failure = error));
      // Comes once, after everything else, whichever way the exchange ends.
      request.on('close', () => {
        callOff();
        this.#inFlight.delete(request);
        const { statusCode = null, headers: answered } = response ?? {};
        if (statusCode !== null) {
          resolve({ status: statusCode, retryAfter: answered?.['retry-after'], text, timedOut });
          return;
        }
        const wasClosed = request.reusedSocket && failure?.code === 'ECONNRESET';
        if (wasClosed && !timedOut && !this.#stopped) resolve(null);
        else
          resolve(noAnswer(timedOut ? `no answer within ${TRY_TIMEOUT_S} s` : failure, timedOut));
      });
      request.end(json);
    });
  }

  /** A receiver that answers nothing must not hold others' places while its queue times out. */
  #shed(origin: string): void {
    const waiting = this.#queue.takeWaiting(origin);
    if (waiting.length === 0) return;
    this.#options.log.warn('callback receiver does not answer', { origin, shed: waiting.length });
    for (const { notification } of waiting) {
      this.#report(notification, failed(null, `not sent: ${origin} answers no callback in time`));
    }
  }

  #report({ taskSeq, finishedAt }: Notification, tried: Tried): void {
    this.#options.post({ type: 'notificationTried', taskSeq, finishedAt, ...tried });
  }
}

function noAnswer(reason: unknown, timedOut = false): Answer {
  const text = reason === undefined ? 'the connection was closed' : messageOf(reason);
  return { status: null, retryAfter: undefined, text, timedOut };
}

function triedOf({ status, text, retryAfter }: Answer): Tried {
  if (status === null) return failed(null, text);
  if (status >= 200 && status < 300) {
    return { outcome: 'delivered', status, error: null, retryAfterMs: null };
  }
  const error = text === '' ? `HTTP ${status}` : `HTTP ${status}: ${text}`;
  if (status === 410) return { ...failed(status, error), outcome: 'gone' };
  return { ...failed(status, error), retryAfterMs: retryAfterMs(retryAfter) };
}

function failed(status: number | null, error: string): Tried {
  return { outcome: 'failed', status, error: oneLine(error), retryAfterMs: null };
}

/** A receiver that answers at all, if only to refuse this callback, is fit for the next one. */
function isHealthy({ status, timedOut }: Answer): boolean {
  return !timedOut && status !== null && status < 500 && status !== 429;
}

/** Seconds or an HTTP date, as RFC 9110 has it. */
function retryAfterMs(header: string | undefined): number | null {
  if (header === undefined) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX);
}

function oneLine(text: string): string {
  return text
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, ERROR_LENGTH_MAX)
    .replace(HALF_CHARACTER, '');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
