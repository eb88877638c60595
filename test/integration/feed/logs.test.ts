/** Logs of tasks over HTTP: pages, waits, streams and text, and when each of them ends. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { API_BASE, type LogPage, type LogSearchPage } from '@soda-scheduler/protocol';
import type { ListedAttempt } from '../../../master/application/ports.ts';
import { endChunk } from '../../../master/domain/logs/attempt-log.ts';
import { type LogLine, lineText } from '../../../master/domain/logs/log-line.ts';
import { HttpFace, noTokens } from '../../helpers/http-face.ts';
import { settled } from '../../helpers/manual-clock.ts';
import { NOW, sampleTask } from '../../helpers/task.ts';

const ADMIN = 'the-token-of-the-admin';
const admin = { authorization: `Bearer ${ADMIN}` };

describe('logs over HTTP', () => {
  let face: HttpFace;
  let seq = 0;
  let id: string;
  let path: string;
  before(async () => {
    face = await new HttpFace({ configured: { ...noTokens, adminToken: ADMIN } }).open();
  });
  after(async () => {
    await face.master.taken.stop();
    await face.close();
  });
  beforeEach(() => {
    seq += 1;
    id = `job-${seq}`;
    path = `${API_BASE}/task/${id}/logs`;
    keep('running');
  });

  function keep(state: 'running' | 'succeeded' | 'waiting', attempt = 1): void {
    const finishedAt = state === 'succeeded' ? face.master.clock.now() : null;
    face.master.keep(sampleTask({ seq, id, state, attempt, finishedAt, executorId: 'x' }));
  }

  function failed(attempt: number, executorId: string): ListedAttempt {
    const of = { taskSeq: seq, attempt, executorId, incarnation: null, session: null };
    const times = { offeredAt: NOW, startedAt: NOW, endedAt: NOW };
    return { ...of, ...times, outcome: 'failed', error: null, detailsBytes: 0 };
  }

  /** As an executor does, and written. */
  async function say(attempt: number, first: number, ...lines: Partial<LogLine>[]): Promise<void> {
    const of = { taskId: id, taskSeq: seq, attempt };
    face.master.taken.take(
      of,
      lines.map((line, index) => {
        const n = first + index;
        const rest = { at: NOW, level: 'info', stream: 'log', text: `line ${n}`, fields: null };
        const text = lineText({ ...rest, ...line, n } as LogLine);
        return { n, text, bytes: Buffer.byteLength(text) };
      }),
    );
    await face.master.clock.pass(250);
  }

  const asked = async (query = '') => (await face.get(`${path}?${query}`, admin)).json<LogPage>();

  async function stream(query: string, headers: Readonly<Record<string, string>> = {}) {
    const req = request({
      ...{ host: '127.0.0.1', port: face.port, path: `${path}?${query}`, agent: false },
      headers: { ...admin, ...headers },
    }).end();
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    let text = '';
    res.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    return {
      res,
      ended: once(res, 'end').then(() => text),
      async next(part: string) {
        while (!text.includes(part)) await once(res, 'data');
        return text;
      },
    };
  }

  it('end with the word of the master where the executor could not say it', async () => {
    await say(1, 1, {});
    const finishedAt = face.master.clock.now();
    const task = sampleTask({ seq, id, state: 'failed', attempt: 1, finishedAt });
    const record = { taskSeq: seq, attempt: 1, executorId: 'e1', incarnation: null, session: null };
    const error = { message: 'executor e1: its lease ended' };
    const times = { offeredAt: NOW, startedAt: NOW, endedAt: finishedAt };
    const lost = { ...record, ...times, outcome: 'lost', error, detailsBytes: 0 } as const;
    face.master.keep(task, { attempts: [lost] });
    await face.master.clock.pass(2_000);
    const { lines, next, ended } = await asked();
    expect(lines.map(({ n, level, text }) => ({ n, level, text }))).to.deep.equal([
      { n: 1, level: 'info', text: 'line 1' },
      { n: 2, level: 'error', text: 'lost: executor e1: its lease ended' },
    ]);
    expect(ended).to.equal(true);
    expect((await asked(`after=${next}`)).lines, 'once').to.deep.equal([]);
    expect((await asked('after=1.1')).lines, 'also for whoever had the rest').to.have.length(1);
    const text = await (await stream('follow=1')).ended;
    expect(text.match(/^id: .*$/gm)?.at(-1)).to.equal(`id: ${next}`);
    expect((await asked('level=error')).lines).to.have.length(1);
  });

  it('brings lines page by page, with what is missing between them', async () => {
    await say(1, 1, {}, { level: 'warn', stream: 'stderr', fields: { at: 'x' } });
    await say(1, 6, { text: 'the last' });
    const at = new Date(NOW).toISOString();
    expect(await asked('limit=2')).to.deep.equal({
      lines: [
        { attempt: 1, n: 1, at, level: 'info', stream: 'log', text: 'line 1' },
        {
          attempt: 1,
          n: 2,
          at,
          level: 'warn',
          stream: 'stderr',
          text: 'line 2',
          fields: { at: 'x' },
        },
      ],
      dropped: 0,
      lost_at_end: 0,
      next: '1.2',
      at_end: false,
      ended: false,
    });
    const rest = await asked('after=1.2');
    expect(rest.lines.map(({ text }) => text)).to.deep.equal(['the last']);
    expect(rest).to.include({ dropped: 3, next: '1.6', at_end: true, ended: false });
    expect(await asked('after=1.6')).to.deep.equal({ ...rest, lines: [], dropped: 0 });
    const plainOf = async (query: string) => {
      const { text } = await face.get(`${path}${query}`, { ...admin, accept: 'text/plain' });
      return text.split('\n').map((line) => line.replace(/^\S+Z /, ''));
    };
    const gap = '3 lines were dropped here';
    expect((await plainOf('')).slice(2)).to.deep.equal([gap, 'INFO the last', '']);
    expect((await plainOf('?level=warn')).slice(1), 'behind it is nothing').to.deep.equal([
      gap,
      '',
    ]);
  });

  it('finds by level, text and attempt, and knows the first error', async () => {
    await say(1, 1, { text: 'No SPACE left' }, { level: 'error', text: 'first' });
    await say(2, 1, { level: 'error', text: 'second' }, { level: 'debug' });
    const texts = async (query: string) => (await asked(query)).lines.map(({ text }) => text);
    expect(await texts(''), 'of the newest attempt').to.deep.equal(['second', 'line 2']);
    expect(await texts('attempt=1&text=space')).to.deep.equal(['No SPACE left']);
    expect(await texts('attempt=1&level=error&limit=1')).to.deep.equal(['first']);
    expect(await texts('level=info')).to.deep.equal(['second']);
    expect(await texts('after=1.1'), 'and those that follow').to.deep.equal([
      ...['first', 'second', 'line 2'],
    ]);
    expect(await texts('attempt=3')).to.deep.equal([]);
  });

  it('refuses what it does not know, and tells nothing of a task that it does not show', async () => {
    for (const query of ['after=1', 'attempt=0', 'level=loud', 'limit=1001', 'wait=31', 'x=1']) {
      expect((await face.get(`${path}?${query}`, admin)).status, query).to.equal(400);
    }
    expect((await face.get(`${API_BASE}/task/no-job/logs`, admin)).status).to.equal(404);
    await say(1, 1, {});
    const scope = { groups: ['others'] };
    const made = await face.post(`${API_BASE}/tokens`, { name: id, role: 'read', scope }, admin);
    const ann = { authorization: `Bearer ${made.json<{ token: string }>().token}` };
    expect((await face.get(path, ann)).status).to.equal(404);
  });

  it('waits for lines, or for the end of the task', async () => {
    const answer = asked('wait=30&level=warn');
    await settled();
    await say(1, 1, {});
    await say(1, 2, { level: 'error', text: 'now' });
    expect((await answer).lines.map(({ text }) => text)).to.deep.equal(['now']);
    const last = asked('wait=30&after=1.2');
    await settled();
    keep('succeeded');
    await face.master.clock.pass(3_000);
    expect(await last).to.include({ next: '1.2', ended: true });
    expect(await asked('wait=30&after=1.2')).to.include({ ended: true });
  });

  it('streams over attempts until the task has ended and all of it was sent', async () => {
    await say(1, 1, {});
    const one = await stream('follow=1');
    expect(one.res.headers['content-type']).to.equal('text/event-stream');
    expect(await one.next('line 1')).to.match(/^id: 1\.1\ndata: \{"attempt":1,"n":1,.*\}\n\n$/);
    keep('running', 2);
    await say(2, 1, { text: 'again' });
    await face.master.clock.pass(200);
    await one.next('id: 2.1\n');
    keep('succeeded', 2);
    await say(2, 2, { text: 'late' });
    await face.master.clock.pass(4_000);
    expect(await one.ended).to.include('id: 2.2\n');
    const two = await stream('', { accept: 'text/event-stream', 'last-event-id': '1.1' });
    const text = await two.ended;
    expect(text).to.include('again').and.not.to.include('line 1"');
    const bad = await face.get(path, { ...admin, 'last-event-id': 'x' });
    expect(bad.status).to.equal(400);
  });

  it('says how much of its end is lost, once nothing more can come', async () => {
    await say(1, 1, {}, {});
    const end = (attempt: number, lineCount: number) =>
      face.master.taken.written.writeLogs([
        { taskSeq: seq, attempt, put: [endChunk({ lineCount })], remove: [] },
      ]);
    await end(1, 5);
    expect(await asked()).to.include({ dropped: 0, next: '1.2', ended: false });
    keep('succeeded');
    expect(await asked(), 'it may be on its way').to.include({ dropped: 0, ended: false });
    await face.master.clock.pass(3_000);
    expect(await asked()).to.include({ dropped: 0, next: '1.2', ended: false });
    const rest = await asked('after=1.2');
    expect(rest).to.deep.equal({
      lines: [],
      dropped: 3,
      lost_at_end: 3,
      next: '1.5',
      at_end: false,
      ended: false,
    });
    expect(await asked('after=1.5')).to.include({ dropped: 0, next: '1.5', ended: true });
    const { text } = await face.get(path, { ...admin, accept: 'text/plain' });
    expect(text.split('\n').slice(2)).to.deep.equal(['3 lines were lost at the end', '']);
    const one = await stream('follow=1');
    expect(await one.ended).to.match(
      /event: lost\nid: 1\.5\ndata: \{"attempt":1,"lost_at_end":3\}\n\n$/,
    );
    await end(2, 1);
    keep('succeeded', 2);
    expect(await asked('after=1.2'), 'another attempt has followed').to.include({ next: '1.5' });
    await face.master.clock.pass(3_000);
    expect(await asked('attempt=2')).to.include({ dropped: 1, lost_at_end: 1, next: '2.1' });
  });

  it('is text for whoever wants to keep it, which steers no terminal', async () => {
    await say(
      1,
      1,
      { level: 'warn', stream: 'stderr', text: 'two\nlines\u001b[2J' },
      { fields: { a: 1 } },
    );
    const { headers, text } = await face.get(path, { ...admin, accept: 'text/plain' });
    expect(headers['content-type']).to.equal('text/plain; charset=utf-8');
    const anything = { ...admin, accept: 'application/json, text/plain, */*' };
    expect((await face.get(path, anything)).json<LogPage>().lines).to.have.length(2);
    const at = new Date(NOW).toISOString();
    expect(text).to.equal(
      `${at} WARN [stderr] two\n    lines\\u001b[2J\n${at} INFO line 2 {"a":1}\n`,
    );
  });

  describe('as text of many pages', () => {
    const plain = { accept: 'text/plain' };
    /** What its readers are sent is more than a socket takes. */
    const sayMuch = async () => {
      for (let n = 1; n <= 100; n++) await say(1, n, { text: `${n}`.padEnd(8_000, '.') });
    };

    it('is cut off where the task is not seen any more, and does not look whole', async () => {
      await sayMuch();
      const { logs } = face.master;
      const { read } = logs;
      let pageCount = 0;
      logs.read = async (query) => {
        pageCount += 1;
        const page = await read.call(logs, query);
        if (pageCount === 2) face.master.keep(sampleTask({ seq: seq + 1_000_000, id }));
        return page;
      };
      try {
        const req = request({
          ...{ host: '127.0.0.1', port: face.port, path: `${path}?limit=20`, agent: false },
          headers: { ...admin, ...plain },
        }).end();
        const [res] = (await once(req, 'response')) as [IncomingMessage];
        const error = await new Promise((resolve) => {
          res
            .resume()
            .once('error', resolve)
            .once('end', () => resolve(null));
        });
        expect(error).to.include({ code: 'ECONNRESET' });
        expect(pageCount, 'what is not seen is not read').to.equal(2);
      } finally {
        logs.read = read;
      }
    });
  });

  describe('of many tasks', () => {
    const found = async (query: string, headers: Record<string, string> = admin) => {
      const texts: string[] = [];
      let pageCount = 0;
      for (let cursor: string | null = ''; cursor !== null; pageCount++) {
        const page: string = `${API_BASE}/logs?${query}${cursor && `&cursor=${cursor}`}`;
        const body = (await face.get(page, headers)).json<LogSearchPage>();
        texts.push(
          ...body.lines.map(({ task_id, attempt, text }) => `${task_id}#${attempt} ${text}`),
        );
        cursor = body.next_cursor;
      }
      return { texts, pageCount };
    };

    it('brings lines of all attempts, the newest task first, page by page', async () => {
      const older = id;
      keep('running', 2);
      await say(1, 1, {}, { level: 'error', text: 'broken' });
      await say(2, 1, { text: 'again' });
      seq += 1;
      id = `job-${seq}`;
      keep('running');
      await say(1, 1, { at: NOW + 5_000 }, { text: 'Broken too' });
      const all = [
        ...[`${id}#1 line 1`, `${id}#1 Broken too`],
        ...[`${older}#1 line 1`, `${older}#1 broken`, `${older}#2 again`],
      ];
      const type = `type=${sampleTask().type}`;
      const whole = await found(type);
      expect(whole.texts.slice(0, 5)).to.deep.equal(all);
      const single = await found(`${type}&limit=1`);
      expect(single.texts).to.deep.equal(whole.texts);
      expect(single.pageCount).to.be.above(5);
      expect((await found(`${type}&text=broken`)).texts.slice(0, 2)).to.deep.equal([
        all[1],
        all[3],
      ]);
      expect((await found(`${type}&level=error`)).texts[0]).to.equal(all[3]);
      expect((await found(`${type}&from=${NOW + 1}`)).texts).to.deep.equal([all[0]]);
      expect((await found(`executor_id=x&to=${NOW + 1}`)).texts).to.include(all[4]);
      expect((await found(`executor_id=x`)).texts, 'nobody says whose').not.to.include(all[3]);
    });

    it('brings those of each attempt that an executor has had, and of no other', async () => {
      const attempts = [failed(1, 'x-1'), failed(2, 'y'), failed(3, 'x-1'), failed(4, 'x-2')];
      const task = sampleTask({ seq, id, state: 'running', attempt: 5, executorId: 'y' });
      face.master.keep(task, { attempts });
      for (const attempt of [1, 2, 3, 4, 5]) await say(attempt, 1, {}, {});
      const of = (...some: number[]) =>
        some.flatMap((attempt) => [`${id}#${attempt} line 1`, `${id}#${attempt} line 2`]);
      for (const limit of [1, 3, 200]) {
        const texts = async (who: string) =>
          (await found(`executor_id=${who}&limit=${limit}`)).texts;
        expect(await texts('x-1')).to.deep.equal(of(1, 3));
        expect(await texts('y')).to.deep.equal(of(2, 5));
        expect(await texts('x-2')).to.deep.equal(of(4));
        expect(await texts('x-3')).to.deep.equal([]);
      }
    });

    it('refuses what nobody can mean, and shows what is in a scope', async () => {
      const [type, logs] = [sampleTask().type, `${API_BASE}/logs`];
      for (const query of ['', `type=${type}&cursor=x`, `type=${type}&from=2&to=1`, 'task=a']) {
        expect((await face.get(`${logs}?${query}`, admin)).status, query).to.equal(400);
      }
      await say(1, 1, {});
      const body = { name: `${id}-all`, role: 'read', scope: { types: [type] } };
      const made = await face.post(`${API_BASE}/tokens`, body, admin);
      const ann = { authorization: `Bearer ${made.json<{ token: string }>().token}` };
      expect((await found(`type=${type}`, ann)).texts[0]).to.equal(`${id}#1 line 1`);
      const others = { name: `${id}-none`, role: 'read', scope: { groups: ['others'] } };
      const none = await face.post(`${API_BASE}/tokens`, others, admin);
      const ben = { authorization: `Bearer ${none.json<{ token: string }>().token}` };
      expect((await found(`type=${type}`, ben)).texts).to.deep.equal([]);
    });
  });
});
