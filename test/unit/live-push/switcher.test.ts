/** What is on air when inputs stall, return, and change: frame by frame, by the number of slots alone. */
import { expect } from 'chai';
import { type Frame, RawFormat } from '../../../examples/live-push/raw-format.ts';
import { type Frames, type Shown, Switcher } from '../../../examples/live-push/switcher.ts';

/** Ten frames a second: a picture is held for four, and who comes back has two in hand. */
const format = new RawFormat('2x2', 10);

/** Has frames up to one that a test moves; each is a picture of its number. */
class Script implements Frames {
  nextFrame = 0;
  decodedTo: number;
  readonly name: string;

  constructor(name: string, decodedTo: number) {
    this.name = name;
    this.decodedTo = decodedTo;
  }

  get readyCount(): number {
    return Math.max(0, this.decodedTo - this.nextFrame);
  }

  skipTo(frame: number): void {
    this.nextFrame = Math.max(this.nextFrame, frame);
  }

  take(): Frame | null {
    if (this.readyCount === 0) return null;
    const video = [Buffer.from(`${this.name} ${this.nextFrame}`)];
    this.nextFrame += 1;
    return { video, sound: [Buffer.alloc(format.soundBytes, 1)] };
  }
}

const WARM_UP_SLOTS = 3;

/** Slot by slot: three of the warm-up, then the class. */
function broadcast({
  warmup,
  main,
  fallback,
}: Partial<Record<'warmup' | 'main' | 'fallback', Script>>) {
  const parts = { warmup: warmup ?? null, main: main ?? null };
  const switcher = new Switcher({ format, parts, fallback: fallback ?? null });
  let slot = 0;
  return (count: number): { shows: Shown; picture: string; silent: boolean }[] =>
    Array.from({ length: count }, () => {
      const isMain = slot >= WARM_UP_SLOTS;
      const part = isMain ? ('main' as const) : ('warmup' as const);
      const { shows, frame } = switcher.next({ part, frame: isMain ? slot - WARM_UP_SLOTS : slot });
      slot += 1;
      const sound = Buffer.concat(frame.sound);
      expect(sound.length, 'each frame has its sound').to.equal(format.soundBytes);
      const picture = Buffer.concat(frame.video).toString();
      return { shows, picture, silent: sound.every((byte) => byte === 0) };
    });
}

const pictures = (shown: readonly { picture: string }[]) => shown.map(({ picture }) => picture);
const kinds = (shown: readonly { shows: Shown }[]) => shown.map(({ shows }) => shows);

describe('what is on air', () => {
  it('changes from the warm-up to the class between two frames', () => {
    const next = broadcast({ warmup: new Script('w', 99), main: new Script('m', 99) });
    expect(pictures(next(6))).to.deep.equal(['w 0', 'w 1', 'w 2', 'm 0', 'm 1', 'm 2']);
  });

  it('is held for a moment, then the fallback, until the class is back where the clock is', () => {
    const main = new Script('m', 2);
    const next = broadcast({ warmup: new Script('w', 99), main, fallback: new Script('f', 99) });
    expect(pictures(next(5)).at(-1)).to.equal('m 1');
    const held = next(4);
    expect(pictures(held)).to.deep.equal(['m 1', 'm 1', 'm 1', 'm 1']);
    expect(held.every(({ silent }) => silent)).to.equal(true);
    expect(pictures(next(3))).to.deep.equal(['f 0', 'f 1', 'f 2']);
    // Nine frames of the class are past: it is wanted from the one numbered 9.
    main.decodedTo = 10;
    expect(pictures(next(1)), 'one frame in hand is too little').to.deep.equal(['f 3']);
    main.decodedTo = 99;
    expect(pictures(next(2))).to.deep.equal(['m 10', 'm 11']);
  });

  it('is the fallback in each further stall from its place on', () => {
    const main = new Script('m', 1);
    const next = broadcast({ warmup: new Script('w', 99), main, fallback: new Script('f', 99) });
    expect(pictures(next(3 + 1 + 4 + 2)).slice(-2)).to.deep.equal(['f 0', 'f 1']);
    main.decodedTo = 12;
    expect(pictures(next(5))).to.deep.equal(['m 7', 'm 8', 'm 9', 'm 10', 'm 11']);
    expect(pictures(next(6)).slice(-2)).to.deep.equal(['f 2', 'f 3']);
  });

  it('is the last picture where there is no fallback, or that fails too', () => {
    const alone = broadcast({ warmup: new Script('w', 99), main: new Script('m', 2) });
    expect(kinds(alone(20)).slice(5)).to.deep.equal(Array(15).fill('held'));
    const fallback = new Script('f', 1);
    const both = broadcast({ warmup: new Script('w', 99), main: new Script('m', 2), fallback });
    expect(pictures(both(12)).slice(9)).to.deep.equal(['f 0', 'f 0', 'f 0']);
  });

  it('is the fallback at once where there is no warm-up, and black where there is nothing', () => {
    const main = new Script('m', 99);
    const covered = broadcast({ main, fallback: new Script('f', 99) });
    expect(pictures(covered(5))).to.deep.equal(['f 0', 'f 1', 'f 2', 'm 0', 'm 1']);
    const nothing = broadcast({ main: new Script('m', 99) });
    expect(kinds(nothing(4))).to.deep.equal(['black', 'black', 'black', 'main']);
  });

  it('waits for an input that begins later than what is wanted', () => {
    const main = new Script('m', 99);
    main.nextFrame = 5;
    const next = broadcast({ main, fallback: new Script('f', 99) });
    expect(pictures(next(9)).slice(6)).to.deep.equal(['f 6', 'f 7', 'm 5']);
  });
});
