/** All namespaces in memory, as a database would have them. Says nothing of what they hold. */
import { isDeepStrictEqual } from 'node:util';
import type {
  Archive,
  EndedPage,
  EndedSegment,
  NamespaceRecord,
  ShownTask,
  Store,
  TokenRecord,
  TokenStore,
} from '../../application/ports.ts';
import {
  DEFAULT_NAMESPACE_ID,
  NAMESPACE_COUNT_MAX,
  NamespaceLimit,
} from '../../application/ports.ts';
import type { Pause } from '../../domain/model/pause.ts';
import { NO_SETTINGS, type Settings } from '../../domain/state/state.ts';
import type { AuditRecord } from '../../domain/model/audit.ts';
import { type Retention, RETENTIONS } from '../../domain/model/task.ts';
import { memoryAlerts } from './alerts.ts';
import { MemoryAudit } from './audit.ts';
import { dateOf, endedBefore, noDays, prepareDays } from './days.ts';
import { MemoryTaskStore, SECRET } from './task-store.ts';

type Fixed = Omit<NamespaceRecord, keyof Settings>;

interface Namespace {
  fixed: Fixed;
  isDeleted: boolean;
  readonly tasks: MemoryTaskStore;
}

export class MemoryStore implements Store {
  readonly audit = new MemoryAudit();
  readonly tokens = memoryTokens(this.audit);
  readonly alerts = memoryAlerts(this.audit);
  /** UTC days for which history has a segment. */
  readonly #days = noDays();
  /** By number. */
  readonly #namespaces: Namespace[] = [];
  #pauseOfAll: Pause | null = null;

  constructor() {
    this.#make({ name: 'default', createdAt: 0, ...NO_SETTINGS });
  }

  async open(now: number): ReturnType<Store['open']> {
    await this.prepareSegments(now);
    const namespaces = this.#namespaces.filter(({ isDeleted }) => !isDeleted);
    const pauseOfAll = this.#pauseOfAll;
    return { secrets: [SECRET], namespaces: namespaces.map(recordOf), pauseOfAll };
  }

  async setPauseOfAll(pause: Pause | null, audit: AuditRecord | null = null): Promise<void> {
    if (audit !== null) this.audit.write([audit]);
    this.#pauseOfAll = pause;
  }

  async withWork(): Promise<number[]> {
    const busy = this.#namespaces.filter(({ tasks }) => tasks.hasWork || tasks.jobs.hasWork);
    return busy.map(({ fixed }) => fixed.id);
  }

  async createNamespace(
    record: Omit<NamespaceRecord, 'id'>,
    audit: AuditRecord | null = null,
  ): Promise<NamespaceRecord> {
    const found = this.#namespaces.find(({ fixed }) => fixed.name === record.name);
    if (found?.isDeleted !== false && audit !== null) this.audit.write([audit]);
    if (found === undefined) return recordOf(this.#make(record));
    if (found.isDeleted) {
      change(found, record);
      found.fixed = { ...found.fixed, createdAt: record.createdAt };
      found.isDeleted = false;
    }
    return recordOf(found);
  }

  async deleteNamespace(id: number, audit: AuditRecord | null = null): Promise<boolean> {
    const found = this.#namespaces[id];
    if (id === DEFAULT_NAMESPACE_ID) return false;
    if (found?.tasks.hasWork === true || found?.tasks.jobs.hasJobs === true) return false;
    if (found?.isDeleted === false) {
      found.isDeleted = true;
      found.tasks.endTerm();
      found.tasks.forgetWhole();
      if (audit !== null) this.audit.write([audit]);
    }
    return true;
  }

  tasks(namespaceId: number): MemoryTaskStore {
    const found = this.#namespaces[namespaceId];
    if (found === undefined) throw new Error(`there is no namespace ${namespaceId}`);
    return found.tasks;
  }

  async readClock(): Promise<number> {
    return Date.now();
  }

  async prepareSegments(now: number): Promise<number> {
    const count = (): number => RETENTIONS.reduce((sum, one) => sum + this.#days[one].size, 0);
    const before = count();
    const present = this.#namespaces.filter(({ isDeleted }) => !isDeleted);
    const used = present.map(({ tasks }) => tasks.settings.retention);
    prepareDays(this.#days, now, used);
    return count() - before;
  }

  async dropSegments(
    retention: Retention,
    before: number,
    servedCount = 0,
    archive: Archive | null = null,
  ): Promise<number> {
    let count = 0;
    const failures: unknown[] = [];
    for (const day of endedBefore(this.#days, retention, before, servedCount)) {
      await this.#dropDay(retention, day, archive).then(
        (hasGone) => void (count += hasGone ? 1 : 0),
        (error: unknown) => void failures.push(error),
      );
    }
    if (failures.length > 0) throw failures[0];
    return count;
  }

  async #dropDay(retention: Retention, day: number, archive: Archive | null): Promise<boolean> {
    if (this.#endedOn(retention, day).some(isTried)) return false;
    const segment = this.#segment(retention, day);
    const prepared = await archive?.prepare(segment);
    const seen = this.#endedOn(retention, day);
    if (seen.some(isTried)) return false;
    if (prepared !== undefined) {
      const isStill = await archive?.isStill(segment, prepared);
      if (!isStill || !isDeepStrictEqual(this.#endedOn(retention, day), seen)) {
        throw new Error(`${segment.day} has changed while it was archived`);
      }
    }
    await archive?.finish(segment);
    for (const { tasks } of this.#namespaces) tasks.drop(retention, day);
    this.#days[retention].delete(day);
    return true;
  }

  #endedOn(retention: Retention, day: number): readonly ShownTask[] {
    return this.#namespaces.flatMap(({ tasks }) => tasks.endedOn(retention, day));
  }

  #segment(retention: Retention, day: number): EndedSegment {
    const namespaces = this.#namespaces;
    async function* pages(): AsyncGenerator<EndedPage> {
      for (const { fixed, tasks } of namespaces) {
        const ended = tasks.endedOn(retention, day);
        if (ended.length > 0) yield { namespace: fixed.name, tasks: ended };
      }
    }
    return { retention, day: dateOf(day), pages };
  }

  async dropEvents(before: number): Promise<number> {
    return this.#namespaces.reduce((count, { tasks }) => count + tasks.feed.drop(before), 0);
  }

  async dropOccurrences(before: number): Promise<number> {
    return this.#namespaces.reduce((count, { tasks }) => count + tasks.jobs.drop(before), 0);
  }

  async foldUsage(): Promise<number> {
    for (const { tasks } of this.#namespaces) await tasks.foldUsage();
    return 0;
  }

  async dropUsage(before: string): Promise<number> {
    return this.#namespaces.reduce((count, { tasks }) => count + tasks.usage.drop(before), 0);
  }

  async addLoad(...[at, of]: Parameters<Store['addLoad']>): Promise<void> {
    for (const { namespaceId, samples } of of) {
      this.#namespaces[namespaceId]?.tasks.load.add(at, samples);
    }
  }

  async dropLoad(...of: Parameters<Store['dropLoad']>): Promise<number> {
    return this.#namespaces.reduce((count, { tasks }) => count + tasks.load.drop(...of), 0);
  }

  async learnIds(): Promise<number> {
    return 0;
  }

  async close(): Promise<void> {}

  #make(record: Omit<NamespaceRecord, 'id'>): Namespace {
    const id = this.#namespaces.length;
    if (id >= NAMESPACE_COUNT_MAX) throw new NamespaceLimit('no numbers are left');
    const { name, createdAt } = record;
    const tasks = new MemoryTaskStore(id, this.#days, this.audit);
    const made = { fixed: { id, name, createdAt }, isDeleted: false, tasks };
    change(made, record);
    this.#namespaces.push(made);
    return made;
  }
}

function memoryTokens(audit: MemoryAudit): TokenStore {
  const records = new Map<string, TokenRecord>();
  return {
    list: async () => [...records.values()],
    async add(record, made = null) {
      if (records.has(record.name)) return false;
      if (made !== null) audit.write([made]);
      records.set(record.name, record);
      return true;
    },
    async remove(name, made = null) {
      if (records.delete(name) && made !== null) audit.write([made]);
    },
    async noteUses(uses) {
      for (const { name, lastUsedAt } of uses) {
        const known = records.get(name);
        if (known !== undefined) records.set(name, { ...known, lastUsedAt });
      }
    },
  };
}

function change(namespace: Namespace, record: Omit<NamespaceRecord, 'id'>): void {
  const { paused, maxWaiting, maxRunning, retention } = record;
  namespace.tasks.settings = { paused, maxWaiting, maxRunning, retention };
}

const isTried = ({ notification }: ShownTask): boolean => notification?.state === 'pending';

const recordOf = ({ fixed, tasks }: Namespace): NamespaceRecord => ({
  ...fixed,
  ...tasks.settings,
});
