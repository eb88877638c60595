/** Requests that come together, on as many connections, hold up nobody else for long. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { REQUESTS_MS_MAX } from '../../master/access/http/turns.ts';
import { everythingFrom, HttpFace } from '../helpers/http-face.ts';

const COUNT = 24;
const WORK_MS = 4;
const clock = new Int32Array(new SharedArrayBuffer(4));

describe('requests on many connections', () => {
  let face: HttpFace;
  beforeEach(async () => {
    face = await new HttpFace().open();
  });
  afterEach(async () => {
    face.hangUp();
    await face.close();
  });

  /** How many of `mark`'s calls fell into one turn of the event loop at most. Each call takes its time. */
  async function mostInATurn(ask: (mark: () => void) => Promise<void>): Promise<number> {
    const turns = new Map<number, number>();
    let turn = 0;
    const count = (): void => {
      turn += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await ask(() => {
      turns.set(turn, (turns.get(turn) ?? 0) + 1);
      Atomics.wait(clock, 0, 0, WORK_MS);
    });
    clearImmediate(next);
    return Math.max(...turns.values());
  }

  async function askAll(command: string, body = ''): Promise<void> {
    const sockets = await Promise.all(Array.from({ length: COUNT }, () => face.dial()));
    // A turn accepts one connection: what they ask would come one by one.
    for (const socket of sockets) {
      socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await once(socket, 'data');
    }
    const answers = sockets.map(everythingFrom);
    const length = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    const rest = `${body === '' ? '' : length}\r\n${body}`;
    for (const [n, socket] of sockets.entries()) {
      socket.write(
        `POST /scheduler/v2/task/t-${n}/${command} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${rest}`,
      );
    }
    for (const answer of await Promise.all(answers)) expect(answer).to.match(/^HTTP\/1\.1 200 /);
  }

  for (const [command, body] of [
    ['retry', ''],
    ['cancel', '{}'],
  ] as const) {
    it(`are begun a few at a time, in their order: ${command}, ${body === '' ? 'no body' : 'a body'}`, async () => {
      const most = await mostInATurn((mark) => {
        const run = face.master[command];
        face.master[command] = (taskId) => {
          mark();
          return run.call(face.master, taskId);
        };
        return askAll(command, body);
      });
      expect(most).to.be.at.most(Math.ceil(REQUESTS_MS_MAX / WORK_MS));
      const asked = Array.from({ length: COUNT }, (_, n) => `${command} t-${n}`);
      expect([...face.master.commands].sort()).to.deep.equal(asked.sort());
    });
  }

  it('that end together are answered a few at a time', async () => {
    let askedCount = 0;
    let endAll: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (endAll = resolve));
    let mark: () => void = () => undefined;
    let isAllAsked = false;
    face.http.server.on('request', (_, res: ServerResponse) => {
      const { writeHead } = res;
      res.writeHead = (...given: unknown[]) => {
        if (isAllAsked) mark();
        return writeHead.apply(res, given as Parameters<typeof writeHead>);
      };
    });
    const most = await mostInATurn((given) => {
      mark = given;
      face.master.retry = async () => {
        isAllAsked = ++askedCount === COUNT;
        if (isAllAsked) endAll();
        await ended;
        return { kind: 'done' };
      };
      return askAll('retry');
    });
    expect(most).to.be.at.most(Math.ceil(REQUESTS_MS_MAX / WORK_MS));
  });
});
