/** That no receiver stalls the others: turns, shares, what is put off, and time limits. */
import { expect } from 'chai';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { NotifierBench, taskOf } from '../../helpers/callbacks/notifier-bench.ts';

describe('callbacks to many receivers', () => {
  let bench: NotifierBench;
  beforeEach(async () => {
    bench = await new NotifierBench().open();
  });
  afterEach(() => bench.close());

  /** The receiver answers once: from then on it gets many at a time. */
  async function prove(): Promise<void> {
    bench.deliver(taskOf('proof', { seq: 999 }));
    expect(await bench.answered(200)).to.include({ outcome: 'delivered' });
  }

  it('hold back for an origin in trouble, and go on for the others', async () => {
    await prove();
    for (let i = 0; i < 150; i += 1) bench.deliver(taskOf(`t${i}`, { seq: i }));
    await bench.calls.takeMany(32);
    bench.deliverTo('other.example', 1000);
    const other = await bench.calls.take();
    expect(other.request.headers.host, 'the 33rd waits, another origin does not').to.match(
      /^other/,
    );
    other.response.end();
    await bench.tries.take();

    bench.clock.advance(15_000);
    for (const { error, tryCount } of await bench.tries.takeMany(32)) {
      expect({ error, tryCount }).to.deep.equal({ error: 'no answer within 15 s', tryCount: 1 });
    }
    const probe = await bench.calls.take();
    const putOff = await bench.putOffs.takeMany(18);
    expect(putOff[0]?.error).to.match(/^not sent: .* answers no callback in time$/);
    expect(putOff[0]?.afterMs).to.equal(60_000);
    expect(bench.calls.count, 'one at a time until it answers').to.equal(0);
    probe.response.end();
    for (let i = 1; i < 100; i += 1) (await bench.calls.take()).response.end();
    for (const { outcome } of await bench.tries.takeMany(100))
      expect(outcome).to.equal('delivered');
    expect([bench.calls.count, bench.tries.count, bench.putOffs.count]).to.deep.equal([0, 0, 0]);
  });

  it('reach a receiver nobody knows, and one that is known, past hosts that hang', async () => {
    await prove();
    for (let i = 0; i < 500; i += 1) bench.deliverTo(`h${i}.example`, i);
    await bench.calls.takeMany(32);
    bench.deliver(taskOf('known'));
    expect(await bench.answered(200), 'at once').to.include({ outcome: 'delivered' });
    bench.deliverTo('new.example', 1000);
    bench.clock.advance(500);
    const next = await bench.calls.takeMany(32);
    next.find(({ request }) => request.headers.host?.startsWith('new.'))?.response.end();
    expect(await bench.tries.take(), 'half a second later').to.include({
      taskSeq: 1000,
      outcome: 'delivered',
    });
  });

  it('come back soon where a receiver that nobody knows gets thousands at once', async () => {
    for (let i = 0; i < 4_010; i += 1) bench.deliver(taskOf(`t${i}`, { seq: i }));
    const putOff = await bench.putOffs.takeMany(9);
    expect(putOff[0]?.error).to.match(/^not sent: .* has not answered its first callback$/);
    expect(putOff[0]?.afterMs).to.equal(5_000);
    expect(await bench.answered(200)).to.include({ outcome: 'delivered' });
    await bench.calls.takeMany(32);
    expect(bench.putOffs.count).to.equal(0);
  });

  it('go to a host one at a time, whatever its ports, until one of them answers', async () => {
    const other = http.createServer((request, response) =>
      bench.calls.put({ request, body: '', response }),
    );
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    bench.deliverTo('h.example', 1);
    const first = await bench.calls.take();
    bench.deliver(taskOf('second', { seq: 2 }), `http://h.example:${port}/`);
    bench.deliverTo('barrier.example', 3);
    expect((await bench.calls.take()).request.headers.host).to.match(/^barrier/);
    first.response.end();
    const second = await bench.calls.take();
    expect(second.request.headers.host).to.equal(`h.example:${port}`);
    second.response.end();
    const tried = await bench.tries.takeMany(2);
    expect(new Set(tried.map(({ taskSeq }) => taskSeq))).to.deep.equal(new Set([1, 2]));
    bench.notifier.stop();
    other.close();
    await once(other, 'close');
  });

  it('wait five seconds for a name and a connection', async () => {
    let asked = () => {};
    const heard = new Promise<void>((resolve) => (asked = resolve));
    bench.replace({
      resolve: () => {
        asked();
        return new Promise(() => {});
      },
    });
    bench.deliverTo('dead.example', 1);
    await heard;
    bench.clock.advance(4_999);
    expect(bench.tries.count).to.equal(0);
    bench.clock.advance(1);
    const tried = await bench.tries.take();
    expect(tried).to.include({ error: 'no connection within 5 s', tryCount: 1 });
  });

  it('have their whole time, however long they waited for their turn', async () => {
    await prove();
    for (let i = 0; i < 33; i += 1) bench.deliver(taskOf(`t${i}`, { seq: i }));
    const first = await bench.calls.takeMany(32);
    bench.clock.advance(14_000);
    first[0]?.response.end();
    await bench.tries.take();
    const last = await bench.calls.take();
    for (const { response } of first.slice(1)) response.end();
    await bench.tries.takeMany(31);
    bench.clock.advance(14_000);
    last.response.end();
    expect(await bench.tries.take()).to.include({ outcome: 'delivered' });
  });

  it('are forgotten while they wait for their turn, and sent once where in flight', async () => {
    await prove();
    const all = Array.from({ length: 40 }, (_, i) => taskOf(`t${i}`, { seq: i }));
    for (const task of all) bench.deliver(task);
    const first = await bench.calls.takeMany(32);
    // The state was rebuilt, and hands everything over again.
    bench.own.forgetAll();
    for (const task of all) bench.deliver(task, undefined, 2);
    for (const { response } of first) response.end();
    const rest = await bench.calls.takeMany(8);
    for (const { response } of rest) response.end();
    const tried = await bench.tries.takeMany(40);
    const ids = [...first, ...rest].map(({ request }) => request.headers['webhook-id']);
    expect(new Set(ids).size, 'each of them once').to.equal(40);
    expect(new Set(tried.map(({ taskSeq }) => taskSeq)).size).to.equal(40);
    expect(new Set(tried.map(({ term }) => term)), 'told to who asked last').to.deep.equal(
      new Set([2]),
    );
    bench.deliver(taskOf('after'));
    expect(await bench.answered(200)).to.include({ outcome: 'delivered' });
    expect([bench.calls.count, bench.tries.count]).to.deep.equal([0, 0]);
  });
});
