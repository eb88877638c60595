/** I36: for every task the feed tells a story that may be, and that is the one which the rows tell. */
import type { Commit } from '../../../master/application/ports.ts';
import { taskIn } from '../../../master/domain/changes.ts';
import type { FeedEvent } from '../../../master/domain/feed/feed-event.ts';
import type { TaskState } from '../../../master/domain/model/task.ts';
import type { AttemptKey } from '../../../executor-sdk/thread-messages.ts';
import type { World } from '../world.ts';

type Phase = 'none' | 'waiting' | 'offered' | 'running' | 'suspended' | 'ended';

/** After each kind: in which phases it may come, and which one follows; null: the same. */
const STORY: Readonly<Record<string, readonly [from: readonly Phase[], to: Phase | null]>> = {
  'task.submitted': [['none'], 'waiting'],
  'task.held': [['waiting'], null],
  'task.changed': [['waiting', 'suspended'], null],
  'task.moved': [['waiting', 'suspended'], null],
  'task.start_overdue': [['waiting', 'offered', 'running'], null],
  'task.offered': [['waiting'], 'offered'],
  'task.rejected': [['offered'], 'waiting'],
  'task.assign_timeout': [['offered'], 'waiting'],
  'task.started': [['offered'], 'running'],
  'task.progress': [['running'], null],
  'task.checkpoint': [['offered', 'running'], null],
  'task.cancel_requested': [['offered', 'running'], null],
  'task.attempt_ended': [['offered', 'running'], 'waiting'],
  'task.suspended': [['waiting'], 'suspended'],
  'task.resumed': [['suspended', 'offered', 'running'], null],
  'task.finished': [['waiting', 'suspended', 'offered', 'running'], 'ended'],
  'task.retried': [['ended'], 'waiting'],
  'task.deleted': [['ended'], 'none'],
  'task.callback_tried': [['ended'], null],
  'task.callback_gave_up': [['ended'], null],
  'task.redelivered': [['ended'], null],
};

export class FeedChecks {
  readonly #world: World;
  #lastSeq = 0;
  readonly #phases = new Map<number, Phase>();
  /** By attempt, as `job/1`: what its handler has told, and how much of that the feed has. */
  readonly #tellings = new Map<string, { count: number; heardCount: number }>();

  constructor(world: World) {
    this.#world = world;
  }

  committed({ writes, events = [] }: Commit): void {
    for (const event of events) this.#told(event);
    for (const write of writes) {
      if (write.op === 'remove' || (write.table !== 'task' && write.table !== 'history')) continue;
      if (write.table === 'history' && write.op !== 'insert') continue;
      const task = taskIn(write.row);
      if (task === null) continue;
      const told = this.#phases.get(task.seq) ?? 'none';
      const is = phaseOf(task.state);
      if (told !== is)
        this.#world.violate('I36', `${task.id} is ${is}, and was told to be ${told}`);
    }
  }

  /** A handler is about to tell of something; returns the number that it has. */
  tells({ taskId, attempt }: AttemptKey): number {
    const telling = this.#tellingOf(`${taskId}/${attempt}`);
    return ++telling.count;
  }

  #tellingOf(name: string): { count: number; heardCount: number } {
    const known = this.#tellings.get(name) ?? { count: 0, heardCount: 0 };
    this.#tellings.set(name, known);
    return known;
  }

  /** All of it, in order and once, and before the success that follows it. */
  #heard({ kind, taskId, attempt, data }: FeedEvent, phase: Phase): void {
    const name = `${taskId}/${attempt}`;
    const fields = JSON.parse(data ?? '{}') as { readonly n?: number; readonly state?: string };
    if (kind.startsWith('user.')) {
      const telling = this.#tellingOf(name);
      const isTold = fields.n === ++telling.heardCount && telling.heardCount <= telling.count;
      if (isTold && (phase === 'offered' || phase === 'running')) return;
      const what = `event ${fields.n} of ${name} is told, of ${telling.count}`;
      this.#world.violate('I36', `${what}, as number ${telling.heardCount} while it is ${phase}`);
    }
    if (kind === 'task.finished' && fields.state === 'succeeded') {
      const { count, heardCount } = this.#tellingOf(name);
      if (count === heardCount) return;
      this.#world.violate('I36', `${name} has told ${count} events, and the feed ${heardCount}`);
    }
    if (kind !== 'task.deleted') return;
    for (const one of this.#tellings.keys()) {
      if (one.startsWith(`${taskId}/`)) this.#tellings.delete(one);
    }
  }

  #told(event: FeedEvent): void {
    const { seq, kind, taskSeq, taskId } = event;
    if (seq !== this.#lastSeq + 1) {
      this.#world.violate('I36', `event ${seq} comes after ${this.#lastSeq}`);
    }
    this.#lastSeq = seq;
    if (taskSeq === null) return;
    const step = STORY[kind];
    const phase = this.#phases.get(taskSeq) ?? 'none';
    this.#heard(event, phase);
    if (step === undefined) return;
    const [from, to] = step;
    if (!from.includes(phase)) {
      this.#world.violate('I36', `${kind} is told of ${taskId}, which is ${phase}`);
    }
    if (kind === 'task.resumed' && phase === 'suspended') this.#phases.set(taskSeq, 'waiting');
    else if (to !== null) this.#phases.set(taskSeq, to);
  }
}

function phaseOf(state: TaskState): Phase {
  if (state === 'held' || state === 'waiting') return 'waiting';
  if (state === 'offered' || state === 'running' || state === 'suspended') return state;
  return 'ended';
}
