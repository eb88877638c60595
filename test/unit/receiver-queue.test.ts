/** Whose callback goes next: shares, turns of hosts, what is put off, and what is remembered. */
import { expect } from 'chai';
import {
  type ReceiverLimits,
  ReceiverQueue,
  type Turn,
  type Verdict,
} from '../../master/infrastructure/callbacks/receiver-queue.ts';

interface Item {
  readonly name: string;
  readonly rank: number;
}

const limits: ReceiverLimits = {
  proven: { begunMax: 4, inFlightMax: 8, asideBytesMax: 1000 },
  unproven: { begunMax: 2, inFlightMax: 8, asideBytesMax: 1000 },
  inFlightPerOriginMax: 3,
  unprovenWaitingMax: 20,
  failingHostWaitingMax: 3,
  knownOriginsMax: 100,
};

/** A queue, and what it has begun, in order. */
class Bench {
  readonly queue: ReceiverQueue<Item>;
  readonly begun: Turn<Item>[] = [];
  readonly putOff: string[] = [];
  /** What is to follow. */
  soon: (() => void)[] = [];

  constructor(change: Partial<ReceiverLimits> = {}) {
    this.queue = new ReceiverQueue<Item>({
      limits: { ...limits, ...change },
      start: (turn) => this.begun.push(turn),
      putOff: ({ name }, isFailing) => this.putOff.push(isFailing ? name : `${name}?`),
      soon: (call) => this.soon.push(call),
      compare: (a, b) => a.rank - b.rank,
    });
  }

  add(name: string, origin = name, rank = 0): void {
    this.queue.add(origin, origin.replace(/:.*/, ''), { name, rank });
  }

  /** Takes out what has begun since. */
  names(): string[] {
    return this.begun.map(({ item }) => item.name);
  }

  take(name: string): Turn<Item> {
    const place = this.begun.findIndex(({ item }) => item.name === name);
    const [turn] = this.begun.splice(place, 1);
    if (place < 0 || turn === undefined) throw new Error(`${name} has not begun`);
    return turn;
  }

  settle(name: string, verdict: Verdict): void {
    this.queue.settle(this.take(name), verdict);
  }

  setAside(name: string, bytes = 0): Turn<Item> {
    const turn = this.take(name);
    this.queue.setAside(turn, bytes);
    return turn;
  }

  prove(origin: string): void {
    this.add('proof', origin);
    this.settle('proof', 'well');
  }
}

describe('receiver queue', () => {
  it('begins with one, and with many once the origin has answered', () => {
    const bench = new Bench();
    for (const name of ['1', '2', '3', '4', '5']) bench.add(name, 'a');
    expect(bench.names()).to.deep.equal(['1']);
    bench.settle('1', 'well');
    expect(bench.names()).to.deep.equal(['2', '3', '4']);
  });

  it('keeps a share for those that have answered', () => {
    const bench = new Bench();
    bench.prove('good');
    for (let i = 0; i < 10; i++) bench.add(`h${i}`);
    expect(bench.names()).to.have.length(2);
    bench.add('good');
    expect(bench.names()).to.include('good');
  });

  it('keeps half of that share from those that answer slowly', () => {
    const bench = new Bench();
    const slow = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
    for (const origin of [...slow, 'good']) bench.prove(origin);
    for (const origin of slow) for (let i = 0; i < 3; i++) bench.add(origin);
    // Each of them answers at last, and never quickly.
    const aside: Turn<Item>[] = [];
    for (let i = 0; i < 20; i++) {
      for (const { item } of [...bench.begun]) aside.push(bench.setAside(item.name));
      const oldest = aside.shift();
      if (oldest !== undefined) bench.queue.settle(oldest, 'well');
    }
    for (let i = 0; i < 3; i++) bench.add('good');
    expect(bench.names()).to.include('good');
    expect(aside.length).to.be.at.most(limits.proven.inFlightMax / 2);
  });

  it('gives all of it to one that has become quick again', () => {
    const bench = new Bench();
    bench.prove('a');
    for (let i = 0; i < 6; i++) bench.add('a');
    bench.queue.settle(bench.setAside('a'), 'well');
    bench.settle('a', 'well');
    expect(bench.names()).to.have.length(limits.inFlightPerOriginMax);
  });

  it('gives the newest host, the oldest, and one that failed their turns', () => {
    const bench = new Bench({ unproven: { begunMax: 1, inFlightMax: 8, asideBytesMax: 1 } });
    bench.add('f1', 'f');
    bench.settle('f1', 'silent');
    bench.add('first');
    for (const name of ['a', 'b', 'c', 'd']) bench.add(name);
    bench.add('f2', 'f');
    const order: string[] = [];
    while (bench.begun.length > 0) {
      const [name = ''] = bench.names();
      order.push(name);
      bench.settle(name, 'silent');
    }
    expect(order.slice(0, 4)).to.have.members(['first', 'd', 'a', 'f2']);
    expect(order).to.have.members(['first', 'a', 'b', 'c', 'd', 'f2']);
  });

  it('lets the next begin when one is set aside, up to a bound', () => {
    const bench = new Bench({ unproven: { begunMax: 1, inFlightMax: 3, asideBytesMax: 1000 } });
    for (const name of ['1', '2', '3', '4']) bench.add(name);
    const aside = [bench.setAside('1'), bench.setAside(bench.names()[0] ?? '')];
    const third = bench.names()[0] ?? '';
    const held = bench.setAside(third);
    expect(bench.names(), 'three are in flight').to.deep.equal([]);
    bench.queue.settle(held, 'silent');
    expect(bench.names()).to.have.length(1);
    for (const turn of aside) bench.queue.settle(turn, 'silent');
  });

  it('bounds the bytes that wait aside', () => {
    const bench = new Bench({ unproven: { begunMax: 1, inFlightMax: 9, asideBytesMax: 10 } });
    bench.add('1');
    bench.add('2');
    const large = bench.setAside('1', 10);
    expect(bench.names()).to.deep.equal([]);
    bench.queue.settle(large, 'silent');
    expect(bench.names()).to.deep.equal(['2']);
  });

  it('leaves half of the share to hosts that have not failed', () => {
    const bench = new Bench({ unproven: { begunMax: 9, inFlightMax: 4, asideBytesMax: 1 } });
    for (const host of ['a', 'b', 'c']) {
      bench.add(host);
      bench.settle(host, 'silent');
    }
    for (const host of ['a', 'b', 'c']) bench.add(host);
    expect(bench.names()).to.have.length(2);
    bench.add('new');
    expect(bench.names()).to.include('new');
  });

  it('counts the ports of a host together until they have answered', () => {
    const bench = new Bench();
    bench.add('1', 'h:1');
    bench.add('2', 'h:2');
    expect(bench.names()).to.deep.equal(['1']);
    bench.settle('1', 'well');
    expect(bench.names()).to.deep.equal(['2']);
    bench.add('3', 'h:1');
    expect(bench.names(), 'a proven port does not wait for another').to.deep.equal(['2', '3']);
  });

  it('slows an origin that is unwell or absent, and stays with it', () => {
    for (const verdict of ['unwell', 'absent'] as const) {
      const bench = new Bench();
      bench.prove('a');
      for (const name of ['1', '2', '3', '4', '5', '6', '7', '8', '9']) bench.add(name, 'a');
      bench.settle('1', verdict);
      bench.settle('2', verdict);
      expect(bench.names(), verdict).to.deep.equal(['3']);
      bench.settle('3', verdict);
      expect(bench.names(), verdict).to.deep.equal(['4']);
      bench.settle('4', 'well');
      expect(bench.names(), verdict).to.deep.equal(['5', '6', '7']);
      expect(bench.putOff).to.deep.equal([]);
    }
  });

  it('forgives one silence, and after two keeps what was tried least', () => {
    const bench = new Bench();
    bench.prove('a');
    for (let i = 0; i < 10; i++) bench.add(`t${i}`, 'a', i < 5 ? 1 : 0);
    bench.settle('t0', 'silent');
    expect(bench.putOff).to.deep.equal([]);
    bench.settle('t1', 'silent');
    expect(bench.putOff).to.deep.equal(['t4', 't3', 't9', 't8']);
    bench.settle('t2', 'silent');
    expect(bench.names()).to.deep.equal(['t5']);
    bench.add('late', 'a', 2);
    bench.add('untried', 'a', -1);
    expect(bench.putOff.slice(4)).to.deep.equal(['late']);
    bench.settle('t5', 'well');
    expect(bench.names()).to.deep.equal(['untried', 't6', 't7']);
  });

  it('sends each callback of a silent host some time, though most are put off', () => {
    const bench = new Bench();
    const tries = new Map(Array.from({ length: 30 }, (_, i) => [`t${i}`, 0]));
    for (let round = 0; round < 30 && [...tries.values()].includes(0); round++) {
      for (const [name, count] of tries) bench.add(name, 'a', count);
      while (bench.begun.length > 0) {
        const [name = ''] = bench.names();
        tries.set(name, (tries.get(name) ?? 0) + 1);
        bench.settle(name, 'silent');
      }
    }
    expect([...tries.values()]).to.not.include(0);
  });

  it('puts off the least wanted when too many wait, and takes the newcomer in', () => {
    const bench = new Bench();
    bench.add('f0', 'f');
    bench.settle('f0', 'silent');
    for (let i = 0; i < 22; i++) bench.add(`h${i}`);
    bench.add('flood', 'h2', 1);
    expect(bench.putOff, 'of a host with more than one its own').to.deep.equal(['flood?']);
    bench.add('new');
    expect(bench.putOff).to.have.length(2);
    expect(bench.putOff).to.not.include('new');
  });

  it('forgets what waits, and keeps what it knows', () => {
    const bench = new Bench();
    bench.prove('a');
    for (let i = 0; i < 9; i++) bench.add(`t${i}`, 'a');
    bench.add('x1', 'x');
    bench.add('x2', 'x');
    bench.queue.removeWaiting(() => true);
    bench.settle('t0', 'well');
    bench.settle('x1', 'silent');
    expect(bench.names()).to.deep.equal(['t1', 't2']);
    bench.add('again', 'a');
    expect(bench.names()).to.deep.equal(['t1', 't2', 'again']);
  });

  it('remembers so many origins, and none that is in use is lost', () => {
    const bench = new Bench({ knownOriginsMax: 2 });
    bench.prove('a');
    bench.prove('b');
    bench.prove('c');
    for (const name of ['1', '2']) bench.add(name, 'a');
    expect(bench.names(), 'a is unknown again').to.deep.equal(['1']);
    bench.settle('1', 'well');
    bench.settle('2', 'well');
    expect(bench.names()).to.deep.equal([]);
  });

  it('puts off some at a time where thousands wait for a host that fails', () => {
    const bench = new Bench();
    bench.prove('a');
    for (let rank = 0; rank < 1_000; rank++) bench.add(`${rank}`, 'a', rank);
    for (const name of ['0', '1']) bench.settle(name, 'silent');
    const counts = [bench.putOff.length];
    bench.add('late', 'a');
    expect(bench.putOff, 'it is being dealt with').to.have.length(counts[0] ?? 0);
    while (bench.soon.length > 0) {
      for (const call of bench.soon.splice(0)) call();
      counts.push(bench.putOff.length);
    }
    for (const [place, count] of counts.entries()) {
      expect(count - (counts[place - 1] ?? 0)).to.be.at.most(256);
    }
    // Of 1,001 two were tried, one is under way, and three may wait.
    expect(bench.putOff).to.have.length(1_001 - 2 - 1 - 3);
  });
});
