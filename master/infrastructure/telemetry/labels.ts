/** Names that users give, as labels of metrics: only so many get one of their own. */
import { DEFAULT_NAMESPACE } from '@soda-scheduler/protocol';

/** Task types with a label of their own in the metrics; those that come later share `other`. */
const TYPE_LABELS_MAX = 200;

/** Groups with a label of their own in the metrics; those that come later share `(other)`. */
const GROUP_LABELS_MAX = 100;

/** Shared limits with figures in the metrics; those that come later have none. */
const LIMIT_LABELS_MAX = 200;

/** Namespaces with a label of their own in the metrics; those that have work later share `(other)`. */
const NAMESPACE_LABELS_MAX = 20;

/** What a name is called in a label. */
export interface Labels {
  readonly typeOf: (type: string) => string;
  readonly groupOf: (group: string) => string;
  /** Null: it has no figures, for those of several limits have no sum. */
  readonly limitOf: (limit: string) => string | null;
  /** Asked only once there is something to count: the first so many with work are those with a name. */
  readonly namespaceOf: (namespace: string) => string;
}

export function createLabels(): Labels {
  const others = boundedLabels(NAMESPACE_LABELS_MAX, '(other)');
  return {
    typeOf: boundedLabels(TYPE_LABELS_MAX, 'other'),
    groupOf: boundedLabels(GROUP_LABELS_MAX, '(other)'),
    limitOf: boundedLabels(LIMIT_LABELS_MAX, null),
    // It keeps its name, however many others have work first.
    namespaceOf: (name) => (name === DEFAULT_NAMESPACE ? name : others(name)),
  };
}

/** The first so many names stay themselves: a label once given never changes its meaning. */
function boundedLabels<Rest extends string | null>(
  countMax: number,
  rest: Rest,
): (name: string) => string | Rest {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size >= countMax) return rest;
    known.add(name);
    return name;
  };
}
