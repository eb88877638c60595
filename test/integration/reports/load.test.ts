/** Reports of load over HTTP: minutes by a manual clock, and on a whole master, by the client and by `soda report`. */
import { createClient } from '@soda-scheduler/client';
import { API_BASE, type LoadReport } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { sparkline } from '../../../cli/report/load-command.ts';
import { digestOf } from '../../../master/access/digest.ts';
import { Duties } from '../../../master/application/process/duties.ts';
import { loadMinutes } from '../../../master/application/process/load.ts';
import type { Clock } from '../../../master/application/ports.ts';
import { Reports } from '../../../master/application/reports/reports.ts';
import { LoadCounter } from '../../../master/domain/load/counter.ts';
import { createState } from '../../../master/domain/state/state.ts';
import { HttpFace } from '../../helpers/http-face.ts';
import { ManualClock, settled } from '../../helpers/manual-clock.ts';
import { RawExecutor } from '../../helpers/raw-executor.ts';
import { commandSuite } from '../../helpers/soda/command-suite.ts';
import { NOW, sampleTask, testPolicy } from '../../helpers/task.ts';

const MINUTE_MS = 60_000;
const tokens = { submitToken: null, executorToken: null, adminToken: 'admin-token-0123456789' };
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

describe('a report of load', () => {
  const state = createState({ policy: testPolicy, term: 1, lastSeq: 0, now: NOW, seed: 1 });
  const clock = new ManualClock();
  /** Timers come after their time, by some milliseconds. */
  const late: Clock = {
    now: () => clock.now() + 5,
    wakeAt: (at, call) => clock.wakeAt(at, call),
    soon: (call) => clock.soon(call),
    departureMs: () => 0,
    followWall: () => undefined,
  };
  let face: HttpFace;
  let load = new LoadCounter();

  /** What writes each minute; it is never stopped: its process is killed. */
  function master(): { kill(): void } {
    const counter = new LoadCounter();
    load = counter;
    const engine = { state };
    let isAlive = true;
    const leaders = () => (isAlive ? [{ watched: { namespaceId: 0, load: counter }, engine }] : []);
    const ask = <T>(question: (store: HttpFace['store']) => Promise<T>) => question(face.store);
    void loadMinutes({ leaders, ask, clock: late, log: quiet, duties: new Duties(clock) }).start();
    return { kill: () => void (isAlive = false) };
  }
  const accept = (type: string, count: number): void => {
    for (let n = 0; n < count; n++)
      load.note({ event: 'task_accepted', task: sampleTask({ type }) });
  };
  const pass = async (minutes: number): Promise<void> => {
    for (let n = 0; n < minutes; n++) {
      clock.advance(MINUTE_MS);
      await settled();
    }
  };
  const get = (path: string, name = 'admin') =>
    face.get(`${API_BASE}/reports/${path}`, {
      authorization: `Bearer ${name === 'admin' ? tokens.adminToken : `soda_${digestOf(name)}`}`,
    });
  const shown = ({ points }: LoadReport, from: string): string[] => {
    return points.map(
      (one) => `${(Date.parse(one.at) - Date.parse(from)) / MINUTE_MS} ${one.accepted}`,
    );
  };

  before(async () => {
    face = await new HttpFace({ configured: tokens }).open();
    const of = { engine: { state }, store: face.store.tasks(0), clock };
    const reports = new Reports(
      {
        ...of,
        load: {
          get counted() {
            return load.counted;
          },
        },
      },
      (work) => work(new AbortController().signal),
    );
    Object.assign(face.master, { reports });
    const made = {
      role: 'read',
      createdAt: 0,
      createdBy: null,
      expiresAt: null,
      lastUsedAt: null,
    } as const;
    const scopes = {
      types: { types: ['probe'], groups: null },
      groups: { types: null, groups: ['g'] },
    };
    for (const [name, scope] of Object.entries(scopes)) {
      await face.tokens.add({
        name,
        digest: digestOf(`soda_${digestOf(name)}`),
        scope: { namespaces: null, ...scope },
        ...made,
      });
    }
  });
  after(() => face.close());

  it('has a point for each minute in which there was a master, and none for others', async () => {
    const begin = clock.now() - (clock.now() % MINUTE_MS);
    const from = new Date(begin).toISOString();
    const first = master();
    accept('encode', 3);
    accept('probe', 1);
    await pass(2);
    accept('encode', 50);
    first.kill();
    await pass(2);
    master();
    accept('encode', 2);
    expect((await get('recent')).json<{ types: object[] }>().types).to.deep.include({
      ...{ type: 'encode', accepted: 5, started: 0, succeeded: 0, failed: 0 },
      ...{ last_started_at: null, last_ended_at: null },
    });
    await pass(2);
    const all = (await get(`load?from=${from}`)).json<LoadReport>();
    expect(all.resolution_ms).to.equal(MINUTE_MS);
    expect(shown(all, from)).to.deep.equal(['0 4', '1 0', '4 2', '5 0']);
    const ofProbe = (await get(`load?type=probe&from=${from}`)).json<LoadReport>();
    expect(shown(ofProbe, from)).to.deep.equal(['0 1', '1 0', '4 0', '5 0']);
    expect(all.points[0]).to.include({ samples: 1, executors_idle: 0, start_delay_p95_ms: null });
    expect(ofProbe.points[0]).to.include({ samples: 1, executors_idle: null });
  });

  it('has hours of a longer time, and days of a long one', async () => {
    const hours = (await get('load?from=2027-01-01T00:00:00Z')).json<LoadReport>();
    expect([hours.resolution_ms, hours.points.map(({ accepted }) => accepted)]).to.deep.equal([
      3_600_000,
      [6],
    ]);
    expect(hours.points[0]).to.include({ samples: 4 });
    const days = (await get('load?from=2026-09-01T00:00:00Z')).json<LoadReport>();
    expect([days.resolution_ms, days.points.length]).to.deep.equal([86_400_000, 1]);
  });

  it('shows a token the types of its scope, and nothing where its groups are limited', async () => {
    const sum = async (query: string) => {
      const { points } = (await get(`load${query}`, 'types')).json<LoadReport>();
      return points.reduce((count, { accepted }) => count + accepted, 0);
    };
    expect([await sum(''), await sum('?type=probe'), await sum('?type=encode')]).to.deep.equal([
      1, 1, 0,
    ]);
    const { types } = (await get('recent', 'types')).json<{ types: { type: string }[] }>();
    expect(types.map(({ type }) => type)).to.deep.equal(['probe']);
    expect((await get('recent?limit=1')).json()).to.deep.include({ next_cursor: 'encode' });
    expect((await get('recent?limit=1&cursor=encode')).json()).to.deep.include({
      next_cursor: null,
    });
    for (const path of ['load', 'recent']) expect((await get(path, 'groups')).status).to.equal(403);
  });

  it('names what is wrong in a question', async () => {
    const wrong = {
      'load?from=2026-01-02T00:00:00Z&to=2026-01-02T00:00:00Z': /after `from`/,
      'load?from=2024-01-01T00:00:00Z': /at most 400 days/,
      'load?from=today': /ISO 8601/,
      'load?group=g': /group/,
      'recent?limit=0': /limit/,
    };
    for (const [path, message] of Object.entries(wrong)) {
      const { status, text } = await get(path);
      expect(status, path).to.equal(400);
      expect(text, path).to.match(message);
    }
  });

  it('is drawn with a gap where nothing is known', () => {
    const at = (minute: number) => new Date(minute * MINUTE_MS).toISOString();
    const points = [0, 1, 3].map((minute) => ({ at: at(minute), value: minute }));
    expect(sparkline(points, MINUTE_MS)).to.equal('▁▃ █  3');
  });
});

describe('soda report load and recent', () => {
  const { run, url, restart } = commandSuite();
  const soda = async (line: string) => (await run(line.split(' '))).out;

  it('tell what was counted, a restart of the master between', async () => {
    const client = createClient({ url: url() });
    await client.submit({ id: 'a', type: 'encode' }, { group: 'g' });
    await client.submit({ id: 'b', type: 'probe' }, { group: 'g' });
    const executor = await RawExecutor.join(Number(new URL(url()).port), {
      executor_id: 'x-1',
      types: ['encode'],
    });
    const { task } = await executor.next('assign');
    const about = { ack: 0, task_id: task.id, attempt: task.attempt };
    executor.send({ type: 'accept', seq: 1, ...about });
    executor.send({ type: 'result', seq: 2, ...about, outcome: 'succeeded' });
    await executor.settled();
    executor.socket.close();
    await executor.closed;
    expect(await soda('report recent')).to.match(
      /^encode\t1\t1\t1\t0\t\S+\t\S+\nprobe\t1\t0\t0\t0\t\t\n$/,
    );
    await restart();
    const { types } = await client.reports.recent({ type: 'encode' });
    expect(types).to.have.length(1);
    expect(types[0]).to.include({ accepted: 1, started: 1, succeeded: 1, failed: 0 });
    const { points } = await client.reports.load();
    expect(points.reduce((sum, { accepted }) => sum + accepted, 0)).to.equal(2);
    const [head, row] = (await soda('report load --type probe --format csv')).split('\r\n');
    expect(head).to.match(/^at,accepted,started,.*,start_delay_max_ms$/);
    expect(row, row).to.match(/^20\S+Z,1,0,0,0,0,0,0,1,0,0,0,1,0,0,,\d+,,$/);
    const json = JSON.parse(
      (await soda('report load --type encode --format json')).split('\n')[0] ?? '',
    ) as object;
    expect(json).to.include({ started: 1, succeeded: 1, waiting: 0 });
  });
});
