/** The executors of a run: begun, replaced when they end, and disturbed. */
import type { ExecutorKind, SessionSabotage } from './executor-kind.ts';
import { SimExecutor } from './executor.ts';
import type { Faults } from '../faults.ts';
import type { Ledger } from '../ledger.ts';
import type { Network, Socket } from '../network.ts';
import { Process, type World } from '../world.ts';

export class Fleet {
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #faults: Faults;
  readonly #network: Network;
  readonly #longRunChance: number;
  readonly #flipsReadiness: boolean;
  readonly #dial: (from: Process) => Socket | null;
  readonly #sabotage: SessionSabotage | undefined;
  readonly #executors = new Set<SimExecutor>();
  #lastId = 0;
  #lastIncarnation = 0;

  constructor(options: {
    world: World;
    ledger: Ledger;
    faults: Faults;
    network: Network;
    longRunChance: number;
    flipsReadiness: boolean;
    dial: (from: Process) => Socket | null;
    sabotage: SessionSabotage | undefined;
  }) {
    this.#world = options.world;
    this.#ledger = options.ledger;
    this.#faults = options.faults;
    this.#network = options.network;
    this.#longRunChance = options.longRunChance;
    this.#flipsReadiness = options.flipsReadiness;
    this.#dial = options.dial;
    this.#sabotage = options.sabotage;
  }

  get ids(): readonly string[] {
    return [...this.#executors].map(({ kind }) => kind.id);
  }

  get size(): number {
    return this.#executors.size;
  }

  /** `count` of mixed kinds. The first can do everything. */
  start(count: number): void {
    const { random } = this.#world;
    this.#begin({
      id: this.#newId(),
      types: ['a', 'b'],
      labels: ['gpu'],
      reserve: [],
      isRogue: false,
      givesBack: false,
      isOld: random.chance(0.3),
    });
    for (let i = 1; i < count; i++) {
      const isRogue = this.#faults.has('handlers') && random.chance(0.25);
      this.#begin({
        id: this.#newId(),
        types: random.pick([['a'], ['b'], ['a', 'b']]),
        labels: random.chance(0.4) ? ['gpu'] : [],
        reserve: random.chance(0.2) ? ['gold'] : [],
        givesBack: this.#faults.has('handlers') && random.chance(0.1),
        isRogue,
        isRestless: isRogue && random.chance(0.5),
        isMute: isRogue && random.chance(0.3),
        isOld: random.chance(0.3),
      });
    }
  }

  crashOne(): void {
    this.#pickRunning()?.kill('its process was killed');
  }

  /** A second process under an id whose first one lives: only one of them can be let in. */
  doubleOne(): void {
    const first = this.#pickRunning();
    if (first === undefined || first.kind.isRogue) return;
    this.#world.log(`${first.process.name} gets a double`);
    this.#begin(first.kind);
  }

  pauseOne(forMs: number): void {
    const executor = this.#pickRunning();
    if (executor === undefined) return;
    executor.process.pause();
    this.#world.after(forMs, () => executor.process.resume());
  }

  drainOne(): void {
    this.#pickRunning()?.leave();
  }

  /** Whoever is stuck is replaced; some well behaved ones join. */
  heal(): void {
    for (const executor of [...this.#executors]) {
      if (executor.kind.isRogue || executor.isStuck) executor.kill('replaced');
    }
    this.start(2);
  }

  #begin(kind: ExecutorKind): void {
    const incarnation = `i${++this.#lastIncarnation}`;
    const process = new Process(this.#world, `${kind.id}-${incarnation}`);
    const executor: SimExecutor = new SimExecutor({
      process,
      kind,
      incarnation,
      ledger: this.#ledger,
      faults: this.#faults,
      network: this.#network,
      longRunChance: this.#longRunChance,
      flipsReadiness: this.#flipsReadiness,
      dial: this.#dial,
      sabotage: this.#sabotage,
      onEnd: () => this.#ended(executor),
    });
    this.#executors.add(executor);
    this.#ledger.executorBegan(kind);
    executor.start();
  }

  #ended(executor: SimExecutor): void {
    this.#executors.delete(executor);
    const { random } = this.#world;
    const id = random.chance(0.7) ? executor.kind.id : this.#newId();
    const isRogue = executor.kind.isRogue && this.#faults.isStorm;
    const { isRestless = false, isMute = false } = executor.kind;
    const kind = {
      ...executor.kind,
      id,
      isRogue,
      isRestless: isRestless && isRogue,
      isMute: isMute && isRogue,
    };
    this.#world.after(random.between(0, 5_000), () => this.#begin(kind));
  }

  #newId(): string {
    return `x${++this.#lastId}`;
  }

  #pickRunning(): SimExecutor | undefined {
    return this.#world.random.pick(
      [...this.#executors].filter(({ process }) => process.isAlive && !process.isPaused),
    );
  }
}
