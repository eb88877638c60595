/** Frames of inputs, in whatever pieces they come, and when they are due. */
import { expect } from 'chai';
import { ByteQueue } from '../../../examples/live-push/byte-queue.ts';
import { FrameBuffer } from '../../../examples/live-push/frame-buffer.ts';
import { Pacer } from '../../../examples/live-push/pacer.ts';
import { FRAME_RATES, type Frame, RawFormat } from '../../../examples/live-push/raw-format.ts';
import { Timeline } from '../../../examples/live-push/timeline.ts';

/** Pictures of 6 bytes, and 3,200 samples with each. */
const format = new RawFormat('2x2', 15);

/** Frames whose bytes are all the number of the frame. */
const video = (...frames: number[]) =>
  Buffer.concat(frames.map((frame) => Buffer.alloc(format.videoBytes, frame)));
const sound = (...frames: number[]) =>
  Buffer.concat(frames.map((frame) => Buffer.alloc(format.soundBytes, frame)));

/** The one byte that each half of it is made of; a mixture is all of them. */
function numbersOf(frame: Frame | null) {
  const distinct = (buffers: readonly Buffer[]) => [...new Set(Buffer.concat(buffers))];
  return frame && { video: distinct(frame.video), sound: distinct(frame.sound) };
}

describe('bytes in a queue', () => {
  it('come out as they went in, whatever the pieces, without what was skipped', () => {
    const all = Buffer.from(Array.from({ length: 60 }, (_, at) => at));
    for (const piece of [1, 7, 60]) {
      const queue = new ByteQueue();
      const taken: Buffer[] = [];
      // One skip is of what is here, one reaches beyond it.
      for (let at = 0; at < all.length; at += piece) {
        queue.push(all.subarray(at, at + piece));
        if (at < 30) queue.skipTo(10);
        if (at + piece > 20) queue.skipTo(40);
        if (at + piece > 45) taken.push(...queue.take(8));
      }
      taken.push(...queue.take(60));
      expect(Buffer.concat(taken), `pieces of ${piece}`).to.deep.equal(all.subarray(40));
      expect(queue.byteCount).to.equal(0);
    }
  });
});

describe('the frames of an input', () => {
  it('have as many samples each, at every rate', () => {
    for (const rate of FRAME_RATES) {
      expect(new RawFormat('2x2', rate).soundBytes * rate).to.equal(48_000 * 4);
    }
  });

  it('keep picture and sound together when some are skipped', () => {
    const buffer = new FrameBuffer(format, 10);
    buffer.pushVideo(video(10, 11));
    buffer.pushSound(sound(10));
    expect(buffer.readyCount).to.equal(1);
    expect(numbersOf(buffer.take())).to.deep.equal({ video: [10], sound: [10] });
    buffer.skipTo(13);
    expect([buffer.take(), buffer.nextFrame]).to.deep.equal([null, 13]);
    buffer.pushSound(sound(11, 12, 13, 14));
    buffer.pushVideo(video(12, 13));
    expect(numbersOf(buffer.take())).to.deep.equal({ video: [13], sound: [13] });
    expect(buffer.readyCount).to.equal(0);
  });

  it('are silent where the sound is late, and leave that out when it comes', () => {
    const buffer = new FrameBuffer(format, 0);
    const frames = Array.from({ length: 15 }, (_, frame) => frame + 1);
    buffer.pushVideo(video(...frames));
    expect([buffer.isVideoFull, buffer.readyCount]).to.deep.equal([true, 15]);
    expect(numbersOf(buffer.take())).to.deep.equal({ video: [1], sound: [0] });
    buffer.pushSound(sound(1, 2));
    expect(numbersOf(buffer.take())).to.deep.equal({ video: [2], sound: [2] });
    buffer.pushSound(sound(3).subarray(0, 400));
    buffer.endSound();
    expect(numbersOf(buffer.take())).to.deep.equal({ video: [3], sound: [3, 0] });
  });

  it('are over when the last one was taken', () => {
    const buffer = new FrameBuffer(format, 0);
    buffer.pushVideo(video(1));
    buffer.endVideo();
    expect(buffer.isOver).to.equal(false);
    expect(numbersOf(buffer.take())).to.deep.equal({ video: [1], sound: [0] });
    expect(buffer.isOver).to.equal(true);
  });
});

describe('the pace', () => {
  it('is that of the rate, whatever the timer does, and every slot is due once', () => {
    for (const rate of FRAME_RATES) {
      const pacer = new Pacer(1_000.3, rate, rate);
      const slots: number[] = [];
      for (let now = 1_000.3; now <= 6_000.31; now = pacer.nextAt + (slots.length % 7)) {
        const { from, count, skippedCount } = pacer.take(now);
        expect(skippedCount).to.equal(0);
        for (let slot = from; slot < from + count; slot += 1) slots.push(slot);
      }
      expect(slots).to.deep.equal(Array.from(slots, (_, at) => at));
      expect(slots.length).to.be.closeTo(5 * rate, 2);
    }
  });

  it('leaves out what was due long ago', () => {
    const pacer = new Pacer(0, 10, 5);
    expect(pacer.take(0)).to.deep.equal({ from: 0, count: 1, skippedCount: 0 });
    expect(pacer.take(50).count).to.equal(0);
    expect(pacer.take(2_000)).to.deep.equal({ from: 16, count: 5, skippedCount: 15 });
    expect(pacer.nextAt).to.equal(2_100);
  });
});

describe('a timeline', () => {
  const of = (given: { endsAt?: number; mainMs?: number }) =>
    new Timeline({ beginAt: 0, startsAt: 10_000, endsAt: null, mainMs: null, rate: 25, ...given });

  it('is the warm-up until the class begins, and then where the clock says', () => {
    const timeline = of({});
    expect(timeline.wanted(0)).to.deep.equal({ part: 'warmup', frame: 0 });
    expect(timeline.wanted(9_999)).to.deep.equal({ part: 'warmup', frame: 249 });
    expect(timeline.wanted(10_000)).to.deep.equal({ part: 'main', frame: 0 });
    // However late an attempt begins.
    expect(timeline.wanted(70_000)).to.deep.equal({ part: 'main', frame: 1_500 });
  });

  it('asks for each frame once, slot by slot, wherever the slots begin', () => {
    for (const beginAt of [0, 3.3, 17.77, 39.999]) {
      const timeline = of({});
      const pacer = new Pacer(beginAt, 25, 1);
      const frames = Array.from({ length: 2_000 }, (_, slot) =>
        timeline.wanted(pacer.timeOf(slot)),
      );
      const main = frames.filter(({ part }) => part === 'main').map(({ frame }) => frame);
      expect(main).to.deep.equal(Array.from(main, (_, at) => at));
    }
  });

  it('is over with the class, or when it has to be', () => {
    expect(of({ mainMs: 5_000 }).isOver(14_999)).to.equal(false);
    expect(of({ mainMs: 5_000 }).isOver(15_000)).to.equal(true);
    expect(of({ mainMs: 5_000, endsAt: 12_000 }).endAt).to.equal(12_000);
    expect(of({ mainMs: 5_000, endsAt: 60_000 }).endAt).to.equal(15_000);
    expect(of({}).isOver(1e12)).to.equal(false);
    expect([of({}).percent(1), of({ endsAt: 20_000 }).percent(5_000)]).to.deep.equal([
      undefined,
      25,
    ]);
  });
});
