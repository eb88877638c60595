/**
 * How many executors are advised, held against a fleet that is simulated: event by event, with a queue and executors, and by
 * nothing that the advice is computed with. Days are drawn by chance, with run times as videos have them.
 */
import { expect } from 'chai';
import {
  type Advice,
  adviseFleet,
  type Objective,
  type Observed,
} from '../../../cli/fleet/advice.ts';
import { numbersOf } from '../../sim/random.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
const DAY_COUNT = 8;

/** A day: when they come, and how long one takes. */
interface Traffic {
  readonly arrivals: (random: () => number) => Iterable<number>;
  readonly runMs: (random: () => number) => number;
  /** As the number itself supposes: those of a minute come spread over it, and enough run times are known. */
  readonly isEven?: boolean;
  /** Of how many it is known how long they took. */
  readonly knownCount?: number;
}

interface Task {
  readonly cameAt: number;
  readonly runMs: number;
}

/** How many come by chance where that many come on average (Knuth, "The Art of Computer Programming", 3.4.1). */
function chance(mean: number, random: () => number): number {
  let count = -1;
  for (let product = 1; product > Math.exp(-mean); count++) product *= random();
  return count;
}

/** The middle of it, and how far it varies: most are short, and some very long. */
function lognormal(medianMs: number, spread: number, random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return medianMs * Math.exp(spread * normal);
}

/** One within each minute for each that comes in it, as by chance. */
function spread(perMinute: (minute: number, random: () => number) => number) {
  return function* (random: () => number): Generator<number> {
    for (let minute = 0; minute < DAY_MINUTES; minute++) {
      for (let count = perMinute(minute, random); count > 0; count--) {
        yield (minute + random()) * MINUTE_MS;
      }
    }
  };
}

/** Some thirty at once, by chance every ten minutes: nothing of a minute says that they came within two seconds. */
function* inBatches(random: () => number): Generator<number> {
  for (let minute = 0; minute < DAY_MINUTES; minute++) {
    for (let batch = chance(0.1, random); batch > 0; batch--) {
      const cameAt = minute * MINUTE_MS + random() * (MINUTE_MS - 2_000);
      for (let count = 1 + chance(29, random); count > 0; count--) yield cameAt + random() * 2_000;
    }
  }
}

const traffics: Record<string, Traffic> = {
  'transcodes, by chance all day': {
    arrivals: spread((_, random) => chance(4, random)),
    runMs: (random) => lognormal(90_000, 0.7, random),
    isEven: true,
  },
  'a newsroom, busy in the evening': {
    arrivals: spread((minute, random) => chance(minute > 1_080 && minute < 1_260 ? 12 : 2, random)),
    runMs: (random) => lognormal(40_000, 1, random),
    isEven: true,
  },
  'batches of thirty, each ten minutes': {
    arrivals: spread((minute) => (minute % 10 === 0 ? 30 : 0)),
    runMs: (random) => lognormal(60_000, 0.4, random),
    isEven: true,
  },
  'batches by chance, each within two seconds': {
    arrivals: inBatches,
    runMs: (random) => lognormal(60_000, 0.4, random),
  },
  'some that take very long (Pareto)': {
    arrivals: spread((_, random) => chance(0.7, random)),
    runMs: (random) => 30_000 * (1 - random()) ** (-1 / 1.5),
  },
  'by chance, where three run times are known': {
    arrivals: spread((_, random) => chance(4, random)),
    runMs: (random) => lognormal(90_000, 0.7, random),
    knownCount: 3,
  },
};

function dayOf(traffic: Traffic, random: () => number): Task[] {
  const tasks = Array.from(traffic.arrivals(random), (cameAt) => ({
    cameAt,
    runMs: traffic.runMs(random),
  }));
  return tasks.sort((a, b) => a.cameAt - b.cameAt);
}

/** What a master would have counted and kept of that day. */
function observed(day: readonly Task[], knownCount = 1_000): Observed {
  const points = Array.from({ length: DAY_MINUTES }, (_, minute) => ({
    at: minute * MINUTE_MS,
    accepted: 0,
  }));
  for (const { cameAt } of day) points[Math.floor(cameAt / MINUTE_MS)]!.accepted += 1;
  return {
    points,
    pointMs: MINUTE_MS,
    runMs: day.slice(0, knownCount).map(({ runMs }) => runMs),
  };
}

/** How many of 100 tasks start in time: what comes next is an arrival or an end, and may let the first that waits begin. */
function inTime(day: readonly Task[], executorCount: number, waitMs: number): number {
  const waiting: Task[] = [];
  const running: number[] = [];
  let next = 0;
  let punctual = 0;
  for (;;) {
    const cameAt = day[next]?.cameAt ?? Infinity;
    const endsAt = Math.min(Infinity, ...running);
    const now = Math.min(cameAt, endsAt);
    if (now === Infinity) return (100 * punctual) / day.length;
    if (endsAt <= cameAt) running.splice(running.indexOf(endsAt), 1);
    else waiting.push(day[next++] as Task);
    const first = running.length < executorCount ? waiting.shift() : undefined;
    if (first === undefined) continue;
    running.push(now + first.runMs);
    if (now - first.cameAt <= waitMs) punctual += 1;
  }
}

/** The fewest with which that day would have met the objective. */
function needOf(day: readonly Task[], { waitMs, percentile }: Objective, from: number): number {
  let count = Math.max(1, from);
  while (count > 1 && inTime(day, count - 1, waitMs) >= percentile) count -= 1;
  while (inTime(day, count, waitMs) < percentile) count += 1;
  return count;
}

describe('advice on a fleet, and that fleet simulated', () => {
  const objective: Objective = { waitMs: 30_000, percentile: 95 };
  for (const [name, traffic] of Object.entries(traffics)) {
    it(`is between what it says, and exact where tasks come evenly: ${name}`, async () => {
      const told: (Advice & { readonly need: number })[] = [];
      for (let n = 0; n < DAY_COUNT; n++) {
        const random = numbersOf(100 + n);
        const day = dayOf(traffic, random);
        const advice = await adviseFleet(observed(day, traffic.knownCount), objective, random);
        if (advice === null) throw new Error('nothing is advised');
        told.push({ ...advice, need: needOf(day, objective, advice.executors) });
      }
      const shown = JSON.stringify(told);
      // It says that nine of ten are within.
      const within = told.filter(({ low, high, need }) => low <= need && need <= high);
      expect(within.length, shown).to.be.at.least(DAY_COUNT - 1);
      if (!traffic.isEven) return;
      for (const { executors, need, low, high } of told) {
        expect(Math.abs(executors - need), shown).to.be.at.most(1);
        expect(high - low, shown).to.be.at.most(executors);
      }
    });
  }
});
