/** L1: what is known to have lived did not die of the task. */
import { CONTACT_COUNT_MAX } from '../../../master/domain/bounds.ts';
import type { AttemptRecord, Task } from '../../../master/domain/model/task.ts';
import type { World } from '../world.ts';

/** The crash budget of every run. */
const CRASH_COUNT_MIN = 3;

/** A task was given up after these. */
export function checkBudget(world: World, { id }: Task, attempts: readonly AttemptRecord[]): void {
  const count = (outcome: string) => attempts.filter((one) => one.outcome === outcome).length;
  const { lost, contacts } = { lost: count('lost'), contacts: count('lost_contact') };
  if (lost >= CRASH_COUNT_MIN || contacts >= CONTACT_COUNT_MAX) return;
  world.violate('L1', `${id} was given up after ${lost} deaths and ${contacts} lost contacts`);
}
