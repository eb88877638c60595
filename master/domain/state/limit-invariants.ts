/** Of the invariants (`invariants.ts`) those of limits: what is counted towards them is what there is. */
import { candidateOf, concurrencyOf, freeIn, gateKeyOf } from '../limits/places.ts';
import { countTaken, createSupply } from '../limits/supply.ts';
import type { State } from './state.ts';

const USAGES = ['waitingCount', 'attemptCount', 'bookedCount', 'reservedCount'] as const;

export type Expect = (holds: boolean, invariant: string, what: () => string) => void;

/** What is counted towards limits, by what there is. */
export function checkQuotas(state: State, expect: Expect): void {
  const { quotas, types } = state;
  expect(
    [...quotas.keys()].every((type) => types.has(type)),
    'S11',
    () => 'a quota of no type',
  );
  for (const [name, taskType] of types) {
    const quota = quotas.get(name);
    const isSame = quota?.taskType === taskType;
    expect(isSame, 'S11', () => `the quota of ${name} is not that of its row`);
    if (quota === undefined) continue;
    const none = { waitingCount: 0, attemptCount: 0, bookedCount: 0, reservedCount: 0 };
    const counts = new Map<string, typeof none>();
    const of = (group: string) => {
      const found = counts.get(group) ?? { ...none };
      counts.set(group, found);
      return found;
    };
    for (const lane of state.lanes.values()) {
      if (lane.kind.type !== name) continue;
      of(lane.group).waitingCount += lane.waitingCount;
      const isKnown = lane.quota !== null && lane.quota === quota.groups.get(lane.group);
      expect(
        isKnown && (lane.quota?.lanes.has(lane.id) ?? false),
        'S11',
        () => `lane ${lane.id} of ${name}`,
      );
    }
    for (const { occupation } of [...state.executors.values(), ...state.elders.values()]) {
      if (occupation?.type !== name) continue;
      of(occupation.group).attemptCount++;
      if (occupation.booking !== null) of(occupation.group).bookedCount++;
    }
    for (const { reserved } of state.bookings.active.values()) {
      if (reserved.type === name && reserved.count > 0)
        of(reserved.group).reservedCount += reserved.count;
    }
    const total = { ...none };
    for (const [group, counted] of counts) {
      for (const key of USAGES) total[key] += counted[key];
      const kept = quota.groups.get(group);
      const isRight = USAGES.every((key) => kept?.[key] === counted[key]);
      const what = () => USAGES.map((key) => `${kept?.[key]} of ${counted[key]} ${key}`).join(', ');
      expect(isRight, 'S11', () => `${name}, ${group}: ${what()}`);
    }
    expect(quota.groups.size === counts.size, 'S11', () => `${name} has groups without anything`);
    const isRight = USAGES.every((key) => quota[key] === total[key]);
    const what = () => USAGES.map((key) => `${quota[key]} of ${total[key]} ${key}`).join(', ');
    expect(isRight, 'S11', () => `${name}: ${what()}`);
  }
}

/** Nothing may be offered of lanes whose group is paused, or a label of their kind; of others it may, or soon. */
export function checkPauses(state: State, expect: Expect): void {
  const paused = (scope: string) =>
    new Set([...state.pauses.values()].filter((row) => row.scope === scope).map(valueOf));
  const [groups, labels] = [paused('group'), paused('label')];
  const resumed = new Set(state.resumed);
  for (const lane of state.lanes.values()) {
    const { id, group, kind, isPaused } = lane;
    const named = [...kind.requires, ...kind.labels];
    const is = groups.has(group) || named.some((label) => labels.has(label));
    expect(
      is === isPaused || (isPaused && resumed.has(lane)),
      'S14',
      () => `lane ${id} is${isPaused ? '' : ' not'} paused`,
    );
  }
}

const valueOf = ({ value }: { readonly value: string }): string => value;

/** What is known of gates, by what there is. */
export function checkGates(state: State, expect: Expect): void {
  const attempts = new Map<number, number>();
  for (const { occupation } of [...state.executors.values(), ...state.elders.values()]) {
    const key = occupation?.gate ?? null;
    if (key !== null) attempts.set(key, (attempts.get(key) ?? 0) + 1);
  }
  const waiting = new Map<number, number>();
  let heldInLanes = 0;
  for (const { kind, heldCount, ready } of state.lanes.values()) {
    heldInLanes += heldCount;
    if (concurrencyOf(state, kind.type) === null) continue;
    for (const task of ready) {
      const key = gateKeyOf(state, task);
      if (key === null) continue;
      waiting.set(key, (waiting.get(key) ?? 0) + 1);
      const hasPlace = state.gates.get(key)?.candidates.find(candidateOf(task)) !== undefined;
      expect(hasPlace, 'S12', () => `${task.id} waits without a place of gate ${key}`);
    }
  }
  let heldCount = 0;
  let placeCount = 0;
  for (const [key, gate] of state.gates) {
    heldCount += gate.heldCount;
    const what = () =>
      `gate ${key}: ${JSON.stringify({ ...gate, candidates: gate.candidates.size })}`;
    expect(gate.key === key && gate.attemptCount === (attempts.get(key) ?? 0), 'S12', what);
    attempts.delete(key);
    const { size } = gate.candidates;
    placeCount += size;
    const inMemory = waiting.get(key) ?? 0;
    expect(size >= inMemory, 'S12', what);
    expect(size + gate.heldCount + gate.attemptCount > 0, 'S12', what);
    const free = freeIn(state, gate);
    expect(size === 0 || free >= 0, 'S12', what);
    const isAsked = state.loading.has('held') && state.openGates.has(gate);
    expect(!state.accepting || gate.heldCount === 0 || free <= 0 || isAsked, 'S12', what);
  }
  expect(placeCount === state.placeCount, 'S12', () => `${placeCount} places are had`);
  expect(attempts.size === 0, 'S12', () => `${attempts.size} gates of attempts are not known`);
  expect(
    heldCount === heldInLanes,
    'S12',
    () => `${heldCount} held by gates, ${heldInLanes} in lanes`,
  );
}

/** What is used of shared limits, by what executors have. */
export function checkSupplies(state: State, expect: Expect): void {
  const { supplies, holdings } = state;
  const held = [...state.executors.values(), ...state.elders.values()];
  for (const { limit, used, wide } of supplies.values()) {
    const counted = createSupply(limit);
    for (const { occupation } of held) {
      for (const taken of occupation?.taken ?? []) {
        if (taken.limit === limit.name) countTaken(counted, taken, 1);
      }
    }
    const inOrder = (counts: ReadonlyMap<string, number>) =>
      JSON.stringify([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
    const isRight = inOrder(used) === inOrder(counted.used);
    expect(isRight, 'S13', () => `${limit.name}: ${inOrder(used)}, not ${inOrder(counted.used)}`);
    for (const kind of state.kinds.values()) {
      const n = kind.uses.find((use) => use.limit === limit.name)?.n ?? 0;
      expect(n > 1 === wide.has(kind), 'S13', () => `${kind.key} takes ${n} of ${limit.name}`);
    }
    for (const kind of wide.keys()) {
      expect(state.kinds.get(kind.key) === kind, 'S13', () => `${kind.key} has gone`);
    }
  }
  for (const executor of new Set([...held, ...holdings.keys()])) {
    const { taken = [], taskId, attempt } = executor.occupation ?? {};
    const holding = holdings.get(executor);
    const isSame = holding?.taskId === taskId && holding?.attempt === attempt;
    const isRight = holding === undefined ? taken.length === 0 : isSame && holding.taken === taken;
    expect(isRight, 'S13', () => `${executor.id} has ${JSON.stringify([taken, holding])}`);
  }
}
