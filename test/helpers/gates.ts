/** An engine over a store in memory, for tests of what is held: whatever is asked for is read, and all of it is checked. */
import { expect } from 'chai';
import { ANY_TASK } from '../../master/domain/model/task-filter.ts';
import type { AttemptResult, Event, ExecutorHello, NewTask } from '../../master/domain/events.ts';
import { violations } from '../../master/domain/state/invariants.ts';
import type { StoredTask, TaskStore } from '../../master/application/ports.ts';
import type { Policy } from '../../master/domain/state/policy.ts';
import type { State } from '../../master/domain/state/state.ts';
import type { CommandOutcome, SubmitOutcome } from '../../master/domain/effects.ts';
import { type WaitingReason } from '../../master/domain/views/explain.ts';
import type { Why } from '../../master/domain/why/why.ts';
import { createEngine } from './engine.ts';
import { settled } from './manual-clock.ts';
import { hello, newTask } from './task.ts';

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
type Command = Without<Extract<Event, { readonly request: number }>, 'request'>;

export class GateBench {
  readonly #harness: ReturnType<typeof createEngine>;
  #seenCount = 0;
  #lastFrame = 0;
  readonly #beating = new Set<string>();

  constructor(policy: Partial<Policy> = {}) {
    this.#harness = createEngine(policy);
  }

  async start(): Promise<void> {
    const { ended } = await this.#harness.engine.start();
    ended.catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#harness.store.release();
    await this.#harness.engine.stop();
  }

  get state(): State {
    const { state } = this.#harness.engine;
    if (state === null) throw new Error('there is no state');
    return state;
  }

  get store(): TaskStore {
    return this.#harness.store;
  }

  /** All that follows has followed. */
  async settle(): Promise<void> {
    for (let round = 0; round < 5; round++) await settled();
    expect(violations(this.state)).to.deep.equal([]);
  }

  async send(event: Event): Promise<void> {
    this.#harness.engine.post(event);
    await this.settle();
  }

  async command(command: Command): Promise<CommandOutcome> {
    const reply = await this.#harness.engine.request((request) => ({ ...command, request }));
    await this.settle();
    return reply as CommandOutcome;
  }

  /** What is set for type `echo`; null: nothing any more. */
  set(concurrency: { pointer?: string; max: number } | null, more: object = {}): Promise<unknown> {
    const of = concurrency && { pointer: '/film', ...concurrency };
    const text = JSON.stringify({ limits: { concurrency: of, ...more } });
    return this.command({ type: 'typeSet', name: 'echo', text, expect: null });
  }

  /** `film/name`: a task of that name. */
  async submit(...tasks: (string | (Partial<NewTask> & { id: string }))[]): Promise<string[]> {
    const asked = tasks.map((task) => {
      const of = typeof task === 'string' ? { id: task } : task;
      const film = of.id.includes('/') ? { film: of.id.split('/')[0] } : {};
      return newTask({ params: JSON.stringify(film), requestHash: '', ...of });
    });
    const answer: readonly SubmitOutcome[] = await this.#harness.master.submit(asked);
    await this.settle();
    return answer.map(({ kind }) => kind);
  }

  async connect(
    ...ids: (string | (Partial<ExecutorHello> & { executorId: string }))[]
  ): Promise<void> {
    for (const id of ids) {
      const says = hello(typeof id === 'string' ? { executorId: id } : id);
      this.#beating.add(says.executorId);
      this.#harness.engine.post({ type: 'executorConnected', ...says });
    }
    await this.settle();
  }

  get now(): number {
    return this.#harness.clock.now();
  }

  silence(executorId: string): void {
    this.#beating.delete(executorId);
  }

  /** Time passes, second by second; executors beat. */
  async pass(ms: number, stepMs = 1_000): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      for (const id of this.#beating) {
        const { occupation, sessionId } = this.state.executors.get(id) ?? {};
        const { taskId = '', attempt = 0, accepted = false } = occupation ?? {};
        const running = accepted ? [{ taskId, attempt, state: 'running' as const }] : [];
        const about = { draining: false, running, loopLagMs: 1, rssBytes: 1 };
        const session = { executorId: id, sessionId: sessionId ?? '' };
        this.#harness.engine.post({ type: 'heartbeatReceived', ...session, ...about });
      }
      this.#harness.clock.advance(Math.min(left, stepMs));
      await this.settle();
    }
  }

  #about(executorId: string) {
    const executor = this.state.executors.get(executorId);
    const { taskId = '', attempt = 0 } = executor?.occupation ?? {};
    const sessionId = executor?.sessionId ?? '';
    return { executorId, sessionId, frameSeq: ++this.#lastFrame, taskId, attempt };
  }

  accept(executorId: string): Promise<void> {
    return this.send({ type: 'attemptAccepted', ...this.#about(executorId) });
  }

  progress(executorId: string, percent: number | null): Promise<void> {
    const report = { percent, state: undefined, checkpoint: undefined, detail: undefined };
    return this.send({ type: 'progressReported', ...report, ...this.#about(executorId) });
  }

  reject(executorId: string): Promise<void> {
    const refusal = { code: 409, message: 'not now' };
    return this.send({ type: 'attemptRejected', ...refusal, ...this.#about(executorId) });
  }

  end(executorId: string, fields: Partial<AttemptResult> = {}): Promise<void> {
    const error = fields.outcome === 'failed' ? { message: 'it broke' } : null;
    const result = { result: null, error, retryable: true, retryAfterMs: null };
    const outcome = { outcome: 'succeeded' as const, ...result, ...fields };
    return this.send({ type: 'attemptEnded', ...outcome, ...this.#about(executorId) });
  }

  /** Tasks offered since the last time, in order. */
  offers(): string[] {
    const { sent } = this.#harness.recorder;
    const since = sent.slice(this.#seenCount);
    this.#seenCount = sent.length;
    return since.flatMap(({ command }) => (command.type === 'assign' ? [command.task.id] : []));
  }

  /** The tasks in a state, by their rows. */
  async in(state: 'held' | 'waiting' | 'canceled' | 'failed' | 'expired'): Promise<string[]> {
    const page = { beforeSeq: null, limit: 200, lookCount: 1e6 };
    const { tasks } = await this.store.listTasks({ ...ANY_TASK, ...page, state });
    return tasks.map(({ task }) => task.id).sort();
  }

  async why(id: string): Promise<WaitingReason> {
    const { task } = await this.#found(id);
    const { waiting } = this.#harness.master.outlook(task);
    if (waiting === null) throw new Error(`${id} does not wait`);
    return waiting;
  }

  async wholeWhy(id: string, isNaming = true): Promise<Why> {
    return this.#harness.master.why(await this.#found(id), isNaming);
  }

  async #found(id: string): Promise<StoredTask> {
    const found = await this.#harness.master.find(id, 0);
    if (found === null) throw new Error(`there is no ${id}`);
    return found;
  }

  /** The state is thrown away and built anew from rows, as by the next master. */
  async rebuild(): Promise<void> {
    this.#harness.store.failing.set('commit', {
      error: new Error('its answer was lost'),
      after: true,
    });
    await this.command({
      type: 'typePaused',
      name: 'other',
      reason: null,
      until: null,
      by: null,
    }).catch(() => undefined);
    this.#harness.clock.advance(10_000);
    for (let round = 0; round < 20; round++) await settled();
    await this.settle();
  }
}
