/** The feed over HTTP: pages, waits and streams, what a token may see of it, and how each of them ends. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import type { EventPage } from '@soda-scheduler/protocol';
import { API_BASE } from '@soda-scheduler/protocol';
import type { FeedEvent } from '../../../master/domain/feed/feed-event.ts';
import { EVENT_FOLLOWERS_MAX } from '../../../master/domain/bounds.ts';
import { HttpFace, noTokens } from '../../helpers/http-face.ts';
import { settled } from '../../helpers/manual-clock.ts';
import { NOW, sampleTask } from '../../helpers/task.ts';

const ADMIN = 'the-token-of-the-admin';
const EVENTS = `${API_BASE}/events`;

describe('the feed over HTTP', () => {
  let face: HttpFace;
  let lastSeq: number;
  before(async () => {
    face = await new HttpFace({ configured: { ...noTokens, adminToken: ADMIN } }).open();
  });
  after(() => face.close());
  beforeEach(() => {
    face.master.told.drop(Number.POSITIVE_INFINITY);
    lastSeq = face.master.told.newest;
  });

  const admin = { authorization: `Bearer ${ADMIN}` };
  const asked = async (query: string, headers = admin) =>
    (await face.get(`${EVENTS}?${query}`, headers)).json<EventPage>();

  /** As a commit does. */
  function tell(...events: Partial<FeedEvent>[]): void {
    const told = events.map((event): FeedEvent => {
      lastSeq += 1;
      const rest = { attempt: null, executorId: null, actor: null, data: null, ...event };
      const about = { taskSeq: 1, taskId: 'job-1', type: 'encode', group: 'video' };
      return { kind: 'task.submitted', at: NOW, ...about, ...rest, seq: lastSeq };
    });
    face.master.told.write(told);
    face.master.news.advance(lastSeq);
  }

  /** Of a stream: what has come, and what comes. */
  async function stream(query = '', headers: Readonly<Record<string, string>> = {}) {
    const req = request({
      ...{ host: '127.0.0.1', port: face.port, path: `${EVENTS}?${query}`, agent: false },
      headers: { ...admin, accept: 'text/event-stream', ...headers },
    }).end();
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    let text = '';
    res.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const ended = once(res, 'close');
    // Who hangs up himself does not ask how it ended.
    ended.catch(() => undefined);
    return {
      res,
      ended,
      close: () => req.destroy(),
      async next(part: string) {
        while (!text.includes(part)) await once(res, 'data');
        return text;
      },
    };
  }

  it('brings what was told, page by page, as the rest of the API says it', async () => {
    tell(
      { data: `{"due_at":${NOW}}` },
      { kind: 'task.offered', attempt: 1, executorId: 'x-1' },
      {
        kind: 'type.paused',
        taskSeq: null,
        taskId: null,
        group: null,
        actor: 'ann',
        data: '{"reason":null,"until":null}',
      },
      { kind: 'task.started', attempt: 1 },
    );
    const first = lastSeq - 3;
    const page = await asked(`after=${first - 1}&limit=3`);
    const at = new Date(NOW).toISOString();
    const about = { task_id: 'job-1', type: 'encode', group: 'video' };
    expect(page.events).to.deep.equal([
      { seq: first, at, kind: 'task.submitted', ...about, data: { due_at: at } },
      {
        seq: first + 1,
        at,
        kind: 'task.offered',
        ...about,
        attempt: 1,
        executor_id: 'x-1',
        data: {},
      },
      {
        seq: first + 2,
        at,
        kind: 'type.paused',
        type: 'encode',
        actor: 'ann',
        data: { reason: null, until: null },
      },
    ]);
    expect(page).to.include({ next: first + 2, oldest: first, newest: lastSeq });
    const rest = await asked(`after=${page.next}`);
    expect(rest.events.map(({ kind }) => kind)).to.deep.equal(['task.started']);
    expect(await asked(`after=${rest.next}`)).to.deep.equal({ ...rest, events: [] });
    expect((await asked('after=now')).next).to.equal(lastSeq);
  });

  it('has those of one task, and knows no other', async () => {
    face.master.keep(sampleTask({ seq: 7, id: 'job-7' }));
    tell({}, { taskSeq: 7, taskId: 'job-7' });
    const path = `${API_BASE}/task/job-7/events`;
    const answer = await face.get(path, admin);
    expect(answer.text).to.match(/\}\n$/);
    const { events } = answer.json<EventPage>();
    expect(events.map(({ seq }) => seq)).to.deep.equal([lastSeq]);
    expect(await asked('task=job-7')).to.deep.include({ events });
    expect((await face.get(`${API_BASE}/task/no-job/events`, admin)).status).to.equal(404);
    expect((await face.get(`${EVENTS}?task=no-job`, admin)).status).to.equal(404);
  });

  it('says that events are gone, or never were, and refuses what it does not know', async () => {
    tell({}, {}, {});
    const first = lastSeq - 2;
    face.master.told.drop(Number.POSITIVE_INFINITY);
    const gone = await face.get(`${EVENTS}?after=${first}`, admin);
    expect(gone.status).to.equal(410);
    expect(gone.json().detail).to.include(`number ${lastSeq + 1}`);
    expect((await face.get(`${EVENTS}?after=${lastSeq + 1}`, admin)).status).to.equal(410);
    expect((await face.get(`${EVENTS}?after=${lastSeq}`, admin)).status).to.equal(200);
    for (const query of ['after=-1', 'wait=31', 'wait=x', 'limit=501', 'kind=*', 'sort=x']) {
      expect((await face.get(`${EVENTS}?${query}`, admin)).status, query).to.equal(400);
    }
    for (const kind of ['task.finnished', 'tas', 'task.', 'users']) {
      const refused = await face.get(`${EVENTS}?kind=${kind}`, admin);
      expect(refused.status, kind).to.equal(400);
      expect(refused.json().errors, kind).to.have.length(1);
      expect(refused.json().detail).to.contain('kind');
    }
    for (const kind of ['task.finished', 'task', 'user', 'user.of_its_own']) {
      expect(await asked(`after=now&kind=${kind}`), kind).to.include({ level: 'ends' });
    }
    const refused = await face.get(`${EVENTS}?wait=-1`, admin);
    expect(JSON.stringify(refused.json())).to.include('a whole number from 0 to 30');
  });

  it('rests where a page has found nothing and there are more', async () => {
    const none = Array.from({ length: 20_001 }, () => ({}));
    tell(...none.slice(0, 10_000));
    tell(...none.slice(10_000), { kind: 'task.finished' });
    const query = `after=${lastSeq - 20_002}&kind=task.finished`;
    const answer = asked(`${query}&wait=30`);
    const found = await stream(query);
    let isOver = false;
    void answer.then(() => (isOver = true));
    await settled();
    expect(isOver).to.equal(false);
    await face.master.clock.pass(100);
    expect((await answer).events.map(({ seq }) => seq)).to.deep.equal([lastSeq]);
    await found.next(`id: ${lastSeq}`);
    found.close();
  });

  it('waits for the first that is asked for, however many others come', async () => {
    const answer = asked('after=now&wait=30&kind=task.finished');
    await settled();
    tell({});
    await settled();
    tell({ kind: 'task.finished' });
    await face.master.clock.pass(100);
    const { events, next } = await answer;
    expect(events.map(({ kind }) => kind)).to.deep.equal(['task.finished']);
    expect(next).to.equal(lastSeq);
  });

  it('reads once for many commits, also for whoever wants little of them', async () => {
    const read = face.master.told.read.bind(face.master.told);
    let readCount = 0;
    face.master.told.read = (query) => {
      readCount += 1;
      return read(query);
    };
    const query = 'after=now&kind=task.finished';
    const answer = asked(`${query}&wait=30`);
    const found = await stream(query);
    await settled();
    readCount = 0;
    for (let commit = 0; commit < 20; commit++) {
      tell({});
      await settled();
    }
    expect(readCount, 'of two who read').to.equal(2);
    tell({ kind: 'task.finished' });
    await face.master.clock.pass(100);
    expect((await answer).events.map(({ seq }) => seq)).to.deep.equal([lastSeq]);
    await found.next(`id: ${lastSeq}`);
    expect(readCount).to.equal(4);
    found.close();
    face.master.told.read = read;
  });

  it('answers with an empty page when the wait is over', async () => {
    const answer = asked('after=now&wait=2');
    await settled();
    await face.master.clock.pass(2_000);
    expect(await answer).to.deep.equal({
      events: [],
      next: lastSeq,
      oldest: lastSeq + 1,
      newest: lastSeq,
      level: 'ends',
    });
  });

  it('streams what is there and what comes, and goes on where a browser was cut off', async () => {
    tell({}, { kind: 'task.finished' });
    const one = await stream(`after=${lastSeq - 2}`);
    expect(one.res.headers['content-type']).to.equal('text/event-stream');
    const text = await one.next('task.finished');
    expect(text).to.match(/^id: \d+\ndata: \{"seq":\d+,.*\}\n\nid: \d+\ndata: \{.*\}\n\n$/);
    await face.master.clock.pass(100);
    tell({ kind: 'task.deleted' });
    await one.next(`id: ${lastSeq}\n`);
    one.close();
    tell({ kind: 'task.retried' });
    const two = await stream('', { 'last-event-id': String(lastSeq - 1) });
    expect(await two.next('task.retried')).not.to.include('task.deleted');
    await face.master.clock.pass(15_100);
    await two.next(`: still here\nid: ${lastSeq}\n\n`);
    two.close();
    await face.master.clock.pass(1_100);
    const bad = await face.get(EVENTS, { ...admin, 'last-event-id': 'x' });
    expect(bad.status).to.equal(400);
  });

  it('shows a token what is in its scope, and counts on over the rest', async () => {
    const scope = { groups: ['video'], types: ['encode'] };
    const made = await face.post(`${API_BASE}/tokens`, { name: 'ann', role: 'read', scope }, admin);
    const ann = { authorization: `Bearer ${made.json<{ token: string }>().token}` };
    tell({}, { group: 'audio' }, { type: 'probe' });
    tell({ kind: 'executor.left', taskSeq: null, taskId: null, type: null, group: null });
    tell({ kind: 'type.resumed', taskSeq: null, taskId: null, group: null });
    const page = await asked('', ann);
    expect(page.events.map(({ seq }) => seq)).to.deep.equal([lastSeq - 4, lastSeq]);
    expect(page.next).to.equal(lastSeq);

    const one = await stream('after=now', ann);
    const waiting = face.get(`${EVENTS}?after=now&wait=30`, ann);
    await settled();
    await face.call('DELETE', `${API_BASE}/token/ann`, { headers: admin });
    await face.master.clock.pass(1_000);
    await one.ended;
    tell({});
    expect((await waiting).json<EventPage>().events, 'what was told after that').to.deep.equal([]);
    expect((await face.get(EVENTS, ann)).status).to.equal(401);
  });

  it('says of a stream how it would begin, and waits for nothing', async () => {
    const head = { ...admin, accept: 'Text/Event-Stream' };
    for (const query of ['', '?wait=30']) {
      expect((await face.call('HEAD', EVENTS + query, { headers: head })).status).to.equal(200);
    }
  });

  it('lets so many wait, of one token what it leaves for others, and all of them go when the master stops', async () => {
    const other = await new HttpFace({ configured: { ...noTokens, adminToken: ADMIN } }).open();
    const tokenOf = async (name: string) => {
      const made = await other.post(`${API_BASE}/tokens`, { name, role: 'read' }, admin);
      return { authorization: `Bearer ${made.json<{ token: string }>().token}` };
    };
    const ended: Promise<unknown>[] = [];
    const follow = (count: number, headers: Readonly<Record<string, string>>) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const req = request({
            ...{ host: '127.0.0.1', port: other.port, path: EVENTS, agent: false },
            headers: { accept: 'text/event-stream', ...headers },
          }).end();
          const [res] = (await once(req, 'response')) as [IncomingMessage];
          expect(res.statusCode).to.equal(200);
          ended.push(once(res.resume(), 'end'));
        }),
      );
    const wait = (headers: Record<string, string>) => other.get(`${EVENTS}?wait=1`, headers);
    let freeCount = EVENT_FOLLOWERS_MAX;
    for (let n = 0; freeCount > 0; n++) {
      const one = await tokenOf(`t-${n}`);
      const count = Math.ceil(freeCount / 2);
      await follow(count, one);
      freeCount -= count;
      if (freeCount === 0) break;
      const full = await wait(one);
      expect(full.status).to.equal(429);
      expect(full.json<{ detail: string }>().detail).to.match(
        /^The token t-\d waits .* \d+ times, .* of 200 \(event_followers_count\)\.$/,
      );
      expect((await other.get(EVENTS, one)).status, 'who does not wait').to.equal(200);
    }
    const full = await wait(admin);
    expect(full.status).to.equal(503);
    expect(full.headers['retry-after']).to.equal('5');
    const streams = ended.map((end) => ({ ended: end }));
    other.master.news.end();
    await Promise.all(streams.map(({ ended }) => ended));
    await other.close();
  });
});
