/**
 * What a `hello` may do to the session that is known under its executor id: resume it, begin
 * another, or be refused. Decides about connections only, never about a task.
 */
import { CloseCode } from '@soda-scheduler/protocol';
import type { HelloFrame, Session } from '@soda-scheduler/protocol';
import type { HeldAttempt, MasterHandle } from '../../application/master-handle.ts';
import { maySeeDie } from '../../domain/model/executor.ts';
import { isOf, type Process, type Proof } from './attempt-macs.ts';
import type { CLOSE_REASONS, ExecutorSession } from './session.ts';

export type Admission =
  | { readonly type: 'resume'; readonly resend: NonNullable<ReturnType<Session<string>['resume']>> }
  /** The known session ends with this code, as far as it has a connection. */
  | { readonly type: 'begin'; readonly replaced: keyof typeof CLOSE_REASONS }
  | { readonly type: 'refuse'; readonly code: CloseCode; readonly reason: string };

export interface Arrival {
  readonly hello: HelloFrame;
  readonly proof: Proof;
  readonly now: number;
  /** Of whoever has no session, after a restart of the master. */
  readonly heartbeatMs: number;
}

type Memory = Pick<MasterHandle, 'attemptOf' | 'executorOf' | 'silentMs'>;

/**
 * A process that was heard of within two heartbeats lives: no other one gets its id, and no
 * `hello` that was late on a connection it has given up ends what it does.
 */
export function admit(
  known: ExecutorSession | undefined,
  arrival: Arrival,
  memory: Memory,
): Admission {
  const { hello, now } = arrival;
  if (known?.incarnation !== hello.incarnation) return admitOther(known, arrival, memory);
  const resend = known.sessionId === hello.session ? known.frames.resume(hello.received) : null;
  if (resend !== null) return { type: 'resume', resend };
  const { connection, heartbeatMs } = known;
  if (connection === null || now - connection.lastHeardAt >= 2 * heartbeatMs) {
    return { type: 'begin', replaced: 'reattach' };
  }
  const reason = 'a newer connection of this process is in use';
  return { type: 'refuse', code: CloseCode.reattach, reason };
}

/** Of a process that is not the one with the session, or where none has one. */
function admitOther(
  known: ExecutorSession | undefined,
  arrival: Arrival,
  memory: Memory,
): Admission {
  const { hello, now } = arrival;
  const superseded = { type: 'begin', replaced: 'superseded' } as const;
  const newest = memory.executorOf(hello.executor_id);
  const rivalSince =
    newest && openSince(memory, newest.occupation, { ...newest, executorId: newest.id });
  const provenSince = provenBy(arrival, memory);
  if (known === undefined) {
    // Only the row of its task, or the state, tells of it: it is still on its way back.
    const isOther = rivalSince !== null && newest?.incarnation !== hello.incarnation;
    if (!isOther || newest?.incarnation === '' || provenSince !== null) return superseded;
  }
  const silentMs = known
    ? now - (known.connection ?? known).lastHeardAt
    : memory.silentMs(hello.executor_id);
  if (silentMs >= 2 * (known ?? arrival).heartbeatMs) return superseded;
  const rival = known ?? newest;
  const isDead = rival !== null && sawDie(hello, rival);
  if (isDead && !known?.connection) return superseded;
  // Of two that are at work the earlier one: neither can turn the other out again and again.
  const isKnownAtWork = newest?.incarnation === known?.incarnation && rivalSince !== null;
  if (provenSince !== null && (!isKnownAtWork || provenSince < rivalSince)) {
    return { type: 'begin', replaced: 'idInUse' };
  }
  const reason = 'another living process uses this executor id';
  return { type: 'refuse', code: CloseCode.idInUse, reason };
}

function sawDie(
  hello: HelloFrame,
  rival: Pick<ExecutorSession, 'incarnation' | 'bootId'>,
): boolean {
  return hello.died.includes(rival.incarnation) && maySeeDie(hello.boot_id, rival);
}

/** When it was offered the open attempt that it proves to have; null: it proves none. */
function provenBy({ hello, proof }: Arrival, memory: Memory): number | null {
  if (!hello.features.includes('mac')) return null;
  const process = { executorId: hello.executor_id, incarnation: hello.incarnation };
  for (const about of hello.running) {
    const since = openSince(memory, { taskId: about.task_id, attempt: about.attempt }, process);
    if (since !== null && proof(about)) return since;
  }
  return null;
}

function openSince(
  memory: Memory,
  about: { readonly taskId: string; readonly attempt: number } | null,
  process: Process,
): number | null {
  const held: HeldAttempt | null = about && memory.attemptOf(about.taskId);
  if (held === null || held.attempt !== about?.attempt || !isOf(held, process)) return null;
  return held.state === 'offered' || held.state === 'running' ? held.offeredAt : null;
}
