/** Clients: they submit, ask again when an answer is lost, and change their minds. Some of that is about executors. */
import type { CommandOutcome, SubmitOutcome } from '../../../master/domain/effects.ts';
import type { Submission } from '../../../master/application/master-handle.ts';
import { type Override, pinOf } from '../../../master/domain/model/executor.ts';
import type { Master } from '../../../master/application/master.ts';
import type { Faults, Settings } from '../faults.ts';
import type { Ledger } from '../ledger.ts';
import type { MasterProcess } from './master-process.ts';
import { usesOf } from '../operators/limit-operator.ts';
import { Random } from '../random.ts';
import type { World } from '../world.ts';

const TIMEOUT_MS = 10_000;

/** What an executor has, whom it is for, or both; now and then its own again. */
const OVERRIDES: readonly [Partial<Override>, ...Partial<Override>[]] = [
  { labels: ['gpu'] },
  { labels: [] },
  { reserve: ['gold'] },
  { labels: ['gpu'], reserve: [] },
  { labels: null },
  { labels: null, reserve: null },
];

/** What commands are, where they are not called so. */
const EVENTS: Readonly<Record<string, string>> = {
  cancel: 'cancelRequested',
  retry: 'retryRequested',
  change: 'changeRequested',
  delay: 'changeRequested',
  redeliver: 'redeliverRequested',
};

export class Clients {
  readonly #world: World;
  readonly #settings: Settings;
  readonly #ledger: Ledger;
  readonly #master: () => MasterProcess | null;
  readonly #executorIds: () => readonly string[];
  readonly #faults: Faults;
  /** Tasks that were promised to run. */
  readonly accepted = new Set<string>();
  /** For what changes labels: the rest of a run is drawn as without that. */
  readonly #whim: Random;
  #ids: string[] = [];
  #lastId = 0;
  #pendingCount = 0;

  constructor(options: {
    world: World;
    settings: Settings;
    ledger: Ledger;
    faults: Faults;
    master: () => MasterProcess | null;
    executorIds: () => readonly string[];
  }) {
    this.#world = options.world;
    this.#settings = options.settings;
    this.#ledger = options.ledger;
    this.#master = options.master;
    this.#executorIds = options.executorIds;
    this.#faults = options.faults;
    this.#whim = new Random(options.settings.seed ^ 0x1abe1);
  }

  /** Requests that will still be tried again. */
  get pendingCount(): number {
    return this.#pendingCount;
  }

  start(): void {
    const { random } = this.#world;
    const { taskCount, stormMs, commandChance, relabels } = this.#settings;
    if (relabels) this.#relabelLater();
    let left = taskCount;
    while (left > 0) {
      const count = random.chance(0.2) ? Math.min(left, random.between(2, 12)) : 1;
      left -= count;
      this.#pendingCount++;
      this.#world.after(random.between(0, stormMs), () => this.#submitSome(count));
      for (let i = 0; i < count; i++) {
        if (!random.chance(commandChance)) continue;
        this.#world.after(random.between(100, stormMs), () => this.#command());
      }
    }
  }

  #relabelLater(): void {
    this.#world.after(this.#whim.between(200, 8_000), () => {
      if (!this.#faults.isStorm) return;
      this.#relabel();
      this.#relabelLater();
    });
  }

  #relabel(): void {
    const executorId = this.#whim.pick(this.#executorIds());
    if (executorId === undefined) return;
    const override = this.#whim.pick(OVERRIDES);
    const what = `client: relabel ${executorId} ${JSON.stringify(override)}`;
    this.#world.log(what);
    const author = this.#ledger.audit.author('relabelRequested');
    this.#call(
      (master) => master.by(author).relabelExecutor(executorId, override, null),
      (outcome) => this.#world.log(`${what}: ${outcome?.kind ?? 'unknown'}`),
    );
  }

  #submitSome(count: number): void {
    const { random, wall: now } = this.#world;
    const tasks = Array.from({ length: count }, () => {
      const isTaken = this.#ids.length > 0 && random.chance(0.05);
      const id = isTaken ? (random.pick(this.#ids) as string) : `t${++this.#lastId}`;
      const isLimited = this.#settings.limitsStarts && this.#lastId % 7 < 2;
      const limit = startLimitOf(isLimited ? this.#lastId : null);
      const uses = this.#settings.usesLimits ? usesOf(this.#lastId, this.#settings) : [];
      const drawn = draw(random, now, id, isTaken || random.chance(0.8));
      const wish = this.#wishOf(this.#lastId);
      return {
        ...drawn,
        ...limit,
        uses,
        ...wish,
        params: this.#paramsOf({ ...drawn, ...wish }, drawn.params),
      };
    });
    this.#submit(tasks, 0);
  }

  /** By its number, as that: for whom it is. What may find nobody has an end. */
  #wishOf(number: number): Partial<Submission> {
    const { routesTypes, pinsTasks, hasDisks } = this.#settings;
    const deadlineAt = this.#world.wall + 25_000 + ((number * 7_919) % 60_000);
    const isPinned = pinsTasks && number % 4 === 1;
    const isLarge = hasDisks && number % 3 === 1;
    return {
      ...(routesTypes && { params: `{"k":${number % 3}}` }),
      ...(isPinned && { requires: [pinOf(`x${1 + (number % 3)}`)] }),
      ...(isLarge && { diskBytes: 2 ** (30 + (number % 3)) }),
      ...((isPinned || isLarge) && { deadlineAt }),
    };
  }

  /** Where types are limited by a value, few have another. */
  #paramsOf({ params }: Submission, drawn: string): string {
    if (!this.#settings.gatesTypes) return params;
    return `{"k":${this.#lastId % 3},"n":${Number(/\d+/.exec(drawn)?.[0]) % 4}}`;
  }

  #submit(tasks: readonly Submission[], tries: number): void {
    this.#call(
      (master) => master.submit(tasks),
      (outcomes) => this.#answered(tasks, outcomes, tries),
    );
  }

  #answered(
    tasks: readonly Submission[],
    outcomes: readonly SubmitOutcome[] | null,
    tries: number,
  ): void {
    const again: Submission[] = [];
    tasks.forEach((task, index) => {
      const outcome = outcomes?.[index];
      if (outcome?.kind === 'accepted' || isRepetition(task, outcome)) {
        if (outcome?.kind === 'accepted') this.#world.log(`client: ${task.id} is accepted`);
        this.#ledger.effect(`202 of ${task.id}`, this.#ledger.wasAccepted(task.id));
        this.accepted.add(task.id);
        this.#ids.push(task.id);
      } else if (outcome?.kind === 'taken') {
        this.#world.log(`client: ${task.id} is taken`);
      } else if (outcome?.kind === 'overdue') {
        this.#world.log(`client: ${task.id} comes after its deadline`);
      } else if (task.requestHash !== '' || outcome !== undefined) {
        // Unknown, or refused for now. Without an id of its own it could begin twice.
        again.push(task);
      }
    });
    if (again.length === 0 || tries === 100) {
      this.#pendingCount--;
      return;
    }
    const waitMs = this.#world.random.between(100, 4_000);
    this.#world.after(waitMs, () => this.#submit(again, tries + 1));
  }

  #command(): void {
    const { random, wall: now } = this.#world;
    const id = random.pick(this.#ids);
    const executorId = random.pick(this.#executorIds());
    if (id === undefined || executorId === undefined) return;
    const commands: Record<string, (master: Master) => Promise<CommandOutcome>> = {
      cancel: (master) => master.cancel(id),
      retry: (master) => master.retry(id),
      change: (master) => master.change(id, { priority: random.between(-60, 60) }),
      delay: (master) => master.change(id, { runAt: now + random.between(0, 20_000) }),
      redeliver: (master) => master.redeliver(id),
      drain: (master) =>
        master.drainExecutor(
          executorId,
          random.chance(0.5) ? random.between(0, 5_000) : null,
          null,
          null,
        ),
      resume: (master) => master.resumeExecutor(executorId),
    };
    const name = random.pick(Object.keys(commands)) as string;
    const command = commands[name] as (typeof commands)[string];
    const about = name === 'drain' || name === 'resume' ? executorId : id;
    this.#world.log(`client: ${name} ${about}`);
    const author = this.#ledger.audit.author(EVENTS[name] ?? name);
    const ask = (master: Master) => command(master.by(author));
    this.#call(ask, (outcome) => {
      this.#world.log(`client: ${name} ${about}: ${outcome?.kind ?? 'no answer'}`);
      this.#ledger.audit.answered(author, outcome);
    });
  }

  /** Over a network with a timeout. Null: the outcome is unknown. */
  #call<T>(ask: (master: Master) => Promise<T>, answered: (outcome: T | null) => void): void {
    const { random } = this.#world;
    let isAnswered = false;
    const answer = (outcome: T | null): void => {
      if (isAnswered) return;
      isAnswered = true;
      answered(outcome);
    };
    const askedAt = this.#world.now;
    const master = this.#master();
    this.#world.after(TIMEOUT_MS, () => {
      const { process } = master ?? {};
      const ran = process?.isAlive && !process.isPaused && process.resumedAt < askedAt;
      if (!isAnswered && ran) this.#world.violate('T4', `a request of ${askedAt} has no answer`);
      answer(null);
    });
    if (master === null) return;
    this.#world.after(random.between(1, 20), () => {
      master.process.deliver(() => {
        ask(master.handle).then(
          (outcome) => master.process.after(random.between(1, 20), () => answer(outcome)),
          () => master.process.after(random.between(1, 20), () => answer(null)),
        );
      });
    });
  }
}

function draw(random: Random, now: number, id: string, isChosen: boolean): Submission {
  const maybe = <T>(probability: number, value: () => T): T | null =>
    random.chance(probability) ? value() : null;
  return {
    id,
    type: random.pick(['a', 'b']),
    params: `{"n":${random.between(1, 999)}}`,
    labels: random.chance(0.2) ? ['gold'] : [],
    requires: random.chance(0.2) ? ['gpu'] : [],
    user: { group: random.pick(['g', 'g', 'h']), project: null, env: null, user: null },
    notifyUrl: maybe(0.6, () => 'http://receiver.test/done'),
    requestHash: isChosen ? `hash of ${id} ${random.between(0, 1e9)}` : '',
    priority: random.chance(0.3) ? random.between(-30, 30) : 0,
    // On the second, so that several become due at once.
    runAt: maybe(0.25, () => 2_000 * Math.ceil((now + random.between(0, 20_000)) / 2_000)),
    retry: {
      maxAttempts: random.pick([0, 1, 2, 3, 5]),
      interval: random.pick<number | readonly number[]>([1, -1, 4, [1, 2, 3]]),
    },
    assignTimeoutMs: null,
    executionTimeoutMs: maybe(0.3, () => random.between(1_000, 20_000)),
    stallTimeoutMs: maybe(0.1, () => random.between(2_000, 10_000)),
    deadlineAt: maybe(0.15, () => now + random.between(2_000, 90_000)),
    startTimeoutMs: null,
    startTimeoutAction: null,
    diskBytes: null,
    uses: [],
    traceparent: null,
  };
}

/** By its number, not by chance: the rest of a run is drawn as without it. Some are only told of. */
function startLimitOf(
  number: number | null,
): Pick<Submission, 'startTimeoutMs' | 'startTimeoutAction'> {
  return {
    startTimeoutMs: number === null ? null : 1_000 + ((number * 7_919) % 59_000),
    startTimeoutAction: number !== null && number % 3 === 0 ? 'alert' : null,
  };
}

/** This very request was accepted before. */
function isRepetition({ requestHash }: Submission, outcome: SubmitOutcome | undefined): boolean {
  return outcome?.kind === 'taken' && requestHash !== '' && outcome.holderHash === requestHash;
}
