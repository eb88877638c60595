/** Groups failed tasks by their errors, from lists of them: a scope and the bounds of lists hold by themselves. */
import type { FailedTask } from '../../../application/ports.ts';
import type { TaskFilter } from '../../../domain/model/task-filter.ts';
import { alike, piecesOf } from '../../../domain/views/alike.ts';
import type { ScopedMaster } from '../../scoped-master.ts';

/** Tasks that one request looks at. */
const LOOKED_MAX = 800;
/** Errors told apart by one request. */
const ERRORS_MAX = 100;
/** Of these tasks so many are named. */
const SAMPLE_COUNT = 3;

interface ErrorGroup {
  readonly error: string;
  count: number;
  readonly sample: string[];
  /** What all of the messages have, the longest first. */
  pieces: readonly string[];
}

export interface FoundErrors {
  /** The most frequent first. */
  readonly errors: readonly (Omit<ErrorGroup, 'pieces'> & { readonly search: string | null })[];
  readonly lookedCount: number;
  /** Where the next ones are; null: these are all. */
  readonly beforeSeq: number | null;
}

export async function findErrors(
  master: ScopedMaster,
  filter: TaskFilter,
  from: number | null,
): Promise<FoundErrors> {
  const groups = new Map<string, ErrorGroup>();
  const query = { ...filter, state: 'failed', beforeSeq: from, limit: LOOKED_MAX } as const;
  const { failures, beforeSeq } = await master.lists.failures(query);
  let [lookedCount, last] = [0, beforeSeq];
  for (const failure of failures) {
    note(groups, failure);
    lookedCount += 1;
    if (groups.size < ERRORS_MAX || lookedCount === failures.length) continue;
    // Those of the next request are told apart anew.
    last = failure.seq;
    break;
  }
  const names = [...groups.keys()];
  const errors = [...groups.values()]
    .sort((a, b) => b.count - a.count)
    .map(({ pieces, ...group }) => {
      // Whoever looks for it would find those too.
      const isOfOthers = (piece: string) =>
        names.some((name) => name !== group.error && name.includes(piece));
      return { ...group, search: pieces.find((piece) => !isOfOthers(piece)) ?? null };
    });
  return { errors, lookedCount, beforeSeq: last };
}

/** One without an error, such as a task that was not started in time, has failed for its reason. */
function note(groups: Map<string, ErrorGroup>, { id, message, failureReason }: FailedTask): void {
  const name = message === null ? (failureReason ?? '') : alike(message);
  const first = { error: name, count: 0, sample: [], pieces: piecesOf(message ?? '') };
  const group: ErrorGroup = groups.get(name) ?? first;
  groups.set(name, group);
  group.count++;
  // White space may differ in what is told as one.
  group.pieces = group.pieces.filter((piece) => message?.includes(piece) === true);
  if (group.sample.length < SAMPLE_COUNT) group.sample.push(id);
}
