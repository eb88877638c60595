/**
 * What is said of a disk on which nothing can be written any more: it is raised in memory and told meanwhile, and raised
 * by its row, under the same id, once there is room. Never tells what can be written.
 */
import { type Alert, type Finding, keyOf, type Telling } from '../../domain/alerts/alert.ts';
import type { AlertBook } from '../../domain/alerts/book.ts';
import { fieldsOf, secondsOf } from '../../domain/alerts/fields.ts';
import { findDisk } from '../../domain/alerts/findings.ts';
import type { AlertReceiver, AlertRule } from '../../domain/alerts/rule.ts';
import { inWords } from '../../domain/why/words.ts';
import { type AlertSender, type Clock, type Disk, type Log, TermLost } from '../ports.ts';
import { byReceiver } from './tell.ts';

interface FullDiskOptions {
  readonly clock: Clock;
  readonly disk: Disk;
  readonly sender: Pick<AlertSender, 'send'>;
  readonly log: Log;
  readonly newId: () => string;
}

/** As it was read last. */
interface Known {
  readonly rules: readonly AlertRule[];
  readonly receivers: ReadonlyMap<string, AlertReceiver>;
  readonly book: AlertBook;
  /** False: something may have been written since, of which nobody has heard. */
  readonly isRead: boolean;
}

/** What one rule finds. */
interface Held {
  readonly toldAs: Pick<Alert, 'id' | 'raisedAt'>;
  /** Checks in a row that could not be written. */
  count: number;
  telling: Telling | null;
  /** The id of the message for each receiver; null: it is told, or refuses to be. */
  readonly messages: Map<string, string | null>;
}

export class FullDisk {
  readonly #options: FullDiskOptions;
  readonly #known: () => Promise<Known>;
  /** By rule. */
  readonly #held = new Map<string, Held>();
  readonly #busy = new Set<string>();

  constructor(options: FullDiskOptions, known: () => Promise<Known>) {
    this.#options = options;
    this.#known = known;
  }

  /** Where that check fails and the disk is full, receivers are told so. */
  async during<T>(check: () => Promise<T>): Promise<T> {
    try {
      return await check();
    } catch (error) {
      // Of another master's disk that one tells.
      if (!isDeposed(error)) await this.#look(await this.#known(), this.#options.clock.now());
      throw error;
    }
  }

  async #look({ rules, receivers, book, isRead }: Known, now: number): Promise<void> {
    const space = await this.#options.disk();
    if (space === null) return;
    for (const rule of rules.filter(({ kind }) => kind === 'disk')) {
      const finding = findDisk(rule, space);
      if (finding === null) continue;
      const held = this.#heldOf(rule, now);
      held.count += 1;
      // What nothing can be written of is no passing thing; and whoever counts looks has begun anew, as he has read again.
      const isSure = isRead || held.count >= rule.checkCount;
      if (isSure) held.telling ??= tellingOf(rule, held, finding, book, now);
      if (held.telling === null) continue;
      const told = byReceiver([held.telling], rules, new Set(receivers.keys()));
      for (const name of told.keys()) {
        const receiver = receivers.get(name);
        if (receiver !== undefined) void this.#tell(receiver, held, held.telling);
      }
    }
  }

  /** What is to be raised by that rule: also what was told and is over. */
  found({ name }: AlertRule, findings: readonly Finding[], now: number): readonly Finding[] {
    const { toldAs, telling } = this.#held.get(name) ?? { telling: null };
    if (telling === null) return findings;
    if (findings.length > 0) return findings.map((finding) => ({ ...finding, toldAs }));
    const { namespace, type, group, subject, message, change, raisedAt } = telling.alert;
    const long = `Nothing could be written for ${inWords(now - raisedAt)}.`;
    const known = JSON.parse(telling.alert.fields ?? '{}') as object;
    const fields = fieldsOf({ ...known, unwritten: secondsOf(now - raisedAt) });
    const about = { namespace, type, group, subject, change };
    return [{ ...about, message: `${message} ${long}`, fields, toldAs }];
  }

  /** All that was found is. */
  written(): void {
    this.#held.clear();
  }

  #heldOf({ name }: AlertRule, now: number): Held {
    const known = this.#held.get(name);
    if (known !== undefined) return known;
    const toldAs = { id: this.#options.newId(), raisedAt: now };
    const held: Held = { toldAs, count: 0, telling: null, messages: new Map() };
    this.#held.set(name, held);
    return held;
  }

  /** Again with the next check where it fails. */
  async #tell(receiver: AlertReceiver, { messages }: Held, telling: Telling): Promise<void> {
    const { name } = receiver;
    const known = messages.get(name);
    if (known === null || this.#busy.has(name)) return;
    const id = known ?? this.#options.newId();
    messages.set(name, id);
    this.#busy.add(name);
    const message = { id, told: [telling], moreCount: 0 };
    const { error, isFinal } = await this.#options.sender.send(receiver, message);
    this.#busy.delete(name);
    if (error === null || isFinal) messages.set(name, null);
    const fields = { event: 'alert', alert: telling.alert.id, receiver: name, error };
    this.#options.log.warn('an alert that cannot be written was told', fields);
  }
}

function isDeposed(error: unknown): boolean {
  return error instanceof TermLost || (error instanceof Error && error.cause instanceof TermLost);
}

/** Null: it is raised already, or silenced. */
function tellingOf(
  rule: AlertRule,
  { toldAs }: Held,
  found: Finding,
  book: AlertBook,
  now: number,
): Telling | null {
  if (book.raisedAs(keyOf({ ...found, rule: rule.name })) !== undefined) return null;
  const checked = [{ rule, findings: [{ ...found, toldAs }] }];
  const { tellings } = book.check(
    checked,
    () => false,
    now,
    () => toldAs.id,
  );
  return tellings.find(({ event }) => event === 'raised') ?? null;
}
