/** How much of what waits makes one turn of the engine. */
import { expect } from 'chai';
import { MAILBOX_FRAME_BYTES_MAX } from '../../../master/domain/bounds.ts';
import { Mailbox } from '../../../master/application/engine/mailbox.ts';
import type { Event, NewTask } from '../../../master/domain/events.ts';
import { hello } from '../../helpers/task.ts';

function turnOf(mailbox: Mailbox, countMax = Number.POSITIVE_INFINITY): Event[] {
  const taken: Event[] = [];
  mailbox.takeTurn((event) => taken.push(event) < countMax);
  return taken;
}

describe('the mailbox', () => {
  it('keeps what a turn has no time for, in order', () => {
    const mailbox = new Mailbox();
    mailbox.open();
    const posted = [1, 2, 3].map(
      (request): Event => ({ type: 'tasksSubmitted', request, tasks: [] }),
    );
    for (const event of posted) mailbox.put(event, 10);
    expect(turnOf(mailbox, 1)).to.deep.equal(posted.slice(0, 1));
    expect([mailbox.size, mailbox.frameBytes]).to.deep.equal([2, 20]);
    expect(turnOf(mailbox)).to.deep.equal(posted.slice(1));
    expect(turnOf(mailbox)).to.deep.equal([]);
  });

  it('gives a turn about as much of params as can be written at once', () => {
    const mailbox = new Mailbox();
    mailbox.open();
    const params = 'x'.repeat(600 * 1024);
    // A turn is cut by the length of params alone.
    const tasks = [{ params } as NewTask];
    const posted = [1, 2, 3, 4, 5].map(
      (request): Event => ({ type: 'tasksSubmitted', request, tasks }),
    );
    for (const event of posted) mailbox.put(event, 0);
    const turns = [turnOf(mailbox), turnOf(mailbox), turnOf(mailbox), turnOf(mailbox)];
    expect(turns.map((turn) => turn.length)).to.deep.equal([2, 2, 1, 0]);
    expect(turns.flat()).to.deep.equal(posted);
  });

  it('gives a turn few reports of callbacks whose rows are long, and all else before the others', () => {
    const mailbox = new Mailbox();
    mailbox.open();
    const about = { term: 1, finishedAt: 1, error: null };
    for (let taskSeq = 0; taskSeq < 100; taskSeq++) {
      const answer = {
        outcome: 'delivered',
        status: 200,
        retryAfterMs: null,
        tryCount: 1,
      } as const;
      const tried = { type: 'notificationTried', ...about, taskSeq, ...answer } as const;
      mailbox.put({ type: 'notificationPutOff', ...about, taskSeq, error: 'later', afterMs: 1 }, 0);
      mailbox.put(taskSeq % 2 === 0 ? { ...tried, isLong: true } : tried, 0);
    }
    const isLong = (event: Event) => event.type === 'notificationPutOff' || 'isLong' in event;
    const turns: Event[][] = [];
    while (mailbox.size > 0) turns.push(turnOf(mailbox));
    expect(turns[0]?.filter((event) => !isLong(event))).to.have.length(50);
    expect(turns.map((turn) => turn.filter(isLong).length)).to.deep.equal([
      ...Array.from({ length: 9 }, () => 16),
      6,
    ]);
  });

  it('keeps one hello of each process, also where two have the same host and number', () => {
    const mailbox = new Mailbox();
    mailbox.open();
    const helloOf = (incarnation: string, sessionId: string): Event => ({
      type: 'executorConnected',
      ...hello({ incarnation, sessionId, host: 'container', pid: 1 }),
    });
    const hellos = [helloOf('old', '1'), helloOf('old', '2'), helloOf('new', '3')];
    for (const event of hellos) mailbox.put(event, 0);
    expect(turnOf(mailbox)).to.deep.equal(hellos.slice(1));
  });

  it('keeps the place of the first heartbeat that waits, and the newest behind it', () => {
    const mailbox = new Mailbox();
    mailbox.open();
    const beat = (rssBytes: number): Event => ({
      type: 'heartbeatReceived',
      ...{ executorId: 'x', sessionId: 'x/1', draining: false, running: [] },
      ...{ loopLagMs: 1, rssBytes },
    });
    const beats = [1, 2, 3, 4, 5].map(beat);
    const submit: Event = { type: 'tasksSubmitted', request: 1, tasks: [] };
    for (const event of [beats[0]!, submit, beats[1]!, beats[2]!]) mailbox.put(event, 1);
    expect(mailbox.frameBytes).to.equal(3);
    expect(turnOf(mailbox, 1)).to.deep.equal([beats[0]]);
    // What came before keeps its place now.
    for (const event of [beats[3]!, beats[4]!]) mailbox.put(event, 1);
    expect(turnOf(mailbox)).to.deep.equal([submit, beats[2], beats[4]]);
    expect([mailbox.size, mailbox.frameBytes]).to.deep.equal([0, 0]);
  });

  it('is full by the frames of all mailboxes, and gives back what it held', () => {
    const all = { bytes: 0 };
    const [one, other] = [new Mailbox(all), new Mailbox(all)];
    for (const mailbox of [one, other]) mailbox.open();
    const event = { type: 'executorResumed', executorId: 'x', sessionId: 'x/1' } as const;
    one.put(event, MAILBOX_FRAME_BYTES_MAX - 1);
    expect(other.isFull).to.equal(false);
    other.put({ ...event }, 1);
    expect([one.isFull, other.isFull]).to.deep.equal([true, true]);
    one.shut();
    expect(all.bytes).to.equal(1);
    turnOf(other);
    expect(all.bytes).to.equal(0);
  });
});
