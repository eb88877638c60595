/** The executors of a run: begun, replaced when they end, and disturbed. */
import type { ExecutorKind, ExecutorOptions } from './executor-kind.ts';
import { SimExecutor } from './executor.ts';
import { racksOf } from '../hosts.ts';
import { Process, type World } from '../world.ts';

/** What all executors of a run have in common. */
type Common = Omit<ExecutorOptions, 'process' | 'kind' | 'incarnation' | 'onEnd'>;

export class Fleet {
  readonly #world: World;
  readonly #common: Common;
  readonly #executors = new Set<SimExecutor>();
  #lastId = 0;
  #lastIncarnation = 0;

  constructor(world: World, common: Common) {
    this.#world = world;
    this.#common = common;
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
    const first = this.#newId();
    this.#begin({
      id: first,
      types: ['a', 'b'],
      labels: ['gpu', ...this.#racksOf(first)],
      reserve: [],
      isRogue: false,
      givesBack: false,
      isOld: random.chance(0.3),
    });
    for (let i = 1; i < count; i++) {
      const isRogue = this.#common.faults.has('handlers') && random.chance(0.25);
      const id = this.#newId();
      this.#begin({
        id,
        types: random.pick([['a'], ['b'], ['a', 'b']]),
        labels: [...(random.chance(0.4) ? ['gpu'] : []), ...this.#racksOf(id)],
        reserve: random.chance(0.2) ? ['gold'] : [],
        givesBack: this.#common.faults.has('handlers') && random.chance(0.1),
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
      ...this.#common,
      hears: kind.isOld ? null : this.#common.hears,
      process,
      kind,
      incarnation,
      onEnd: () => this.#ended(executor),
    });
    this.#executors.add(executor);
    this.#common.ledger.executorBegan(kind);
    executor.start();
  }

  #ended(executor: SimExecutor): void {
    this.#executors.delete(executor);
    const { random } = this.#world;
    const id = random.chance(0.7) ? executor.kind.id : this.#newId();
    const isRogue = executor.kind.isRogue && this.#common.faults.isStorm;
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

  #racksOf(id: string): readonly string[] {
    return this.#common.hasRacks ? racksOf(id) : [];
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
