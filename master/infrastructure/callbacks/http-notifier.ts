/**
 * Posts the callbacks of finished tasks, of all namespaces, and reports how each try went, as an event.
 * When to try again is the domain's business (`domain/steps/notify.ts`), whom to call at all the address
 * policy's, and whose turn it is the queue's. Never throws.
 */
import type { Clock, Log, Notifier, StoredTask } from '../../application/ports.ts';
import { type Fill, RECEIVER_LIMITS, TRIED_COUNT_MAX } from '../../domain/bounds.ts';
import type { Event } from '../../domain/events.ts';
import type { EndedTask, Notification } from '../../domain/model/task.ts';
import { Newest } from '../../domain/newest.ts';
import {
  type AddressPolicy,
  checkedLookup,
  plainHost,
  type Resolve,
} from '@soda-scheduler/address-policy';
import { CallbackSigner, callbackJson, isAbout, webhookId } from './callback-message.ts';
import { type Answer, CallbackRequests } from './callback-request.ts';
import { ReceiverQueue, type Turn, type Verdict } from './receiver-queue.ts';

const RETRY_AFTER_MS_MAX = 3_600_000;
const ERROR_LENGTH_MAX = 256;
/** What a cut may leave at the end; MySQL takes no JSON that has one. */
const HALF_CHARACTER = /\p{Cs}$/u;
/** What is put off comes back after this: of a host that answers nobody, and of one not known yet. */
const FAILING_WAIT_MS = 60_000;
const FIRST_ANSWER_WAIT_MS = 5_000;
const LOGGED_ORIGINS_MAX = 5;
/** A task that cannot be read is asked for less often after a minute, and after an hour each is a try: so there is an end. */
const UNREAD_SOON_MS = 60_000;
const UNREAD_FREE_MS = 3_600_000;

/** Of a body: the row that holds what is in it takes some time to be written anew. */
const LONG_BODY_LENGTH = 16 * 1024;

export interface HttpNotifierOptions {
  /** Standard Webhooks secrets (`whsec_...`), newest first; every callback is signed with each. */
  readonly secrets: readonly string[];
  readonly policy: AddressPolicy;
  readonly resolve: Resolve;
  readonly clock: Clock;
  readonly log: Log;
}

/** Whose callbacks are sent, and who is told how that went. */
export interface Sender {
  readonly namespace: string;
  readonly post: (event: Event) => void;
  readonly findTask: (taskId: string) => Promise<StoredTask | null>;
}

interface Delivery {
  /** The webhook id. */
  readonly id: string;
  /** Which try of it this is, whatever becomes of the notification meanwhile. */
  readonly of: string;
  readonly notification: Notification;
  readonly url: URL;
  task: EndedTask | null;
  /** As of the newest hand-over, like `term`: another one may lead the namespace by now. */
  sender: Sender;
  /** Of the newest hand-over. */
  term: number;
}

type Tried = Omit<
  Extract<Event, { type: 'notificationTried' }>,
  'type' | 'term' | 'taskSeq' | 'finishedAt'
>;

export class HttpNotifier {
  readonly #options: HttpNotifierOptions;
  readonly #signer: CallbackSigner;
  readonly #queue: ReceiverQueue<Delivery>;
  readonly #requests: CallbackRequests;
  /** What is being tried, by webhook id: after a rebuild it is handed over once more. */
  readonly #trying = new Map<string, Delivery>();
  /**
   * How the newest try of each went, by webhook id. While the database refuses to write it, each is handed
   * over after every rebuild: what was delivered is not sent again, and what failed not before its time.
   */
  readonly #tried = new Newest<string, { readonly of: string; readonly tried: Tried }>(
    TRIED_COUNT_MAX,
  );
  /** Since when the tasks of these could not be read, by webhook id; null: it was read since. */
  readonly #unreadSince = new Newest<string, { readonly at: number | null }>(TRIED_COUNT_MAX);
  /** Of the callbacks that were put off, since this was logged last. */
  #putOff: { readonly origin: string; readonly why: string }[] = [];
  #stopped = false;

  /** @throws if a secret is malformed. */
  constructor(options: HttpNotifierOptions) {
    this.#options = options;
    this.#signer = new CallbackSigner(options.secrets);
    this.#requests = new CallbackRequests(
      options.clock,
      checkedLookup(options.policy, options.resolve),
    );
    this.#queue = new ReceiverQueue({
      limits: RECEIVER_LIMITS,
      start: (turn) => void this.#try(turn),
      putOff: (delivery, isFailing) => this.#crowdedOut(delivery, isFailing),
      soon: (call) => options.clock.soon(call),
      compare: (a, b) => order(a.notification, b.notification),
    });
  }

  /** For one namespace. All of them share receivers, and the turns of these. */
  of(sender: Sender): Notifier {
    return {
      deliver: (notification, task, term) => this.#deliver({ notification, task, term, sender }),
      forgetAll: () =>
        this.#queue.removeWaiting((delivery) => delivery.sender.namespace === sender.namespace),
    };
  }

  #deliver(given: Omit<Delivery, 'id' | 'of' | 'url'>): void {
    if (this.#stopped) return;
    const { notification, term, sender } = given;
    const id = webhookId(notification, sender.namespace);
    const of = tryOf(notification);
    const known = this.#tried.get(id);
    if (known?.of === of) {
      this.#report(given, known.tried);
      return;
    }
    const trying = this.#trying.get(id);
    if (trying !== undefined) {
      trying.term = term;
      trying.sender = sender;
      return;
    }
    if (!URL.canParse(notification.url)) {
      this.#report(given, failed(null, 'refused: not a URL'));
      return;
    }
    const url = new URL(notification.url);
    this.#queue.add(url.origin, plainHost(url.hostname), { id, of, url, ...given });
  }

  /** What is full here puts callbacks off, or lets them wait for others. */
  fills(): Fill[] {
    return this.#queue.fills();
  }

  /** Ends what is in flight. Its outcome is unknown, so nothing is reported. Safe to repeat. */
  stop(): void {
    this.#stopped = true;
    this.#queue.removeWaiting(() => true);
    this.#requests.stop();
  }

  async #try(turn: Turn<Delivery>): Promise<void> {
    const { id } = turn.item;
    this.#trying.set(id, turn.item);
    const json = await this.#body(turn.item);
    let verdict: Verdict = 'unknown';
    let tried: Tried | null = null;
    if (json instanceof Error) tried = this.#unread(turn.item, json.message);
    else if (typeof json !== 'string') tried = json;
    else if (!this.#stopped) {
      const answer = await this.#requests.post({
        url: turn.item.url,
        json,
        headers: () => this.#headers(id, json, turn.item.task?.traceparent ?? null),
        onSlow: () => this.#queue.setAside(turn, json.length),
      });
      verdict = verdictOf(answer);
      tried = triedOf(answer);
    }
    if (this.#stopped) return;
    this.#trying.delete(id);
    const isLong = typeof json === 'string' && json.length > LONG_BODY_LENGTH;
    if (tried !== null) {
      this.#tried.set(id, { of: turn.item.of, tried });
      this.#report(turn.item, isLong ? { ...tried, isLong } : tried);
    }
    this.#queue.settle(turn, verdict);
  }

  /** The body; how the try ends without one; or why there is no try, which costs none. */
  async #body(delivery: Delivery): Promise<string | Tried | Error> {
    const { notification, url, sender } = delivery;
    const refusal = this.#options.policy.checkUrl(url);
    if (refusal !== null) return failed(null, refusal.message);
    try {
      if (delivery.task === null) {
        const found = await sender.findTask(notification.taskId).catch(unread);
        if (found instanceof Error) return found;
        if (this.#unreadSince.get(delivery.id)) this.#unreadSince.set(delivery.id, { at: null });
        if (found === null) return gone('the task is not retained');
        delivery.task = found.task;
      }
      // Its new run brings a notification of its own; this one only gives up its place.
      if (!isAbout(notification, delivery.task)) return gone('the task was run again');
      return callbackJson(delivery.task, sender.namespace);
    } catch (error) {
      return failed(null, `the callback could not be made: ${messageOf(error)}`);
    }
  }

  #headers(id: string, json: string, traceparent: string | null): Record<string, string> {
    return {
      'content-type': 'application/json',
      'user-agent': 'soda-scheduler/2',
      // Wall time: receivers compare it with theirs, and the master's clock may have drifted.
      ...this.#signer.headers(id, Date.now(), json),
      ...(traceparent !== null && { traceparent }),
    };
  }

  /** A receiver that answers nothing must not hold the places in which others wait. */
  #crowdedOut(delivery: Delivery, isFailing: boolean): void {
    const { url } = delivery;
    const why = isFailing ? 'answers no callback in time' : 'has not answered its first callback';
    const afterMs = isFailing ? FAILING_WAIT_MS : FIRST_ANSWER_WAIT_MS;
    this.#wait(delivery, `${url.origin} ${why}`, afterMs);
  }

  /** The store may be away for a while, which costs no try; of a row that is damaged it does not pass. */
  #unread(delivery: Delivery, why: string): Tried | null {
    const now = this.#options.clock.now();
    const at = this.#unreadSince.get(delivery.id)?.at ?? now;
    this.#unreadSince.set(delivery.id, { at });
    if (now - at >= UNREAD_FREE_MS) return failed(null, why);
    const isNew = now - at < UNREAD_SOON_MS;
    this.#wait(delivery, why, isNew ? FIRST_ANSWER_WAIT_MS : FAILING_WAIT_MS);
    return null;
  }

  #wait({ notification, url, term, sender }: Delivery, why: string, afterMs: number): void {
    if (this.#stopped) return;
    const { taskSeq, finishedAt } = notification;
    const error = oneLine(`not sent: ${why}`);
    sender.post({ type: 'notificationPutOff', term, taskSeq, finishedAt, error, afterMs });
    if (this.#putOff.push({ origin: url.origin, why }) > 1) return;
    this.#options.clock.soon(() => {
      const put_off = this.#putOff.length;
      const origins = [...new Set(this.#putOff.map(({ origin }) => origin))];
      const error = this.#putOff[0]?.why;
      this.#putOff = [];
      const of = { put_off, origins: origins.slice(0, LOGGED_ORIGINS_MAX), error };
      this.#options.log.warn('callbacks were put off, not sent', of);
    });
  }

  #report(
    { notification, term, sender }: Pick<Delivery, 'notification' | 'term' | 'sender'>,
    tried: Tried,
  ): void {
    const { taskSeq, finishedAt } = notification;
    sender.post({ type: 'notificationTried', term, taskSeq, finishedAt, ...tried });
  }
}

/** Of one notification. Whoever wants it sent again begins the tries anew: that is another one. */
function tryOf({ triesSince, tries }: Notification): string {
  return `${triesSince} ${tries}`;
}

/** Whatever was tried least goes first, and of those what ended first: so each gets its turn. */
function order(a: Notification, b: Notification): number {
  return a.tries - b.tries || a.finishedAt - b.finishedAt || a.taskSeq - b.taskSeq;
}

function triedOf({ status, text, retryAfter, tryCount }: Answer): Tried {
  if (status === null) return { ...failed(null, text), tryCount };
  if (status >= 200 && status < 300) {
    return { outcome: 'delivered', status, error: null, retryAfterMs: null, tryCount };
  }
  const error = text === '' ? `HTTP ${status}` : `HTTP ${status}: ${text}`;
  if (status === 410) return { ...failed(status, error), outcome: 'gone', tryCount };
  return { ...failed(status, error), retryAfterMs: retryAfterMs(retryAfter), tryCount };
}

function failed(status: number | null, error: string): Tried {
  return { outcome: 'failed', status, error: oneLine(error), retryAfterMs: null, tryCount: 1 };
}

function unread(error: unknown): Error {
  return new Error(`the task could not be read: ${messageOf(error)}`);
}

/** There is nothing to send any more. */
function gone(error: string): Tried {
  return { ...failed(null, error), outcome: 'gone' };
}

/** A receiver that answers at all, if only to refuse this callback, is fit for the next one. */
function verdictOf({ status, timedOut }: Answer): Verdict {
  if (status === null) return timedOut ? 'silent' : 'absent';
  return status < 500 && status !== 429 ? 'well' : 'unwell';
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
