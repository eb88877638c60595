/** Lines of logs on their way: of what a handler says, when it goes out, and what is dropped. */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { runHandler } from '../../../executor-sdk/testing.ts';
import { LogSpool } from '../../../executor-sdk/log/log-spool.ts';
import type { LogFrame } from '@soda-scheduler/protocol';
import { ManualClock, settled } from '../../helpers/manual-clock.ts';

const KEY = { taskId: 't', attempt: 1 };

describe('the spool of logs', () => {
  function spoolOn(clock: ManualClock) {
    const sent: LogFrame[] = [];
    const socket = {
      unsentBytes: 0,
      send: (text: string) => {
        expect(Buffer.byteLength(text)).to.be.at.most(65_536);
        sent.push(JSON.parse(text) as LogFrame);
      },
    };
    let isConnected = true;
    let emptyCount = 0;
    const spool = new LogSpool({
      clock,
      connection: () => (isConnected ? socket : null),
      onEmpty: () => (emptyCount += 1),
    });
    return {
      ...{ spool, sent, socket },
      setConnected: (is: boolean) => (isConnected = is),
      numbers: () => sent.map(({ n, lines }) => [n, lines?.length]),
      emptyCount: () => emptyCount,
    };
  }
  const line = (length: number) => JSON.stringify({ text: 'x'.repeat(length) });

  it('sends what came together a moment later, and then ten times a second', () => {
    const clock = new ManualClock();
    const { spool, numbers } = spoolOn(clock);
    spool.connected(true);
    spool.add(KEY, 'mac', [line(1), line(2)]);
    expect(numbers(), 'whatever comes with it goes first').to.deep.equal([]);
    clock.advance(20);
    expect(numbers()).to.deep.equal([[1, 2]]);
    spool.add(KEY, 'mac', [line(3)]);
    clock.advance(50);
    spool.add(KEY, 'mac', [line(4)]);
    expect(numbers()).to.have.length(1);
    clock.advance(50);
    expect(numbers()).to.deep.equal([
      [1, 2],
      [3, 2],
    ]);
  });

  it('knows how many lines an attempt has said, those that it has dropped too', () => {
    const { spool } = spoolOn(new ManualClock());
    spool.add(KEY, 'mac', [line(1)]);
    expect(spool.lineCountOf(KEY, 'mac'), 'none is taken').to.equal(undefined);
    spool.connected(true);
    for (let n = 0; n < 20; n++) spool.add(KEY, 'mac', [line(1_000_000), line(1)]);
    expect(spool.lineCountOf(KEY, 'mac')).to.equal(40);
    expect(spool.lineCountOf(KEY, 'other')).to.equal(undefined);
    expect(spool.lineCountOf({ ...KEY, attempt: 2 }, 'mac')).to.equal(undefined);
    spool.stop();
  });

  it('tells a task from one before it that had its id', () => {
    const clock = new ManualClock();
    const { spool, sent } = spoolOn(clock);
    spool.connected(true);
    spool.add(KEY, 'old', [line(1), line(2)]);
    spool.add(KEY, 'new', [line(3)]);
    clock.advance(1_000);
    expect(sent.map(({ mac, n, lines }) => [mac, n, lines?.length])).to.deep.equal([
      ['old', 1, 2],
      ['new', 1, 1],
    ]);
  });

  it('keeps the last lines of each attempt, whichever is oldest', () => {
    const clock = new ManualClock();
    const { spool, sent, setConnected } = spoolOn(clock);
    spool.connected(true);
    setConnected(false);
    const lines = Array.from({ length: 1_000 }, () => line(9_000));
    spool.add(KEY, 'a', lines);
    spool.add({ taskId: 'u', attempt: 1 }, 'b', lines);
    setConnected(true);
    spool.connected(true);
    clock.advance(600_000);
    for (const id of ['t', 'u']) {
      const last = sent.filter(({ task_id }) => task_id === id).at(-1);
      expect((last?.n ?? 0) + (last?.lines?.length ?? 0) - 1, id).to.equal(1_000);
    }
    expect(sent.reduce((sum, { lines: some }) => sum + (some?.length ?? 0), 0)).to.be.lessThan(
      2_000,
    );
  });

  it('waits while anything else waits for the socket', () => {
    const clock = new ManualClock();
    const { spool, sent, socket } = spoolOn(clock);
    spool.connected(true);
    socket.unsentBytes = 1;
    spool.add(KEY, 'mac', [line(1)]);
    clock.advance(1_000);
    expect(sent).to.deep.equal([]);
    socket.unsentBytes = 0;
    clock.advance(20);
    expect(sent).to.have.length(1);
  });

  it('keeps to its rate, and keeps what it cannot send up to its bound', () => {
    const clock = new ManualClock();
    const { spool, sent, setConnected, emptyCount } = spoolOn(clock);
    spool.connected(true);
    const bytes = () => sent.reduce((sum, frame) => sum + JSON.stringify(frame.lines).length, 0);
    for (let count = 0; count < 4_000; count++) spool.add(KEY, 'mac', [line(985)]);
    clock.advance(20);
    expect(bytes(), 'a little at a time, so that others are heard between').to.be.below(16_384);
    clock.advance(980);
    expect(bytes()).to.be.within(1_000_000, 1_310_720);
    clock.advance(4_000);
    expect(bytes()).to.be.within(2_200_000, 2_359_296);

    setConnected(false);
    for (let count = 0; count < 20_000; count++) spool.add(KEY, 'mac', [line(985)]);
    setConnected(true);
    spool.connected(true);
    clock.advance(120_000);
    expect(spool.isEmpty).to.equal(true);
    expect(emptyCount()).to.be.above(0);
    const dropped = sent.reduce((sum, frame) => sum + frame.dropped, 0);
    expect(dropped).to.be.above(4_000);
    let next = 1;
    for (const frame of sent) {
      expect(frame.n, 'each line has its number').to.equal(next + frame.dropped);
      next = frame.n + (frame.lines?.length ?? 0);
    }
    expect(next).to.equal(24_001);
  });

  it('tells what was dropped of an attempt with lines of that attempt only', () => {
    const clock = new ManualClock();
    const { spool, sent, setConnected } = spoolOn(clock);
    spool.connected(true);
    setConnected(false);
    const next = { ...KEY, attempt: 2 };
    spool.add(KEY, 'mac', [line(985)]);
    for (let count = 0; count < 17_000; count++) spool.add(next, 'mac 2', [line(985)]);
    const other = { taskId: 'other', attempt: 1 };
    spool.add(other, 'mac 3', [line(1)]);
    setConnected(true);
    spool.connected(true);
    clock.advance(120_000);
    const [last, first] = sent;
    expect(last, 'the end of the attempt before').to.include({ attempt: 1, n: 1, dropped: 0 });
    expect(first).to.include({ task_id: 't', attempt: 2 });
    expect(first?.dropped, 'and not the one of the attempt before').to.equal((first?.n ?? 0) - 1);
    expect(sent.at(-1)).to.include({ task_id: 'other', n: 1, dropped: 0 });

    sent.length = 0;
    setConnected(false);
    for (let count = 0; count < 300; count++) spool.add(other, 'mac 3', [line(60_000)]);
    spool.add(KEY, 'mac', [line(1)]);
    for (let count = 0; count < 300; count++) spool.add(next, 'mac 2', [line(60_000)]);
    spool.add(KEY, 'mac', [line(1)]);
    setConnected(true);
    spool.connected(true);
    clock.advance(120_000);
    expect(sent[0]).to.include({ task_id: 'other', n: 301, dropped: 299 });
    const next2 = sent.find(({ attempt }) => attempt === 2);
    expect(next2?.dropped).to.equal((next2?.n ?? 0) - 1);
    expect(sent.at(-1)).to.include({ task_id: 't', attempt: 1, n: 1, dropped: 0 });
  });

  it('numbers the lines of each attempt, and says nothing to a master that takes none', () => {
    const clock = new ManualClock();
    const { spool, sent } = spoolOn(clock);
    spool.connected(true);
    spool.add(KEY, 'mac', [line(1)]);
    spool.add({ ...KEY, attempt: 2 }, 'mac 2', [line(1), line(2)]);
    clock.advance(200);
    expect(sent.map(({ attempt, mac, n }) => [attempt, mac, n])).to.deep.equal([
      [1, 'mac', 1],
      [2, 'mac 2', 1],
    ]);
    spool.add(KEY, 'mac', [line(1)]);
    spool.connected(false);
    spool.add(KEY, 'mac', [line(1)]);
    clock.advance(1_000);
    expect(sent).to.have.length(2);
    expect(spool.isEmpty).to.equal(true);
  });
});

describe('ctx.log', () => {
  it('takes whatever is said, and cuts what is too long', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const { log } = await runHandler(
      (_, ctx) => {
        ctx.log.info('plain', { at: 1 });
        ctx.log.debug('\u0000'.repeat(5_000));
        ctx.log.warn('round', circle);
        ctx.log.error('much', { text: 'x'.repeat(5_000) });
        ctx.log.info(undefined as unknown as string, 'no object' as never);
        ctx.log.info(Object.create(null), 'no object' as never);
      },
      { params: null },
    );
    expect(log[0]).to.deep.equal({
      stream: 'log',
      level: 'info',
      text: 'plain',
      fields: { at: 1 },
    });
    expect(log[1]?.text).to.match(/ \[\d+ more characters were cut\]$/);
    expect(JSON.stringify(log[1]?.text).length).to.be.below(8_300);
    expect(log.slice(2).map(({ fields }) => Object.keys(fields ?? {}))).to.deep.equal([
      ['left_out'],
      ['left_out'],
      ['left_out'],
      ['left_out'],
    ]);
  });

  it('captures the lines of a child, however they come', async () => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const { log } = await runHandler(
      async (_, ctx) => {
        ctx.log.capture({ stdout, stderr }, { stderr: 'warn' });
        stdout.write('not asked for\n');
        stderr.write(Buffer.from('one\r\ntwo\rspä').subarray(0, 12));
        stderr.write(Buffer.from([0xa4]));
        stderr.end('ti');
        await settled();
        const killed = new PassThrough();
        ctx.log.capture({ stdout: null, stderr: killed }, { stderr: 'warn' });
        killed.write('in the mid');
        await settled();
        killed.destroy();
        await once(killed, 'close');
      },
      { params: null },
    );
    expect(log).to.deep.equal(
      ['one', 'two', 'späti', 'in the mid'].map((text) => ({
        level: 'warn',
        text,
        stream: 'stderr',
      })),
    );
  });
});
