/** The SDK's session and a master's, on a clock that the test moves: leases, absences, refusals. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { settled } from '../helpers/manual-clock.ts';
import { MemoryLink } from '../helpers/sdk/memory-link.ts';

const LEASE_MS = 30_000;
const HEARTBEAT_MS = 5_000;

describe('a session of an executor', function () {
  // Many turns of the loop, and no waiting: only a busy machine takes long.

  it('is not disturbed by 18 s without a master, however they fall', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(HEARTBEAT_MS),
        fc.constantFrom('refuses' as const, 'swallows' as const),
        // Never 0: whoever waits for nothing dials for ever while time stands still.
        fc.array(fc.integer({ min: 1, max: 99 }), { minLength: 1 }),
        async (beginsMs, how, chances) => {
          let drawn = 0;
          const random = () => chances[drawn++ % chances.length]! / 100;
          const link = new MemoryLink({ random });
          await link.run('t1');
          await link.clock.pass(beginsMs);
          link.endMaster(how);
          await link.clock.pass(18_000);
          link.master = 'answers';
          await link.clock.pass(HEARTBEAT_MS);
          expect(link.told.map(({ type }) => type)).not.to.include('abort');
          const back = link.of('executorConnected').at(-1)!;
          expect(link.of('executorConnected')).to.have.length(2);
          expect(back.running[0]).to.include({ taskId: 't1', attempt: 1, state: 'running' });
        },
      ),
      { numRuns: 40 },
    );
  });

  for (const [how, withinMs] of [
    ['refuses', 5_000],
    ['swallows', 15_000],
  ] as const) {
    it(`is back soon with nothing to do, however long the master ${how}`, async () => {
      // The longest wait that it may draw.
      const link = new MemoryLink({ random: () => 1 });
      void link.client.run();
      await link.clock.pass(HEARTBEAT_MS);
      for (let minutes = 10; minutes < 20; minutes += 1) {
        link.endMaster(how);
        // Not in step with its tries.
        await link.clock.pass(minutes * 61_700);
        const before = link.of('executorConnected').length;
        link.master = 'answers';
        await link.clock.pass(withinMs);
        expect(link.of('executorConnected'), `${minutes}`).to.have.length(before + 1);
      }
    });
  }

  for (const how of ['refuses', 'swallows'] as const) {
    it(`ends its attempt step by step when the master ${how} for the whole lease`, async () => {
      const link = new MemoryLink();
      await link.run('t1');
      const grantedAt = link.clock.now();
      link.endMaster(how);
      await link.clock.pass(LEASE_MS);
      const aborts = link.told.filter(({ type }) => type === 'abort');
      expect(aborts.map(({ at }) => at - grantedAt)).to.deep.equal([27_000]);
      expect(link.killed.map(({ what, at }) => [what, at - grantedAt])).to.deep.equal([
        ['groups', 28_500],
        ['process', 29_250],
      ]);
    });
  }

  it('says by when what the handler has started is to be gone, with each answer anew', async () => {
    const link = new MemoryLink();
    await link.run('t1');
    for (let count = 0; count < 3; count += 1) {
      const grantedAt = link.clock.now();
      const end = { endAt: grantedAt + 28_500, killAt: grantedAt + 29_250 };
      expect(link.ends.at(-1)).to.deep.equal(end);
      await link.clock.pass(HEARTBEAT_MS);
    }
    const told = link.ends.length;
    link.endMaster('swallows');
    await link.clock.pass(LEASE_MS);
    expect(link.ends.slice(told), 'and no later without one').to.satisfy((ends: typeof link.ends) =>
      ends.every(({ killAt }) => killAt === link.ends[told - 1]!.killAt),
    );
  });

  it('goes by the lease of the master that it has reached last', async () => {
    const link = new MemoryLink();
    await link.run('t1');
    link.leaseMs = 12_000;
    link.endMaster('refuses');
    link.master = 'answers';
    await link.clock.pass(3_000);
    const back = link.of('executorConnected')[1]!;
    expect(back.running[0]).to.include({ taskId: 't1' });
    const { endAt, killAt } = link.ends.at(-1)!;
    expect(killAt - endAt, 'half of the least margin, of 2 s').to.equal(500);
    expect(killAt).to.be.within(link.clock.now() + 9_000, link.clock.now() + 11_500);
  });

  it('has it gone within the grace of an attempt that is to end, and the next one is free', async () => {
    const link = new MemoryLink();
    await link.run('t1');
    const { sessionId } = link.of('executorConnected')[0]!;
    const cancel = { type: 'cancel', taskId: 't1', attempt: 1, graceMs: 4_000 } as const;
    link.sessions.send(sessionId, { ...cancel, reason: 'canceled' }, 1);
    await settled();
    const now = link.clock.now();
    expect(link.ends.at(-1)).to.deep.equal({ endAt: now + 2_000, killAt: now + 4_000 });
    link.say('result', 't1', { outcome: 'canceled' });
    link.assign('t2');
    await settled();
    expect(link.ends.at(-1)).to.deep.equal({ endAt: now + 28_500, killAt: now + 29_250 });
  });

  it('says which attempt it fenced until a master has answered that', async () => {
    const link = new MemoryLink();
    const hellos: { fenced: unknown; running: unknown }[] = [];
    link.onUp = (text) => {
      const frame = JSON.parse(text);
      if (frame.type === 'hello') hellos.push(frame);
      // The first hello after the loss is lost on its way.
      return frame.type !== 'hello' || hellos.length !== 2;
    };
    await link.run('t1');
    link.endMaster('refuses');
    await link.clock.pass(27_000);
    link.say('result', 't1', { outcome: 'canceled' });
    link.master = 'answers';
    await link.clock.pass(60_000);
    link.hangUp();
    await link.clock.pass(60_000);
    expect(hellos.map(({ fenced }) => fenced)).to.deep.equal([
      [],
      [{ task_id: 't1', attempt: 1 }],
      [{ task_id: 't1', attempt: 1 }],
      [],
    ]);
    expect(hellos[1]!.running).to.deep.equal([]);
    expect(link.of('attemptEnded'), 'nothing is said of it').to.deep.equal([]);
  });

  it('fails an attempt once when its result is refused again and again', async () => {
    const link = new MemoryLink();
    await link.run('t1');
    let closeCount = 0;
    link.onUp = (text) => {
      if (!text.includes('"poison"')) return true;
      closeCount += 1;
      link.hangUp(4400, 'result: is not to its liking');
      return false;
    };
    link.say('result', 't1', { outcome: 'succeeded', result: 'poison' });
    await link.clock.pass(60_000);
    const ended = link.of('attemptEnded');
    expect(ended).to.have.length(1);
    expect(ended[0]).to.deep.include({ taskId: 't1', outcome: 'failed', retryable: true });
    expect(ended[0]!.error?.message).to.contain('result: is not to its liking');
    expect(closeCount).to.equal(2);
    expect(link.of('heartbeatReceived').at(-1)!.running, 'and forgets it').to.deep.equal([]);
  });

  it('drops the session and the frame when the master says which one it refuses', async () => {
    const link = new MemoryLink();
    await link.run('t1');
    link.onUp = (text) => {
      if (!text.includes('"poison"')) return true;
      link.hangUp(4422, 't1: result: is not to its liking');
      return false;
    };
    link.say('result', 't1', { outcome: 'succeeded', result: 'poison' });
    await link.clock.pass(60_000);
    expect(link.of('executorConnected')).to.have.length(2);
    expect(link.of('attemptEnded').map(({ outcome }) => outcome)).to.deep.equal(['failed']);
  });

  it('does not send what would be refused', async () => {
    const link = new MemoryLink();
    await link.run('t1');
    link.say('progress', 't1', { percent: 101 });
    link.say('result', 't1', { outcome: 'succeeded', result: 'x'.repeat(2 ** 20) });
    await settled();
    expect(link.of('progressReported')).to.deep.equal([]);
    const ended = link.of('attemptEnded');
    expect(ended.map(({ outcome }) => outcome)).to.deep.equal(['failed']);
    expect(ended[0]?.error?.message).to.match(/^What attempt 1 of t1 had to report was refused: /);
    expect(link.of('executorDisconnected')).to.deep.equal([]);
  });

  it('keeps what waits to be reported of an attempt when the late end of another comes', async () => {
    const link = new MemoryLink();
    await link.run('t2');
    link.confirmsReports = false;
    for (let percent = 1; percent <= 17; percent += 1) link.say('progress', 't2', { percent });
    // Its offer was taken back before it was answered.
    link.say('progress', 't1', { percent: 99 });
    link.say('result', 't1', { outcome: 'canceled' });
    await settled();
    const sent = link.of('progressReported');
    expect(sent, 'so many without an ack').to.have.length(16);
    for (const { sessionId, frameSeq } of sent) link.sessions.confirm(sessionId, frameSeq);
    await settled();
    expect(link.of('progressReported').at(-1)).to.deep.include({ taskId: 't2', percent: 17 });
  });

  it('brings each event of a handler, in order and before the result, over the end of a master', async () => {
    const link = new MemoryLink();
    await link.run('t1');
    link.confirmsReports = false;
    const told = () => link.of('eventTold').map(({ n }) => n);
    for (let n = 1; n <= 40; n += 1) link.say('event', 't1', { name: 'step', n });
    await settled();
    const first = Array.from({ length: 32 }, (_, index) => index + 1);
    expect(told(), 'so many without an ack').to.deep.equal(first);
    link.endMaster('refuses');
    link.say('event', 't1', { name: 'step', n: 41, data: { at: 1 } });
    link.say('result', 't1', { outcome: 'succeeded' });
    link.master = 'answers';
    await link.clock.pass(10_000);
    const all = Array.from({ length: 41 }, (_, index) => index + 1);
    expect(told().slice(32)).to.deep.equal(all);
    const kinds = link.events.flatMap((event) => ('frameSeq' in event ? [event.type] : []));
    expect(kinds.at(-1)).to.equal('attemptEnded');
    expect(link.of('eventTold').at(-1)).to.include({ name: 'step', data: '{"at":1}' });
  });

  for (const outcome of ['failed', 'returned'] as const) {
    it(`brings the newest checkpoint before the end of an attempt that has ${outcome} while the master was away`, async () => {
      const link = new MemoryLink();
      await link.run('t1');
      link.confirmsReports = false;
      link.say('checkpoint', 't1', { checkpoint: { part: 1 } });
      await settled();
      link.endMaster('refuses');
      // More than may wait for an ack.
      for (let part = 2; part <= 40; part += 1) {
        link.say('checkpoint', 't1', { checkpoint: { part } });
      }
      link.say('progress', 't1', { percent: 100 });
      const error = { name: 'Error', message: 'no space', retryable: true };
      link.say('result', 't1', { outcome, ...(outcome === 'failed' && { error }) });
      link.confirmsReports = true;
      link.events.length = 0;
      link.master = 'answers';
      await link.clock.pass(HEARTBEAT_MS);
      const said = link.events.filter(({ type }) => /^(progressReported|attempt)/.test(type));
      expect(said.map(({ type }) => type)).to.deep.equal(['progressReported', 'attemptEnded']);
      expect(link.of('progressReported')[0]?.checkpoint).to.equal('{"part":40}');
    });
  }

  it('tells a master that knows no events of none, and none of an attempt that it has fenced', async () => {
    const link = new MemoryLink();
    await link.run('t1');
    link.confirmsReports = false;
    link.say('event', 't1', { name: 'step', n: 1 });
    await settled();
    link.endMaster('refuses');
    await link.clock.pass(27_000);
    link.say('event', 't1', { name: 'step', n: 2 });
    link.say('result', 't1', { outcome: 'canceled' });
    link.master = 'answers';
    await link.clock.pass(60_000);
    expect(link.of('executorConnected')).to.have.length(2);
    expect(link.of('eventTold').map(({ n }) => n)).to.deep.equal([1]);

    const old = new MemoryLink();
    old.onDown = (text) => text.replace(',"event"', '');
    await old.run('t1');
    old.say('event', 't1', { name: 'step', n: 1 });
    old.say('result', 't1', { outcome: 'succeeded' });
    await settled();
    expect(old.of('eventTold')).to.deep.equal([]);
    expect(old.of('attemptEnded')).to.have.length(1);
  });

  it('hands back the mac, and says how long the handler ran', async () => {
    const link = new MemoryLink();
    const up: Record<string, unknown>[] = [];
    link.onUp = (text) => {
      up.push(JSON.parse(text));
      return true;
    };
    const { send } = link.sessions;
    link.sessions.send = (sessionId, command, term) => {
      send.call(link.sessions, sessionId, command, term);
    };
    await link.run('t1');
    await link.clock.pass(7_000);
    link.say('result', 't1', { outcome: 'succeeded' });
    await settled();
    const result = up.find(({ type }) => type === 'result');
    expect(result).to.include({ ran_ms: 7_000 });
    const beats = up.filter(({ type }) => type === 'heartbeat') as { running: object[] }[];
    expect(beats.at(-1)!.running[0]).to.include({ task_id: 't1', state: 'running', ran_ms: 5_000 });
  });

  it('explains that its id is in use, goes on trying, and is let in once it is free', async () => {
    const link = new MemoryLink();
    const isInUse = { yes: true };
    link.onUp = () => {
      if (isInUse.yes) link.hangUp(4423, 'id in use');
      return !isInUse.yes;
    };
    void link.client.run();
    await link.clock.pass(60_000);
    const messages = link.told.map((one) => one.type === 'event' && one.event.message);
    expect(messages).to.deep.equal([
      'another living process uses the executor id e1: give each its own id; trying on',
    ]);
    isInUse.yes = false;
    await link.clock.pass(60_000);
    expect(link.of('executorConnected')).to.have.length(1);
  });
});
