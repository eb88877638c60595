/** I36: for every task the feed tells a story that may be, and that is the one which the rows tell. */
import type { Commit } from '../../../master/application/ports.ts';
import { taskIn } from '../../../master/domain/changes.ts';
import type { FeedEvent } from '../../../master/domain/feed/feed-event.ts';
import type { TaskState } from '../../../master/domain/model/task.ts';
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

  #told({ seq, kind, taskSeq, taskId }: FeedEvent): void {
    if (seq !== this.#lastSeq + 1) {
      this.#world.violate('I36', `event ${seq} comes after ${this.#lastSeq}`);
    }
    this.#lastSeq = seq;
    const step = STORY[kind];
    if (taskSeq === null || step === undefined) return;
    const phase = this.#phases.get(taskSeq) ?? 'none';
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
