/** The session machine against a network that loses, repeats and swaps; W1 to W10 where they apply. */
import { SESSION_LIMITS, Session, encodeFrame } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import * as fc from 'fast-check';

interface Wire {
  readonly seq: number;
  readonly ack: number;
  readonly message: number;
}

/** One end: its session, what its application saw and has still to confirm. */
class End {
  readonly session = new Session<number>();
  readonly delivered: number[] = [];
  readonly unconfirmed: number[] = [];
  sentCount = 0;
}

/** Two ends and one connection at a time between them. `flying[i]` is on its way to end `i`. */
class Link {
  readonly ends = [new End(), new End()] as const;
  flying: [Wire[], Wire[]] = [[], []];
  history: [Wire[], Wire[]] = [[], []];
  isUp = true;

  send(from: 0 | 1): void {
    const end = this.ends[from];
    const frame = end.session.send(end.sentCount + 1, 10);
    if (frame === null) return;
    end.sentCount += 1;
    this.#put(from, frame.seq, frame.message);
  }

  #put(from: 0 | 1, seq: number, message: number): void {
    if (!this.isUp) return;
    const to = from === 0 ? 1 : 0;
    const wire = { seq, ack: this.ends[from].session.announceAck(), message };
    this.flying[to].push(wire);
    this.history[to].push(wire);
  }

  arrive(at: 0 | 1, wire: Wire | undefined): void {
    if (wire === undefined || !this.isUp) return;
    const end = this.ends[at];
    const receipt = end.session.receive(wire.seq, wire.ack);
    if (receipt === 'deliver') {
      end.delivered.push(wire.message);
      end.unconfirmed.push(wire.seq);
    } else if (receipt !== 'duplicate') {
      this.cut();
    }
  }

  confirm(at: 0 | 1, pick: number): void {
    const { session, unconfirmed } = this.ends[at];
    const [seq] = unconfirmed.splice(pick % Math.max(1, unconfirmed.length), 1);
    if (seq !== undefined) session.confirm(seq);
  }

  cut(): void {
    this.isUp = false;
    this.flying = [[], []];
    this.history = [[], []];
  }

  reconnect(): void {
    this.cut();
    this.isUp = true;
    const received = this.ends.map((end) => end.session.received);
    for (const from of [0, 1] as const) {
      const resend = this.ends[from].session.resume(received[from === 0 ? 1 : 0]!);
      expect(resend, 'an honest peer can always resume').not.to.equal(null);
      for (const { seq, message } of resend!) this.#put(from, seq, message);
    }
  }
}

type Step = readonly [
  'send' | 'arrive' | 'repeat' | 'swap' | 'lose' | 'confirm' | 'cut' | 'reconnect',
  0 | 1,
  number,
];

function run(link: Link, [kind, side, pick]: Step): void {
  const flying = link.flying[side];
  switch (kind) {
    case 'send':
      return link.send(side);
    case 'arrive':
      return link.arrive(side, flying.shift());
    case 'repeat':
      return link.arrive(side, link.history[side][pick % Math.max(1, link.history[side].length)]);
    case 'swap':
      return link.arrive(side, flying.splice(pick % Math.max(1, flying.length), 1)[0]);
    case 'lose':
      return void flying.splice(pick % Math.max(1, flying.length), 1);
    case 'confirm':
      return link.confirm(side, pick);
    case 'cut':
      return link.cut();
    case 'reconnect':
      return link.reconnect();
  }
}

/** The network behaves from now on, and the applications finish what they have. */
function settle(link: Link): void {
  link.reconnect();
  for (const side of [0, 1] as const) {
    for (let wire = link.flying[side].shift(); wire; wire = link.flying[side].shift()) {
      link.arrive(side, wire);
    }
    while (link.ends[side].unconfirmed.length > 0) link.confirm(side, 0);
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const step = fc.tuple(
  fc.constantFrom(
    ...(['send', 'send', 'send', 'arrive', 'arrive', 'arrive', 'confirm', 'confirm'] as const),
    ...(['repeat', 'swap', 'lose', 'cut', 'reconnect', 'reconnect'] as const),
  ),
  fc.constantFrom(0 as const, 1 as const),
  fc.nat(1000),
);

describe('Session', () => {
  it('delivers in order, once and completely, whatever the network does', () => {
    const check = fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const link = new Link();
      for (const one of steps) {
        run(link, one);
        for (const end of link.ends) {
          expect(end.delivered).to.deep.equal(upTo(end.session.received));
        }
      }
      settle(link);
      const [left, right] = link.ends;
      expect(right.delivered).to.deep.equal(upTo(left.sentCount));
      expect(left.delivered).to.deep.equal(upTo(right.sentCount));
      for (const [end, peer] of [[left, right] as const, [right, left] as const]) {
        expect(end.session.acknowledged(peer.session.announceAck())).to.equal(true);
        expect(end.session.unacked(), 'memory is freed by acks').to.deep.equal([]);
        expect(end.session.unackedBytes).to.equal(0);
      }
    });
    fc.assert(check, { numRuns: 500 });
  });

  it('never acknowledges past a frame that is not confirmed, in whatever order it is told', () => {
    const orders = fc.shuffledSubarray(upTo(12), { minLength: 0, maxLength: 12 });
    fc.assert(
      fc.property(orders, (confirmed) => {
        const session = new Session<string>();
        for (const seq of upTo(12)) session.receive(seq, 0);
        for (const seq of confirmed) session.confirm(seq);
        const firstMissing = upTo(13).find((seq) => !confirmed.includes(seq))!;
        expect(session.announceAck()).to.equal(firstMissing - 1);
        expect(session.received).to.equal(12);
      }),
    );
  });

  it('says on resuming what was received, and keeps until acknowledged', () => {
    const sender = new Session<string>();
    for (const text of ['a', 'b', 'c']) sender.send(text, 1);
    expect(sender.acknowledged(1)).to.equal(true);

    expect(sender.resume(2)?.map((frame) => [frame.seq, frame.message])).to.deep.equal([[3, 'c']]);
    expect(sender.unacked(), 'received is not acknowledged').to.deep.equal(['b', 'c']);
    expect(sender.resume(3)).to.deep.equal([]);
  });

  it('refuses to resume with a peer that contradicts itself', () => {
    const sender = new Session<string>();
    for (const text of ['a', 'b', 'c']) sender.send(text, 1);
    sender.acknowledged(2);
    expect(sender.resume(4), 'more than was sent').to.equal(null);
    expect(sender.resume(1), 'less than it acknowledged').to.equal(null);
  });

  it('repeats an ack that may have been lost with the connection', () => {
    const session = new Session<string>();
    session.receive(1, 0);
    session.confirm(1);
    expect(session.ackDue).to.equal(true);
    session.announceAck();
    expect(session.ackDue).to.equal(false);
    session.resume(0);
    expect(session.ackDue).to.equal(true);
  });

  it('ends the connection on a gap and on an ack of what was never sent', () => {
    const session = new Session<string>();
    expect(session.receive(2, 0)).to.equal('gap');
    expect(session.receive(1, 1)).to.equal('invalid');
    expect(session.acknowledged(1)).to.equal(false);
    expect(session.receive(1, 0)).to.equal('deliver');
    expect(session.receive(1, 0)).to.equal('duplicate');
  });

  it('bounds what waits for an ack: by frames, by bytes, and on the receiving side', () => {
    const byFrames = new Session<string>();
    const max = SESSION_LIMITS.unackedFramesMax;
    for (const seq of upTo(max)) expect(byFrames.send('x', 1)?.seq).to.equal(seq);
    expect(byFrames.send('x', 1)).to.equal(null);
    byFrames.acknowledged(1);
    expect(byFrames.send('x', 1)?.seq, 'a refused frame takes no number').to.equal(max + 1);

    const byBytes = new Session<string>();
    expect(byBytes.send('x', SESSION_LIMITS.unackedBytesMax)).not.to.equal(null);
    expect(byBytes.send('x', 1)).to.equal(null);

    const receiver = new Session<string>();
    for (const seq of upTo(max)) expect(receiver.receive(seq, 0)).to.equal('deliver');
    expect(receiver.receive(max + 1, 0)).to.equal('overflow');

    const byReceivedBytes = new Session<string>();
    const MiB = 1024 * 1024;
    for (const seq of upTo(4)) expect(byReceivedBytes.receive(seq, 0, MiB)).to.equal('deliver');
    expect(byReceivedBytes.receive(5, 0, MiB)).to.equal('overflow');
    byReceivedBytes.confirm(2);
    expect(byReceivedBytes.receive(5, 0, MiB), 'the first is still held').to.equal('overflow');
    byReceivedBytes.confirm(1);
    for (const seq of [5, 6]) expect(byReceivedBytes.receive(seq, 0, MiB)).to.equal('deliver');
    expect(byReceivedBytes.receive(7, 0, MiB)).to.equal('overflow');
  });

  it('numbers a body without touching it', () => {
    const body = '{"type":"assign","big":12345678901234567890}';
    const text = encodeFrame(7, 3, body);
    expect(text).to.equal('{"seq":7,"ack":3,"type":"assign","big":12345678901234567890}');
  });
});
