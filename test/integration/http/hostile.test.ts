/** Requests that are broken below the level of fields: bytes, syntax, sizes, sockets. */
import { once } from 'node:events';
import { expect } from 'chai';
import { everythingFrom, HttpFace } from '../../helpers/http-face.ts';

const SUBMIT = '/scheduler/v2/task/submit';
const BATCH = '/scheduler/v2/task/submit-batch';
const good = '{"task":{"type":"t"},"user":{"group":"g"}}';

/** A good body, with `params` filled up so that the whole has so many bytes. */
function ofSize(byteCount: number): string {
  const frame = '{"task":{"type":"t","params":""},"user":{"group":"g"}}';
  return frame.replace('""', `"${'x'.repeat(byteCount - frame.length)}"`);
}

function head(contentLength: number | string): string {
  return (
    `POST ${SUBMIT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${contentLength}\r\n\r\n`
  );
}

describe('hostile HTTP', () => {
  let face: HttpFace;
  beforeEach(async () => {
    face = await new HttpFace().open();
  });
  afterEach(async () => {
    face.hangUp();
    await face.close();
  });

  const broken: readonly (readonly [text: string, line: number, column: number])[] = [
    ['{"task":', 1, 9],
    ['{"task" 1}', 1, 9],
    ['{"a":secret}', 1, 6],
    ['{"a":"secret', 1, 13],
    ['{"a":"sec\nret"}', 1, 10],
    ['{"a":1,}', 1, 8],
    ['[1,]', 1, 4],
    ['{"a":1}\n\n  x', 3, 3],
    ['{"a":01}', 1, 7],
    ['{"a":"\\x"}', 1, 7],
    ["{'a':1}", 1, 2],
    ['[1}', 1, 3],
    ['\ufeff{}', 1, 1],
    ['[,1]', 1, 2],
    ['{"a":+1}', 1, 6],
    ['{1:2}', 1, 2],
    [':', 1, 1],
    ['"a" "b"', 1, 5],
  ];
  it('says where JSON is broken, and never what it holds', async () => {
    for (const [text, line, column] of broken) {
      const answer = await face.post(SUBMIT, text);
      expect(answer.status, text).to.equal(400);
      expect(answer.json().detail, text).to.include(`line ${line} column ${column}.`);
      expect(answer.text, text).not.to.match(/sec|ret"/);
    }
  });

  it('survives depth that a recursive reader would not', async () => {
    for (const open of ['[', '{"a":']) {
      const deep = open.repeat(20_000);
      const close = (open === '[' ? ']' : '}').repeat(20_000);
      const params = `{"task":{"type":"t","params":${deep}1${close}},"user":{"group":"g"}}`;
      const answer = await face.post(SUBMIT, params);
      expect(answer.json().errors[0]?.field).to.equal('task.params');
      expect((await face.post(SUBMIT, deep)).json().errors[0]?.field).to.equal('body');
    }
  });

  it('refuses what is not JSON by its own account', async () => {
    for (const type of [
      'text/plain',
      'application/json; charset=utf-16',
      'application/json, text/plain',
      'application/jsonx',
      'application/problem+json',
      '',
    ]) {
      const answer = await face.post(SUBMIT, good, { 'content-type': type });
      expect(answer.status, type).to.equal(415);
    }
    for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"']) {
      expect((await face.post(SUBMIT, good, { 'content-type': type })).status, type).to.equal(202);
    }
    const zipped = await face.post(SUBMIT, good, { 'content-encoding': 'gzip' });
    expect(zipped.status).to.equal(415);
    expect((await face.call('POST', SUBMIT)).status).to.equal(400);
  });

  it('refuses bytes that are not UTF-8', async () => {
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82]]) {
      const body = Buffer.concat([
        Buffer.from('{"task":{"type":"t","params":"'),
        Buffer.from(bytes),
        Buffer.from('"},"user":{"group":"g"}}'),
      ]);
      const answer = await face.post(SUBMIT, body);
      expect(answer.status).to.equal(400);
      expect(answer.json().detail).to.include('UTF-8');
    }
  });

  it('takes a body at its limit and none beyond', async () => {
    const limit = 256 * 1024;
    expect((await face.post(SUBMIT, ofSize(limit))).status).to.equal(202);
    expect((await face.post(SUBMIT, ofSize(limit + 1))).status).to.equal(413);
    const chunked = { 'transfer-encoding': 'chunked' };
    expect((await face.post(SUBMIT, ofSize(limit * 4), chunked)).status).to.equal(413);
    const batch = (size: number) => `{"tasks":[${ofSize(size - 12)}]}`;
    expect((await face.post(BATCH, batch(8 * 1024 * 1024))).status).to.equal(200);
    expect((await face.post(BATCH, batch(8 * 1024 * 1024 + 1))).status).to.equal(413);
  });

  /** Where the master is to lose patience, and nothing has to be quicker than that. */
  async function becomeImpatient(): Promise<void> {
    await face.close();
    face = await new HttpFace({ timeoutsMs: { headers: 150, request: 300 } }).open();
  }

  it('ends a body that stops coming, and one that trickles', async () => {
    await becomeImpatient();
    const stopped = await face.dial();
    stopped.write(`${head(1000)}{"task"`);
    expect(await everythingFrom(stopped)).to.match(/^HTTP\/1\.1 408 /);

    const trickling = await face.dial();
    trickling.write(head(1000));
    const drip = setInterval(() => trickling.write('x'), 20);
    try {
      expect(await everythingFrom(trickling)).to.match(/^HTTP\/1\.1 408 /);
    } finally {
      clearInterval(drip);
    }
    expect(face.master.submissions).to.deep.equal([]);
  });

  it('ends a head that never ends, and a socket that says nothing', async () => {
    await becomeImpatient();
    const slow = await face.dial();
    slow.write(`POST ${SUBMIT} HTTP/1.1\r\nHost: localhost\r\n`);
    const silent = await face.dial();
    const [answer] = await Promise.all([everythingFrom(slow), everythingFrom(silent)]);
    expect(answer).to.match(/^HTTP\/1\.1 408 [\s\S]*"code":408/);
  });

  it('does nothing for a client that leaves in the middle of its body', async () => {
    const socket = await face.dial();
    const request = once(face.http.server, 'request');
    socket.write(`${head(good.length + 1)}${good}`);
    await request;
    socket.resetAndDestroy();
    expect((await face.post(SUBMIT, good)).status).to.equal(202);
    expect(face.master.submissions).to.have.length(1);
    expect(face.logged).to.deep.equal([]);
  });

  it('answers what is not HTTP, and heads that are too large, with a problem', async () => {
    const cases = [
      ['nonsense\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
      [head('5').replace('5', '5\r\nTransfer-Encoding: chunked'), 400],
      [head('-1'), 400],
    ] as const;
    for (const [bytes, status] of cases) {
      const socket = await face.dial();
      const answer = everythingFrom(socket);
      socket.write(bytes);
      expect(await answer).to.match(
        new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*"code":${status}}\\n$`),
      );
    }
  });

  it('refuses a request that names no host, or several, and with HTTP/1.0 takes none', async () => {
    const cases = [
      ['GET /livez HTTP/1.1', 'Host: localhost\r\n', 200],
      ['GET /livez HTTP/1.1', '', 400],
      ['GET /livez HTTP/1.1', 'Host: localhost\r\nhost: localhost\r\n', 400],
      ['GET /livez HTTP/1.0', '', 200],
      ['GET /livez HTTP/1.0', 'Host: localhost\r\nHost: elsewhere\r\n', 400],
    ] as const;
    for (const [start, hosts, status] of cases) {
      const socket = await face.dial();
      const answer = everythingFrom(socket);
      socket.write(`${start}\r\n${hosts}Connection: close\r\n\r\n`);
      const text = await answer;
      expect(text, start + hosts).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
      if (status === 400) expect(text).to.include('A request has one Host header.');
    }
  });

  it('answers clients that offer HTTP/2, as Java does, and hands over WebSockets alone', async () => {
    const taken: string[] = [];
    face.http.server.on('upgrade', (request, socket) => {
      taken.push(request.headers.upgrade ?? '');
      socket.end('HTTP/1.1 426 -\r\n\r\n');
    });
    const ask = async (start: string, protocol: string, body = '') => {
      const socket = await face.dial();
      socket.write(
        `${start} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\n` +
          `Upgrade: ${protocol}\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      return chunk.toString().split(' ')[1];
    };
    expect(await ask(`POST ${SUBMIT}`, 'h2c', good)).to.equal('202');
    expect(await ask('GET /livez', 'h2c')).to.equal('200');
    expect(await ask('GET /scheduler/v2/executor', 'WebSocket')).to.equal('426');
    expect(taken).to.deep.equal(['WebSocket']);
  });

  it('drops what is sent behind an offer of HTTP/2, and says so', async () => {
    face.http.server.on('upgrade', (_, socket) => socket.destroy());
    const socket = await face.dial();
    const answers = everythingFrom(socket);
    const get = (more: string) => `GET /livez HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
    socket.write(get('Connection: Upgrade\r\nUpgrade: h2c\r\n') + get(''));
    expect(await answers).to.match(/^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n/);
  });

  it('answers an expectation that it does not know with a problem', async () => {
    const answer = await face.post(SUBMIT, good, { expect: 'banana' });
    expect(answer.status).to.equal(417);
    expect(answer.headers['content-type']).to.equal('application/problem+json');
    expect(answer.json().code).to.equal(417);
    expect((await face.post(SUBMIT, good, { expect: '100-continue' })).status).to.equal(202);
  });

  it('lets requests that are under way end when it closes', async () => {
    const socket = await face.dial();
    const request = once(face.http.server, 'request');
    socket.write(`${head(good.length)}${good.slice(0, 10)}`);
    await request;
    const answer = everythingFrom(socket);
    const closed = face.close();
    socket.write(good.slice(10));
    expect(await answer).to.match(/^HTTP\/1\.1 202 /);
    await closed;
  });
});
