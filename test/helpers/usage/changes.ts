/** What a step has changed. */
import type { Output } from '../../../master/domain/effects.ts';

/** What becomes of rows, without what is counted beside it. */
export function changesOf({ changes }: Pick<Output, 'changes'>): Output['changes'] {
  return changes.filter((change) => !('table' in change) || change.table !== 'usage');
}
