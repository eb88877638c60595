/**
 * Fair shares of one type: its groups take turns by stride scheduling. Each offer adds 1/weight to the
 * pass of its group, and the group with the least pass is next; inside a group the order is that of all
 * tasks. A group has one pass, in however many kinds it has tasks, so that none gains by its labels.
 *
 * A turn begins no earlier than the one before it. So a group that had nothing, or nothing that anybody
 * might have been offered, has saved up no turns by that, and one that was alone owes none. In memory
 * only: in a state that is built anew all begin anew.
 *
 * Like those of all tasks (`agenda.ts`) its agendas hold lower bounds: a pass only grows.
 */
import { LANES_MAX, SHARE_LANE_COUNT_MAX } from '../bounds.ts';
import { Agenda, OUT, type Rank, type Standing } from './agenda.ts';
import { headOfLane, type Junction, type Kind, type Lane } from './lane.ts';
import type { Task } from '../model/task.ts';

/** By group, for those that have another than 1. */
type Weights = Readonly<Record<string, number>>;

interface Share {
  readonly group: string;
  /** Where its next turn begins, or, if that is later, where the last one of all began. */
  pass: number;
  laneCount: number;
}

/** A task, with the pass of its group. */
interface Turn {
  readonly task: Task;
  readonly share: Share;
}

/** A lane, as it stands among those of its kind. */
interface LaneTurn extends Standing {
  readonly lane: Lane;
  readonly share: Share;
}

/** A kind, as it stands in a junction. */
interface KindTurn extends Standing {
  readonly kind: Kind;
  readonly junction: Junction;
  /** Its lanes of which a task may be offered. */
  readonly open: Agenda<LaneTurn, Turn>;
}

export class Shares {
  #weights = new Map<string, number>();
  /** Where the turn began that was taken last. */
  #begunAt = 0;
  readonly #shares = new Map<string, Share>();
  /** Those without a lane, which has gone to make room; the longest so first. */
  readonly #gone = new Set<Share>();
  readonly #lanes = new Map<Lane, LaneTurn>();
  readonly #kinds = new Map<Kind, KindTurn[]>();
  readonly #junctions = new WeakMap<Junction, Agenda<KindTurn, Turn>>();
  /** Lanes that take no turns yet: there are so many that they begin to some at a time. */
  readonly #late: Lane[];

  constructor(weights: Weights, lanes: readonly Lane[]) {
    this.weigh(weights);
    this.#late = [...lanes];
    this.admitSome();
  }

  /** Whether all lanes of the type take turns. */
  get isWhole(): boolean {
    return this.#late.length === 0;
  }

  /** Some of those that do not yet. */
  admitSome(): void {
    for (const lane of this.#late.splice(-SHARE_LANE_COUNT_MAX)) {
      // It may have gone since.
      if (lane.kind.lanes.get(lane.group) === lane) this.add(lane);
    }
  }

  /** Of turns from now on. */
  weigh(weights: Weights): void {
    this.#weights = new Map(Object.entries(weights));
  }

  add(lane: Lane): void {
    const { group, kind } = lane;
    const share = this.#shareOf(group);
    share.laneCount++;
    this.#gone.delete(share);
    this.#lanes.set(lane, { lane, share, ...OUT });
    if (!this.#kinds.has(kind)) this.#kinds.set(kind, this.#stand(kind));
    this.announce(lane);
  }

  /** It has no tasks any more; a kind goes with its last lane. */
  remove(lane: Lane): void {
    const { kind } = lane;
    const turn = this.#lanes.get(lane);
    const stands = this.#standsOf(kind);
    if (turn !== undefined) {
      stands[0]?.open.remove(turn);
      this.#lanes.delete(lane);
      if (--turn.share.laneCount === 0) this.#retire(turn.share);
    }
    if (kind.lanes.size > 0) return;
    for (const stand of stands) this.#at(stand.junction).remove(stand);
    this.#kinds.delete(kind);
  }

  /** Its first task may come earlier than the one before; or it had none that might be offered. */
  announce(lane: Lane): void {
    const turn = this.#lanes.get(lane);
    const next = turn && nextOf(turn);
    if (turn === undefined || next === undefined) return;
    const stands = this.#standsOf(lane.kind);
    stands[0]?.open.announce(turn, next);
    for (const stand of stands) this.#at(stand.junction).announce(stand, next);
  }

  /**
   * Whose turn it is, of the kinds in these junctions that `fits` lets pass, and the tasks that `taskOf`
   * finds in a lane. It may take tasks out, and must not announce.
   */
  next(
    junctions: readonly Junction[],
    fits: (kind: Kind) => boolean,
    taskOf: (lane: Lane) => Task | undefined,
  ): Task | undefined {
    const ofLane = ({ lane, share }: LaneTurn): Turn | undefined => {
      const task = taskOf(lane);
      return task && { task, share };
    };
    const ofKind = ({ kind, open }: KindTurn) => (fits(kind) ? open.choose(ofLane) : undefined);
    let best: Turn | undefined;
    for (const junction of junctions) {
      const open = this.#junctions.get(junction);
      if (open !== undefined) best = open.choose(ofKind, best);
    }
    return best?.task;
  }

  /** A task of the lane is offered. */
  take({ group }: Lane): void {
    const share = this.#shareOf(group);
    this.#begunAt = Math.max(this.#begunAt, share.pass);
    share.pass = this.#begunAt + 1 / (this.#weights.get(group) ?? 1);
  }

  /** Turns of `other` that begin before the one of the group that comes after `count` of its own: so many at most. */
  turnsBefore(group: string, count: number, other: string): number {
    const beginOf = (of: string) => Math.max(this.#shares.get(of)?.pass ?? 0, this.#begunAt);
    const at = beginOf(group) + count / (this.#weights.get(group) ?? 1);
    const from = beginOf(other);
    return at < from ? 0 : Math.floor((at - from) * (this.#weights.get(other) ?? 1)) + 1;
  }

  /** Passes of groups, from where the last turn began: negative where one may not have had its turn. */
  *leads(): Generator<readonly [group: string, lead: number]> {
    for (const { group, pass } of this.#shares.values()) yield [group, pass - this.#begunAt];
  }

  /** What stands where, and where it belongs; for checks. */
  *standings(): Generator<{ agenda: Iterable<Standing>; queue: Standing; rank: Rank; of: string }> {
    for (const turn of this.#lanes.values()) {
      const next = nextOf(turn);
      if (next === undefined) continue;
      const rank = rankOfTurn(next);
      const of = `the share of ${turn.lane.group}`;
      for (const stand of this.#standsOf(turn.lane.kind)) {
        yield { agenda: stand.open, queue: turn, rank, of };
        yield { agenda: this.#at(stand.junction), queue: stand, rank, of };
      }
    }
  }

  /** What it has had is remembered for as long as that says anything: it may come back at once. */
  #retire(share: Share): void {
    this.#gone.add(share);
    for (const gone of this.#gone) {
      if (gone.pass > this.#begunAt && this.#gone.size <= LANES_MAX) return;
      this.#gone.delete(gone);
      this.#shares.delete(gone.group);
    }
  }

  #stand(kind: Kind): KindTurn[] {
    const open = new Agenda<LaneTurn, Turn>(nextOf, rankOfTurn);
    return kind.stands.map(({ junction }) => ({ kind, junction, open, ...OUT }));
  }

  #at(junction: Junction): Agenda<KindTurn, Turn> {
    let agenda = this.#junctions.get(junction);
    if (agenda === undefined) {
      agenda = new Agenda(({ open }) => {
        const first = open.first();
        return first && nextOf(first);
      }, rankOfTurn);
      this.#junctions.set(junction, agenda);
    }
    return agenda;
  }

  #shareOf(group: string): Share {
    let share = this.#shares.get(group);
    if (share === undefined) this.#shares.set(group, (share = { group, pass: 0, laneCount: 0 }));
    return share;
  }

  #standsOf(kind: Kind): KindTurn[] {
    return this.#kinds.get(kind) ?? [];
  }
}

function nextOf({ lane, share }: LaneTurn): Turn | undefined {
  const task = headOfLane(lane);
  return task && { task, share };
}

function rankOfTurn({ task, share }: Turn): Rank {
  const { queueTime: time, seq } = task;
  return { pass: share.pass, time, seq };
}
