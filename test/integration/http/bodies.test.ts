/** Bodies that cost more than they look: what the master does meanwhile, and what it holds. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { HttpFace } from '../../helpers/http-face.ts';

const SUBMIT = '/scheduler/v2/task/submit';
const BATCH = '/scheduler/v2/task/submit-batch';
const BATCH_BYTES = 8 * 1024 * 1024;
/** A body that was parsed in one piece took ten times as long. */
const LONGEST_TURN_MS = 80;
/** More than there are pieces in two batches. */
const NEW_COUNT = 400;
const good = '{"task":{"type":"t"},"user":{"group":"g"}}';

const fill = (part: string, byteCount: number) => part.repeat(Math.floor(byteCount / part.length));
function manyKeys(byteCount: number): string {
  let text = '"k":0';
  for (let place = 0; text.length < byteCount; place++) text += `,"k${place}":1`;
  return text;
}
const itemOf = (inTask: string) => `{"task":{"type":"t",${inTask}},"user":{"group":"g"}}`;
const batchOf = (items: string) => `{"tasks":[${items}]}`;
const times = (count: number, item: string) => Array<string>(count).fill(item).join(',');

/** Processor time of the longest turn of the event loop while `work` is under way. */
async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = process.cpuUsage();
  const look = () => {
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    before = process.cpuUsage();
    next = setImmediate(look);
  };
  let next = setImmediate(look);
  try {
    await work();
  } finally {
    clearImmediate(next);
  }
  return longest;
}

describe('bodies over HTTP', function () {
  let face: HttpFace;
  const sockets: Socket[] = [];
  beforeEach(async () => {
    // A busy machine takes its time over 8 MiB.
    face = await new HttpFace({ timeoutsMs: { headers: 60_000, request: 60_000 } }).open();
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await face.close();
  });

  it('that are empty define no type: all that was set would be gone', async () => {
    const answer = await face.call('PUT', '/scheduler/v2/type/video');
    expect(answer).to.include({ status: 400 });
    expect(answer.json().detail).to.equal('Expected a JSON body.');
  });

  const size = BATCH_BYTES - 200;
  const costly: readonly (readonly [string, () => string, number, number?])[] = [
    ['unknown keys in a task', () => batchOf(itemOf(manyKeys(size))), 200, 413],
    ['params of many keys', () => batchOf(itemOf(`"params":{${manyKeys(size)}}`)), 200, 413],
    ['lists in params', () => batchOf(itemOf(`"params":[${fill('[],', size)}[]]`)), 200, 413],
    ['lists that are not closed', () => `{"tasks":${fill('[', size)}`, 400],
    [
      'an item too deep',
      () => batchOf(itemOf(`"params":${fill('[', size / 2)}${fill(']', size / 2)}`)),
      200,
      413,
    ],
    ['unknown keys beside the tasks', () => `{"tasks":[${good}],${manyKeys(size)}}`, 400],
    ['one long text', () => batchOf(itemOf(`"params":"${fill('x', size)}"`)), 200, 413],
    ['millions of items', () => batchOf(`${fill('"",', size)}""`), 400],
    ['items full of keys', () => batchOf(times(25, itemOf(manyKeys(300_000)))), 200, 400],
    [
      'items full of lists',
      () => batchOf(times(30, itemOf(`"params":[${fill('[],', 250_000)}1]`))),
      200,
      202,
    ],
    [
      'params full of keys',
      () => batchOf(times(30, itemOf(`"id":"a","params":{${manyKeys(250_000)}}`))),
      200,
      202,
    ],
    [
      'a thousand good ones',
      () => batchOf(times(1000, itemOf(`"params":"${fill('x', 8_200)}"`))),
      200,
      202,
    ],
    ['nothing but lines', () => `${fill('\n', size)}x`, 400],
  ];
  for (const [what, make, status, code] of costly) {
    it(`of 8 MiB leave others their turn: ${what}`, async () => {
      const body = Buffer.from(make());
      expect(body.length).to.be.within(BATCH_BYTES * 0.85, BATCH_BYTES);
      // A piece is 4 ms, and a step within it a few more. The compiler and the collector of garbage
      // count too: what is the code's own fault is so each time.
      let longestMs = Number.POSITIVE_INFINITY;
      for (let tryCount = 0; tryCount < 3 && longestMs > LONGEST_TURN_MS; tryCount++) {
        longestMs = await longestTurnMs(async () => {
          const answer = await face.post(BATCH, body);
          expect(answer.status).to.equal(status);
          if (code === 202) expect(answer.json().results[0]?.code).to.be.oneOf([202, 409]);
          else if (code !== undefined) expect(answer.json().results[0]?.code).to.equal(code);
        });
      }
      expect(longestMs).to.be.at.most(LONGEST_TURN_MS);
    });
  }

  it('are refused an item at a time by their length, whatever JSON is in it', async () => {
    const large = `[${' '.repeat(320 * 1024)} true]`;
    const answer = await face.post(BATCH, batchOf([good, large, good].join(',')));
    const { results } = answer.json();
    expect(results.map(({ code }) => code)).to.deep.equal([202, 413, 202]);
    expect(results[1]?.message).to.include(`${large.length} bytes`);
  });

  it('say where a batch is broken, within an item and around it', async () => {
    for (const [body, line, column] of [
      [`{"tasks":[${good},\n{"task":{"type":"ü","x" 1}}]}`, 2, 25],
      [`{"tasks":[${good}]\n\n,x}`, 3, 2],
      ['{"tasks":[{"a":[}]}', 1, 17],
      [`{"tasks":[${good},{"a":[1},${good}]}`, 1, 61],
      [`{"tasks":[${good},{"a":1,${good}]}`, 1, 61],
      [`{"tasks":[${good},{"a":"]}`, 1, 62],
    ] as const) {
      const answer = await face.post(BATCH, body);
      expect(answer.status, body).to.equal(400);
      expect(answer.json().detail, body).to.include(`line ${line} column ${column}.`);
    }
    expect(face.master.submissions).to.deep.equal([]);
  });

  it('are taken in no part where an item is refused and is not JSON behind that', async () => {
    const key = '"a":1,"a":2';
    for (const [item, column] of [
      [`{${key} garbage !! }`, 14],
      ['{"__proto__":1 "x" : : }', 16],
      [`{${key} ] ]`, 14],
      [`{${key},"b":"\n\\q"}`, 18],
      [`{${key},"b":"\\q"}`, 19],
      [`{"a":nonsense${' '.repeat(330_000)}}`, 6],
      [`{"task":{"params":${'['.repeat(40)} x ${']'.repeat(40)}}}`, 60],
      [`{"x":[${'1,'.repeat(1_100)}x]}`, 2_207],
    ] as const) {
      const answer = await face.post(BATCH, `{"tasks":[${good},\n${item}]}`);
      expect(answer.status, item.slice(0, 40)).to.equal(400);
      expect(answer.json().detail).to.match(
        /^The body is not valid JSON: .* line \d+ column \d+\.$/,
      );
      if (!item.includes('\n')) expect(answer.json().detail).to.include(`line 2 column ${column}.`);
    }
    expect(face.master.submissions).to.deep.equal([]);
  });

  it('count when they have arrived, not when they are announced', async () => {
    let requestCount = 0;
    const opened = new Promise<void>((resolve) => {
      face.http.server.on('request', () => ++requestCount === 40 && resolve());
    });
    for (let count = 0; count < 40; count++) {
      const socket = connect(face.port, '127.0.0.1');
      sockets.push(socket);
      socket.write(
        `POST ${count % 2 === 0 ? BATCH : SUBMIT} HTTP/1.1\r\nHost: localhost\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${count % 2 === 0 ? BATCH_BYTES : 200_000}\r\n\r\n{`,
      );
    }
    await opened;
    const bodies = Array.from({ length: 2 }, () =>
      face.post(BATCH, batchOf(good) + ' '.repeat(BATCH_BYTES - 60)),
    );
    for (const { status } of await Promise.all(bodies)) expect(status).to.equal(200);
    expect((await face.post(SUBMIT, good)).status).to.equal(202);
  });

  it('leave room for small ones, whatever large ones and those in between hold', async () => {
    /** Sends all but the last byte of so many bodies, and waits until they have arrived. */
    const hold = async (count: number, path: string, byteCount: number) => {
      const arrived = new Promise<void>((resolve) => {
        let left = count;
        face.http.server.on('request', (req) => {
          let missing = byteCount - 1;
          req.on('data', (chunk: Buffer) => {
            missing -= chunk.length;
            if (missing === 0 && --left === 0) resolve();
          });
        });
      });
      for (let place = 0; place < count; place++) {
        const socket = connect(face.port, '127.0.0.1');
        sockets.push(socket);
        socket.on('error', () => undefined);
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
            `Content-Length: ${byteCount}\r\n\r\n`,
        );
        socket.write(Buffer.alloc(byteCount - 1, ' '));
      }
      await arrived;
    };
    // All there is for them.
    await hold(16, BATCH, BATCH_BYTES);
    await hold(128, SUBMIT, 256 * 1024);
    const medium = good + ' '.repeat(100_000);
    expect((await face.post(SUBMIT, medium)).status).to.equal(503);
    expect((await face.post(SUBMIT, good + ' '.repeat(60_000))).status).to.equal(202);
    const cancel = await face.post('/scheduler/v2/task/t-1/cancel', '{"reason":"it is late"}');
    expect(cancel.status).to.not.equal(503);
  });

  it('leave new connections their turn while they are read', async () => {
    let isRead = false;
    const body = batchOf(times(30, itemOf(`"id":"a","params":{${manyKeys(250_000)}}`)));
    const batches = Promise.all([face.post(BATCH, body), face.post(BATCH, body)]).then(() => {
      isRead = true;
    });
    await once(face.http.server, 'request');
    const probes = Array.from({ length: NEW_COUNT }, () => face.get('/livez'));
    for (const { status } of await Promise.all(probes)) expect(status).to.equal(200);
    expect(isRead, 'the batches were read first').to.equal(false);
    await batches;
  });

  it('are answered once, also where they turn bad after a refusal', async () => {
    const socket = connect(face.port, '127.0.0.1');
    sockets.push(socket);
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      // The refusal is there, and the body goes on with what is no chunk.
      if (text.endsWith('}\n')) socket.write('zz\r\n');
    });
    socket.write(
      `POST ${SUBMIT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n` +
        'Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n',
    );
    await once(socket, 'close');
    expect(text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 415']);
  });

  it('get their own answer, also where nonsense follows before it is there', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const submit = face.master.submit.bind(face.master);
    face.master.submit = (submissions) => held.then(() => submit(submissions));
    const socket = connect(face.port, '127.0.0.1');
    sockets.push(socket);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    face.http.server.once('clientError', () => release());
    socket.write(
      `POST ${SUBMIT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${good.length}\r\n\r\n${good}nonsense\r\n\r\n`,
    );
    await once(socket, 'close');
    expect(text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 202']);
  });

  it('are not told of each packet of nonsense that follows while their answer takes', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const submit = face.master.submit.bind(face.master);
    face.master.submit = (submissions) => held.then(() => submit(submissions));
    let brokenCount = 0;
    const all = new Promise<void>((resolve) => {
      face.http.server.on('clientError', () => ++brokenCount === 5 && resolve());
    });
    const request = once(face.http.server, 'request');
    const socket = connect(face.port, '127.0.0.1').setNoDelay();
    sockets.push(socket);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.write(
      `POST ${SUBMIT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${good.length}\r\n\r\n${good}`,
    );
    const [, answer] = (await request) as [IncomingMessage, ServerResponse];
    const before = answer.listenerCount('close');
    for (let at = 0; at < 20; at++) {
      socket.write('nonsense\r\n\r\n');
      // A packet of its own each.
      expect((await face.get('/livez')).status).to.equal(200);
    }
    await all;
    expect(answer.listenerCount('close') - before).to.equal(1);
    release();
    await once(socket, 'close');
    expect(text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 202']);
  });
});
