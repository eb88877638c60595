/** Many requests on one connection, whose answers nobody waits for or reads. */
import { once } from 'node:events';
import { request, type ServerResponse } from 'node:http';
import { EXECUTOR_PATH, SUBPROTOCOL } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { UnreadAnswers } from '../../../master/access/http/pipeline.ts';
import { everythingFrom, HttpFace } from '../../helpers/http-face.ts';
import { sampleTask } from '../../helpers/task.ts';

const SUBMIT = '/scheduler/v2/task/submit';
const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
const last = 'Connection: close\r\n';

describe('requests behind one another on a connection', () => {
  let face: HttpFace;
  beforeEach(async () => {
    face = await new HttpFace().open();
  });
  afterEach(async () => {
    face.hangUp();
    await face.close();
  });

  const statusesOf = (text: string) =>
    [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));

  it('are answered in their order, those with a body too', async () => {
    const socket = await face.dial();
    const body = '{"task":{"id":"a","type":"t"},"user":{"group":"g"}}';
    const submit =
      `POST ${SUBMIT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`;
    const answers = everythingFrom(socket);
    socket.write(
      submit + get('/scheduler/v2/task/a') + submit + get('/none') + get('/livez', last),
    );
    expect(statusesOf(await answers)).to.deep.equal([202, 200, 409, 404, 200]);
  });

  it('are too many, and all that come after some are dropped with the connection', async () => {
    let count = 0;
    face.http.server.on('request', () => (count += 1));
    face.http.server.on('upgrade', (_, socket) => expect(socket.destroyed).to.equal(true));
    for (const path of ['/', '/livez', '/openapi.json']) {
      count = 0;
      const socket = await face.dial();
      const closed = once(socket.resume(), 'close');
      socket.write(get(path).repeat(1_000));
      await closed;
      expect(count, path).to.be.at.most(16);
    }
    expect((await face.get('/livez')).status).to.equal(200);
    const message = 'a connection is cut: it sends requests and does not wait for answers';
    expect(face.logged).to.deep.equal(
      Array.from({ length: 3 }, () => ({ level: 'warn', message })),
    );
  });

  it('wait for the answers before them to be read', async () => {
    const bytes = 4 * 1024 * 1024;
    face.master.keep(sampleTask({ id: 'large', result: `"${'x'.repeat(bytes)}"` }));
    const socket = (await face.dial()).pause();
    let arrivedCount = 0;
    const arrived = new Promise<void>((resolve) => {
      face.http.server.on('request', () => ++arrivedCount === 10 && resolve());
    });
    socket.write(get('/scheduler/v2/task/large').repeat(10));
    await arrived;
    for (let turn = 0; turn < 10; turn++) await face.get('/livez');
    const fill = face.http.fills().find(({ bound }) => bound === 'unread_answer_bytes');
    expect(fill?.used).to.be.within(1, bytes + 1_000_000);
    socket.destroy();
  });

  it('an upgrade is refused behind one that is not answered, and with a body', async () => {
    face.http.server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 101 -\r\n\r\n'));
    const upgrade =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
      `Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Protocol: ${SUBPROTOCOL}\r\n`;
    const ask = async (text: string) => {
      const socket = await face.dial();
      const answers = everythingFrom(socket);
      socket.write(text);
      return statusesOf(await answers);
    };
    const behind = get('/livez') + get(EXECUTOR_PATH, upgrade);
    expect(await ask(behind)).to.deep.equal([200, 400]);
    expect(
      await ask(`${get(EXECUTOR_PATH, `${upgrade}Content-Length: 5\r\n`)}hello`),
    ).to.deep.equal([400]);
    const chunked = `${get(EXECUTOR_PATH, `${upgrade}Transfer-Encoding: chunked\r\n`)}0\r\n\r\n`;
    expect(await ask(chunked)).to.deep.equal([400]);
    expect(await ask(get(EXECUTOR_PATH, upgrade))).to.deep.equal([101]);
  });

  it('a body is asked for only when nothing speaks against it', async () => {
    const ask = (headers: Record<string, string>) =>
      new Promise<readonly [number, boolean]>((resolve) => {
        let isContinued = false;
        const req = request({ port: face.port, method: 'POST', path: SUBMIT, headers });
        req.on('continue', () => {
          isContinued = true;
          req.end('{"task":{"type":"t"},"user":{"group":"g"}}');
        });
        req.on('response', (res) => {
          res.resume();
          req.destroy();
          resolve([res.statusCode ?? 0, isContinued]);
        });
        req.on('error', () => undefined);
        req.flushHeaders();
      });
    const json = { expect: '100-continue', 'content-type': 'application/json' };
    expect(await ask({ ...json, 'content-length': '42' })).to.deep.equal([202, true]);
    expect(await ask({ ...json, 'content-length': '9000000' })).to.deep.equal([413, false]);
    expect(await ask({ ...json, host: 'example.org' })).to.deep.equal([403, false]);
  });

  it('answers odd requests with a problem too', async () => {
    const cases = [
      ['GET http://[ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
      ['GET /livez HTTP/1.1\r\n\r\n', 400],
      ['CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n', 405],
    ] as const;
    for (const [text, status] of cases) {
      const socket = await face.dial();
      const answer = everythingFrom(socket);
      socket.write(text);
      expect(await answer, text).to.match(
        new RegExp(
          `^HTTP/1\\.1 ${status} [\\s\\S]*application/problem\\+json[\\s\\S]*"code":${status}}\\n$`,
        ),
      );
    }
  });
});

describe('answers that nobody reads', () => {
  it('cost the connections that have not read for longest', () => {
    const answers = new UnreadAnswers(1_000);
    const destroyed: string[] = [];
    const closed = new Map<string, () => void>();
    const answer = (name: string, writableLength: number) => {
      const socket = { writableLength, destroy: () => destroyed.push(name) };
      const once = (_: string, listener: () => void) => closed.set(name, listener);
      answers.hold({ socket, once } as unknown as ServerResponse);
    };
    answer('taken at once', 0);
    answer('first', 400);
    answer('second', 400);
    answer('third', 100);
    closed.get('first')?.();
    expect(answers.fills()[0]).to.deep.include({ used: 500, limit: 1_000 });
    answer('fourth', 600);
    expect(destroyed).to.deep.equal(['second']);
    closed.get('second')?.();
    expect(answers.fills()[0]).to.deep.include({ used: 700 });
  });
});
